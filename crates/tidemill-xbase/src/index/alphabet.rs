//! The alphabets that national collations are made of: data, one line to a language.
//!
//! The letters and their order are those of Harbour's tables (`l_de.h`, `l_es.h`, `l_ru.h`), which follow Clipper's
//! `ntxger.obj` and `ntxspa.obj`; each is held against the corpus.

/// The letters of a language in its order.
pub(super) struct Alphabet {
    /// ISO 639 code.
    pub(super) language: &'static str,
    pub(super) capital: &'static str,
    pub(super) small: &'static str,
}

pub(super) const ALPHABETS: &[Alphabet] = &[
    Alphabet {
        language: "de",
        capital: "AÄBCDEFGHIJKLMNOÖPQRSTUÜVWXYZ",
        small: "aäbcdefghijklmnoöpqrsßtuüvwxyz",
    },
    Alphabet {
        language: "es",
        capital: "AÁÀÄBCÇDEÉÈËFGHIÍÌÏJKLMNÑOÓÒÖPQRSTUÚÙÜVWXYZ",
        small: "aáàäbcçdeéèëfghiíìïjklmnñoóòöpqrstuúùüvwxyz",
    },
    Alphabet {
        language: "ru",
        capital: "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ",
        small: "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    },
];
