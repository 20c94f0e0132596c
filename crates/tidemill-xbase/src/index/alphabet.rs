//! The alphabets that national collations are made of, and the orders of bytes that follow no alphabet: data.
//!
//! Source: Harbour's code page modules (`src/codepage`, commit 6df4c08b98c808904e0c19effbc09523af010ed6), whose names these have. A
//! module gives either the letters of a language (`l_de.h`, `l_fr.h`, …) or the weights of all bytes, read out of Clipper's and
//! SIx's own objects (`ntxcz852.obj`, `mdxger.obj`, …). Modules that sort by bytes are left out: Bulgarian, Hebrew, Portuguese in
//! 860, Russian in 866 and 1251.

use crate::codepage::CodePage;

/// The letters of a language in its order. Letters in parentheses are accented forms of the one before; two in braces are one
/// letter that is written with two bytes.
pub(super) struct Alphabet {
    /// ISO 639 code.
    pub(super) language: &'static str,
    pub(super) accents: Accents,
    pub(super) capital: &'static str,
    pub(super) small: &'static str,
}

/// What accents are to the order of two texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Accents {
    /// Letters like others.
    Letters,
    /// Nothing: texts that differ in them alone are equal.
    Equal,
    /// What decides between texts that are equal without them.
    Second,
}

/// How a module of Harbour sorts.
pub(super) struct Module {
    pub(super) name: &'static str,
    /// ISO 639 code.
    pub(super) language: &'static str,
    pub(super) page: CodePage,
    pub(super) order: ModuleOrder,
}

#[derive(Clone, Copy)]
pub(super) enum ModuleOrder {
    /// By the alphabet of its language.
    Alphabet,
    /// The bytes that do not stand in the order of their values, from the first such place to the last: in hexadecimal digits,
    /// `-` for a run.
    Bytes(&'static str),
}

/// What the letters of these languages are where no alphabet is.
pub(super) const LETTERS: &[(&str, &str)] = &[
    ("da", "éüæäøöå"),
    ("fi", "éüåäö"),
    ("nl", "äåàáâæçéêëèïîìíñôöòóùúûüÿ"),
    ("no", "éèüæøå"),
];

pub(super) const ALPHABETS: &[Alphabet] = &[
    Alphabet {
        language: "cs",
        accents: Accents::Letters,
        capital: "AÁÄBCČDĎEÉĚËFGH{CH}IÍJKLMNŇOÓÖPQRŘSŠTŤUÚŮÜVWXYÝZŽ",
        small: "aáäbcčdďeéěëfgh{ch}iíjklmnňoóöpqrřsštťuúůüvwxyýzž",
    },
    Alphabet {
        language: "de",
        accents: Accents::Letters,
        capital: "AÄBCDEFGHIJKLMNOÖPQRSTUÜVWXYZ",
        small: "aäbcdefghijklmnoöpqrsßtuüvwxyz",
    },
    Alphabet {
        language: "el",
        accents: Accents::Equal,
        capital: "Α(Ά)ΒΓΔΕ(Έ)ΖΗ(Ή)ΘΙ(Ί)ΚΛΜΝΞΟ(Ό)ΠΡΣΣΤΥ(Ύ)ΦΧΨΩ(Ώ)",
        small: "α(ά)βγδε(έ)ζη(ή)θι(ί)κλμνξο(ό)πρσςτυ(ύ)φχψω(ώ)",
    },
    Alphabet {
        language: "es",
        accents: Accents::Letters,
        capital: "AÁÀÄBCÇDEÉÈËFGHIÍÌÏJKLMNÑOÓÒÖPQRSTUÚÙÜVWXYZ",
        small: "aáàäbcçdeéèëfghiíìïjklmnñoóòöpqrstuúùüvwxyz",
    },
    Alphabet {
        language: "et",
        accents: Accents::Letters,
        capital: "ABCDEFGĢHIJKLMNOPQRSŠZŽTUVWÕÄÖÜXY",
        small: "abcdefgģhijklmnopqrsšzžtuvwõäöüxy",
    },
    Alphabet {
        language: "fr",
        accents: Accents::Equal,
        capital: "A(ÁÀÂÄ)BC(Ç)DE(ÉÈÊË)FGHI(ÍÌÎÏ)JKLMNO(ÓÒÔÖ)PQRSTU(ÚÙÛÜ)VWXYZ",
        small: "a(áàâä)bc(ç)de(éèêë)fghi(íìîï)jklmno(óòôö)pqrstu(úùûü)vwxyz",
    },
    Alphabet {
        language: "hr",
        accents: Accents::Letters,
        capital: "ABCČĆDĐEFGHIJKLMNOPQRSŠTUVWXYZŽ",
        small: "abcčćdđefghijklmnopqrsštuvwxyzž",
    },
    Alphabet {
        language: "hu",
        accents: Accents::Letters,
        capital: "AÁÄBCDEÉFGHIÍJKLMNOÓÖŐPQRSTUÚÜŰVWXYZ",
        small: "aáäbcdeéfghiíjklmnoóöőpqrstuúüűvwxyz",
    },
    Alphabet {
        language: "is",
        accents: Accents::Letters,
        capital: "AÁBCDÐEÉFGHIÍJKLMNOÓPQRSTUÚVWXYÝZÞÆÖ",
        small: "aábcdðeéfghiíjklmnoópqrstuúvwxyýzþæö",
    },
    Alphabet {
        language: "it",
        accents: Accents::Letters,
        capital: "AÀÁÂÃÄÅBCDEÈÉFGHIÌÍJKLMNOÒÓPQRSTUÙÚVWXYZ",
        small: "aàáâãäåbcdeèéfghiìíjklmnoòópqrstuùúvwxyz",
    },
    Alphabet {
        language: "lt",
        accents: Accents::Letters,
        capital: "AĄBCČDEĘĖFGHIĮYJKLMNOPQRSŠTUŲŪVWXZŽ",
        small: "aąbcčdeęėfghiįyjklmnopqrsštuųūvwxzž",
    },
    Alphabet {
        language: "lv",
        accents: Accents::Letters,
        capital: "AĀBCČDEĒFGĢHIĪJKĶLĻMNŅOPQRSŠTUŪVWXYZŽ",
        small: "aābcčdeēfgģhiījkķlļmnņopqrsštuūvwxyzž",
    },
    Alphabet {
        language: "pl",
        accents: Accents::Letters,
        capital: "AĄBCĆDEĘFGHIJKLŁMNŃOÓPQRSŚTUVWXYZŹŻ",
        small: "aąbcćdeęfghijklłmnńoópqrsśtuvwxyzźż",
    },
    Alphabet {
        language: "pt",
        accents: Accents::Letters,
        capital: "AÁÀÂÃÄBCÇDEÉÈÊFGHIÍÌÎÏJKLMNÑOÓÒÔÕÖPQRSTUÚÙÛÜVWXYZ",
        small: "aáàâãäbcçdeéèêfghiíìîïjklmnñoóòôõöpqrstuúùûüvwxyz",
    },
    Alphabet {
        language: "ro",
        accents: Accents::Letters,
        capital: "AĂÂBCDEFGHIÎJKLMNOPQRSŞTŢUVWXYZ",
        small: "aăâbcdefghiîjklmnopqrsştţuvwxyz",
    },
    Alphabet {
        language: "ru",
        accents: Accents::Letters,
        capital: "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ",
        small: "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    },
    Alphabet {
        language: "sk",
        accents: Accents::Letters,
        capital: "AÁÄBCČDĎ{DZ}{DŽ}EÉĚËFGH{CH}IÍJKLĹĽMNŇOÓÔÖŐPQRŔŘSŠTŤUÚŮÜŰVWXYÝZŽ",
        small: "aáäbcčdď{dz}{dž}eéěëfgh{ch}iíjklĺľmnňoóôöőpqrŕřsštťuúůüűvwxyýzž",
    },
    Alphabet {
        language: "sl",
        accents: Accents::Letters,
        capital: "ABCČĆDĐEFGHIJKLMNOPQRSŠTUVWXYZŽ",
        small: "abcčćdđefghijklmnopqrsštuvwxyzž",
    },
    Alphabet {
        language: "sr",
        accents: Accents::Letters,
        capital: "АБВГДЂЕЖЗИЈКЛЉМНЊОПРСТЋУФХЦЧЏШ",
        small: "абвгдђежзијклљмнњопрстћуфхцчџш",
    },
    Alphabet {
        language: "sv",
        accents: Accents::Second,
        capital: "A(ÁÀÂÃ)BC(Ç)D(Ð)E(ÉÈÊË)FGHI(ÍÌÎÏ)JKLMN(Ñ)O(ÓÒÔÕ)PQRS(Š)TU(ÚÙÛ)V(W)XY(ÝŸÜ)Z(Ž)ÅÄ(Æ)Ö(ØŒ)",
        small: "a(áàâã)bc(ç)d(ð)e(éèêë)fghi(íìîï)jklmn(ñ)o(óòôõ)pqrs(š)tu(úùû)v(w)xy(ýÿü)z(ž)åä(æ)ö(øœ)",
    },
    Alphabet {
        language: "tr",
        accents: Accents::Letters,
        capital: "AÂBCÇDEÊFGĞHIİÎJKLMNOÔÖPRSŞTUÛÜVYZ",
        small: "aâbcçdeêfgğhıiîjklmnoôöprsştuûüvyz",
    },
    Alphabet {
        language: "uk",
        accents: Accents::Letters,
        capital: "АБВГҐДЕЁЄЖЗИІЇЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ",
        small: "абвгґдеёєжзиіїйклмнопрстуфхцчшщъыьэюя",
    },
];

/// The order of bytes of CS852C and SK852C.
const CZECH_852: &str = "61 B5 A0 8E 84 42 62 43 63 AC 9F 44 64 D2 D4 45 65 90 82 B7 D8 D3 89 46 66 47 67 48 68 49 69 D6 A1 4A 6A 4B 6B \
         4C 6C 91 92 95 96 4D 6D 4E 6E D5 E5 4F 6F E0 A2 E2 93 99 94 50 70 51 71 52 72 E8 EA FC FD 53 73 E6 E7 54 74 9B \
         9C 55 75 E9 A3 DE 85 9A 81 56 76 57 77 58 78 59 79 ED EC 5A 7A A6 A7 5B-60 7B-80 83 86-88 8A-8D 8F 97 98 9D 9E \
         A4 A5 A8-AB AD-B4 B6 B8-D1 D7 D9-DD DF E1 E3 E4 EB EE-FB";
/// The order of bytes of CSKAMC and SKKAMC.
const KAMENICKY: &str = "61 8F A0 8E 84 42 62 43 63 80 87 44 64 85 83 45 65 90 82 89 88 46 66 47 67 48 68 49 69 8B A1 4A 6A 4B 6B 4C 6C \
         8A 8D 9C 8C 4D 6D 4E 6E A5 A4 4F 6F 95 A2 A7 93 99 94 50 70 51 71 52 72 AB AA 9E A9 53 73 9B A8 54 74 86 9F 55 \
         75 97 A3 A6 96 9A 81 56 76 57 77 58 78 59 79 9D 98 5A 7A 92 91 5B-60 7B-7F";
/// The order of bytes of FR850M, IT850M and NL850M.
const WESTERN_850: &str = "8E 8F 80 90 A5 99 9A A0 85 83 84 86 87 82 8A 88 89 A1 8D 8C 8B A4 A2 95 93 94 A3 97 96 81 98 A8 9B-9D 9F 9E 91 \
         92 E1 A6 A7 A9-E0 E2-FF 00 20 30-39 41-5A 61-7A 28 29 5B 5D 7B 7D 3C 3E 3D 2B 2D 25 2A 2E 2C 3B 3A 3F 21 2F 5C \
         7C 40 26 23 24 22 60 27 5E 7E 5F 01-1F 7F";
/// The order of bytes of HR646, SL646, SR646 and SR646C.
const YUSCII: &str = "41-43 5E 5D 44 5C 45-53 5B 54-5A 40 5F 61-63 7E 7D 64 7C 65-73 7B 74-7A 60";
/// The order of bytes of SV437C and SV850.
const SWEDISH: &str =
    "90 46-59 9A 5A 8F 8E 99 5B-65 8A 66-79 81 7A 86 84 94 7B-80 82 83 85 87 92 91 88 89 8B-8D 93 95-98";

pub(super) const MODULES: &[Module] = &[
    alphabet("CS852", "cs", CodePage::Cp852),
    bytes("CS852C", "cs", CodePage::Cp852, CZECH_852),
    alphabet("CSISO", "cs", CodePage::Iso8859_2),
    bytes("CSKAMC", "cs", CodePage::Cp895, KAMENICKY),
    alphabet("CSWIN", "cs", CodePage::Cp1250),
    alphabet("DE850", "de", CodePage::Cp850),
    bytes(
        "DE850M",
        "de",
        CodePage::Cp850,
        "9B-9F A8-E0 E2-FF 8E 8F 92 80 90 A5 99 9A A0 85 83 84 86 91 A6 87 82 8A 88 89 A1 8D 8C 8B A4 A2 95 93 94 A7 E1 \
         A3 97 96 81 98 00-2F 3A-40 5B-60 7B-7F 30-39 41-5A 61-7A",
    ),
    alphabet("DE858", "de", CodePage::Cp858),
    alphabet("DEISO", "de", CodePage::Iso8859_1),
    alphabet("DEWIN", "de", CodePage::Cp1252),
    bytes(
        "DK865",
        "da",
        CodePage::Cp865,
        "90 46-59 9A 5A 92 8E 9D 99 8F 5B-65 8A 66-79 81 7A 91 84 9B 94 86 7B-80 82 83 85 87-89 8B-8D 93 95-98 9C",
    ),
    alphabet("EE775", "et", CodePage::Cp775),
    alphabet("EEWIN", "et", CodePage::Cp1257),
    bytes(
        "EL437",
        "el",
        CodePage::Cp437,
        "98 E1 81 99 82 9A 83 9B 84 9C E2 85 9D 86 9E E3 87 9F 88 A0 E5 E4 89 A1 8A A2 8B A3 8C A4 8D A5 8E A6 E6 8F A7 \
         90 A8 91 A9 AA 92 AB 93 AC E7 E8 94 AD 95 AE 96 AF 97 E0 E9 B0-DF",
    ),
    alphabet("EL737", "el", CodePage::Cp737),
    alphabet("ELISO", "el", CodePage::Iso8859_7),
    alphabet("ELWIN", "el", CodePage::Cp1253),
    alphabet("ES850", "es", CodePage::Cp850),
    bytes(
        "ES850C",
        "es",
        CodePage::Cp850,
        "90 46-4E A5 4F-59 9A 5A 8F 8E 99 5B-61 A0 62-65 82 66-69 A1 6A-6E A4 6F A2 70-75 97 76-79 81 7A 86 84 94 7B-80 \
         83 85 87-8D 91-93 95 96 98 9B-9F A3",
    ),
    bytes(
        "ES850M",
        "es",
        CodePage::Cp850,
        "8E 8F 80 90 A5 99 9A A0 85 83 84 86 87 82 8A 88 89 A1 8D 8B 8C A4 A2 95 93 94 A3 97 81 96 98 A8 AD 9B-9F 91 92 \
         E1 A6 A7 A9-AC AE-E0 E2-FF 00 20 2C 30-39 41-5A 61-7A 28 29 5B 5D 7B 7D 3C 3E 3D 2B 2D 25 2A 2E 3B 3A 3F 21 2F \
         5C 7C 40 26 23 24 22 60 27 5E 7E 5F 01-1F 7F",
    ),
    alphabet("ESISO", "es", CodePage::Iso8859_1),
    alphabet("ESMWIN", "es", CodePage::Iso8859_1),
    alphabet("ESWIN", "es", CodePage::Cp1252),
    bytes(
        "FI850",
        "fi",
        CodePage::Cp850,
        "90 46-59 9A 5A 8F 8E 99 5B-65 82 66-79 81 7A 86 84 94 7B-80 83 85 87-8D 91-93 95-98",
    ),
    alphabet("FR850", "fr", CodePage::Cp850),
    bytes(
        "FR850C",
        "fr",
        CodePage::Cp850,
        "A0 85 83 84 62-65 82 8A 88 89 66-69 A1 8D 8C 8B 6A-6F A2 95 93 94 70-75 A3 97 96 81 76-80 86 87 8E-92 98-9F",
    ),
    bytes("FR850M", "fr", CodePage::Cp850, WESTERN_850),
    alphabet("FRISO", "fr", CodePage::Iso8859_1),
    alphabet("FRWIN", "fr", CodePage::Cp1252),
    bytes("HR646", "hr", CodePage::Cp437, YUSCII),
    alphabet("HR852", "hr", CodePage::Cp852),
    alphabet("HRISO", "hr", CodePage::Iso8859_2),
    alphabet("HRWIN", "hr", CodePage::Cp1250),
    alphabet("HU852", "hu", CodePage::Cp852),
    bytes(
        "HU852C",
        "hu",
        CodePage::Cp852,
        "8F B5 8E 42-45 90 46-49 8D D6 4A-4F 95 E0 99 A7 8A 50-55 97 E9 9A 98 EB 56-61 A0 84 62-65 82 66-69 A1 6A-6F A2 \
         94 93 8B 70-75 A3 81 96 FB 76-80 83 85-89 8C 91 92 9B-9F A4-A6 A8-B4 B6-D5 D7-DF E1-E8 EA EC-FA",
    ),
    alphabet("HUISO", "hu", CodePage::Iso8859_2),
    alphabet("HUWIN", "hu", CodePage::Cp1250),
    alphabet("IS850", "is", CodePage::Cp850),
    alphabet("IS861", "is", CodePage::Cp861),
    bytes(
        "IT437",
        "it",
        CodePage::Cp437,
        "8E 8F 42-45 90 46-61 85 A0 83 84 86 62-65 8A 82 66-69 8D A1 6A-6F 95 A2 70-75 97 A3 76-81 87-89 8B 8C 91-94 96 \
         98-9F",
    ),
    bytes(
        "IT850",
        "it",
        CodePage::Cp850,
        "90 46-61 85 A0 62-65 82 8A 66-69 8D A1 6A-6F 95 A2 70-75 97 A3 76-81 83 84 86-89 8B 8C 8E 8F 91-94 96 98-9F",
    ),
    bytes("IT850M", "it", CodePage::Cp850, WESTERN_850),
    bytes(
        "ITISB",
        "it",
        CodePage::Cp437,
        "C0-C5 42-45 C8 C9 46-49 CC CD 4A-4F D2 D3 50-55 D9 DA 56-61 E0-E5 62-65 E8 E9 66-69 EC ED 6A-6F F2 F3 70-75 F9 \
         FA 76-BF C6 C7 CA CB CE-D1 D4-D8 DB-DF E6 E7 EA EB EE-F1 F4-F8",
    ),
    alphabet("ITISO", "it", CodePage::Iso8859_1),
    alphabet("ITWIN", "it", CodePage::Cp1252),
    alphabet("LT775", "lt", CodePage::Cp775),
    alphabet("LTWIN", "lt", CodePage::Cp1257),
    alphabet("LV775", "lv", CodePage::Cp775),
    alphabet("LVWIN", "lv", CodePage::Cp1257),
    bytes(
        "NL850",
        "nl",
        CodePage::Cp850,
        "8E 8F 42 43 80 44 45 90 46-4E A5 4F 99 50-55 9A 56-61 83-86 A0 62 63 87 64 65 82 88-8A 66-69 8B-8D A1 98 6A-6E \
         A4 6F 93-95 A2 70-73 E1 74 75 81 96 97 A3 76-7F 91 92 9B-9F A6-E0",
    ),
    bytes("NL850M", "nl", CodePage::Cp850, WESTERN_850),
    bytes(
        "NO865",
        "no",
        CodePage::Cp865,
        "90 46-59 9A 5A 92 9D 8F 5B-65 8A 66-79 81 7A 91 82 9B 86 7B-80 83-85 87-89 8B-8E 93-99 9C",
    ),
    alphabet("PL852", "pl", CodePage::Cp852),
    alphabet("PLISO", "pl", CodePage::Iso8859_2),
    alphabet("PLMAZ", "pl", CodePage::Mazovia),
    alphabet("PLWIN", "pl", CodePage::Cp1250),
    alphabet("PT850", "pt", CodePage::Cp850),
    alphabet("PTISO", "pt", CodePage::Iso8859_1),
    alphabet("RO852", "ro", CodePage::Cp852),
    alphabet("ROISO", "ro", CodePage::Iso8859_2),
    alphabet("ROWIN", "ro", CodePage::Cp1250),
    bytes(
        "RUISO",
        "ru",
        CodePage::Iso8859_5,
        "B0-CF A1 A4 A7 AE A2 A3 A5 A6 A8-AD AF D0-EF F1 F4 F7 FE F0 F2 F3 F5 F6 F8-FD",
    ),
    alphabet("RUKOI8", "ru", CodePage::Koi8R),
    alphabet("SK852", "sk", CodePage::Cp852),
    bytes("SK852C", "sk", CodePage::Cp852, CZECH_852),
    alphabet("SKISO", "sk", CodePage::Iso8859_2),
    bytes("SKKAMC", "sk", CodePage::Cp895, KAMENICKY),
    alphabet("SKWIN", "sk", CodePage::Cp1250),
    bytes("SL646", "sl", CodePage::Cp437, YUSCII),
    alphabet("SL852", "sl", CodePage::Cp852),
    alphabet("SLISO", "sl", CodePage::Iso8859_2),
    alphabet("SLWIN", "sl", CodePage::Cp1250),
    bytes("SR646", "sr", CodePage::Cp437, YUSCII),
    bytes("SR646C", "sr", CodePage::Cp437, YUSCII),
    alphabet("SRWIN", "sr", CodePage::Cp1251),
    bytes("SV437C", "sv", CodePage::Cp437, SWEDISH),
    bytes("SV850", "sv", CodePage::Cp850, SWEDISH),
    bytes(
        "SV850M",
        "sv",
        CodePage::Cp850,
        "80 90 A5 9A 8F 8E 99 A0 85 83 87 82 8A 88 89 A1 8D 8C 8B A4 A2 95 93 E1 A3 97 96 81 98 86 84 91 92 94 A8 9B-9D \
         9F 9E A6 A7 A9-E0 E2-FF 00 20 30-39 41-5A 61-7A 28 29 5B 5D 7B 7D 3C 3E 3D 2B 2D 25 2A 2E 2C 3B 3A 3F 21 2F 5C \
         7C 40 26 23 24 22 60 27 5E 7E 5F 01-1F 7F",
    ),
    alphabet("SVISO", "sv", CodePage::Iso8859_15),
    alphabet("SVWIN", "sv", CodePage::Cp1252),
    alphabet("TR857", "tr", CodePage::Cp857),
    alphabet("TRISO", "tr", CodePage::Cp1254),
    alphabet("TRWIN", "tr", CodePage::Cp1254),
    bytes(
        "UA1125",
        "uk",
        CodePage::Cp866,
        "F2 84 85 F0 F4 86-88 F6 F8 89-A3 F3 A4 A5 F1 F5 A6-A8 F7 F9 A9-AF E0-EF B0-DF",
    ),
    alphabet("UA1251", "uk", CodePage::Cp1251),
    bytes(
        "UA866",
        "uk",
        CodePage::Cp866,
        "80-85 F0 F2 86-88 49 F4 89-9F 4A-68 A0-A5 F1 F3 A6-A8 69 F5 A9-AF E0-EF 6A-7F B0-DF",
    ),
    alphabet("UAKOI8", "uk", CodePage::Koi8U),
];

const fn alphabet(name: &'static str, language: &'static str, page: CodePage) -> Module {
    let order = ModuleOrder::Alphabet;
    Module {
        name,
        language,
        page,
        order,
    }
}

const fn bytes(name: &'static str, language: &'static str, page: CodePage, order: &'static str) -> Module {
    let order = ModuleOrder::Bytes(order);
    Module {
        name,
        language,
        page,
        order,
    }
}
