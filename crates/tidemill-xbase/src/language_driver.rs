//! The names of Borland's language drivers, which dBASE 7 tables have at byte 32, and their code pages.
//!
//! Source: the list of drivers of the Borland Database Engine, as its administrator shows it (name, code page). The names of
//! Paradox and of SQL links are in it because a table can have been made under any driver.

use crate::codepage::CodePage;

impl CodePage {
    /// The code page of a language driver of the Borland Database Engine, such as `DB866RU0`, in any case; `None` for names that are
    /// not known.
    pub fn from_language_driver(name: &str) -> Option<Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        let (page, _) = DRIVERS.iter().find(|(_, names)| names.iter().any(is_it))?;
        Some(*page)
    }
}

const DRIVERS: [(CodePage, &[&str]); 24] = [
    (
        CodePage::Cp437,
        &[
            "DB437DE0", "DB437ES1", "DB437FI0", "DB437FR0", "DB437IT0", "DB437NL0", "DB437SV0", "DB437UK0", "DB437US0",
            "DB437TH0", "FOXDE437", "FOXNO437", "ascii", "SPANISH", "intl", "swedfin", "SYDC437",
        ],
    ),
    (CodePage::Cp737, &["DB437GR0", "grcp437"]),
    (
        CodePage::Cp850,
        &[
            "DB850CF0", "DB850DE0", "DB850ES0", "DB850FR0", "DB850IT1", "DB850NL0", "DB850PT0", "DB850SV1", "DB850UK0",
            "DB850US0", "FOXNO850", "intl850", "ORAWE850", "SYDC850",
        ],
    ),
    (
        CodePage::Cp852,
        &[
            "DB852CZ0", "DB852HDC", "DB852PO0", "DB852SL0", "czech", "czechw", "hun852dc", "polish", "slovene",
        ],
    ),
    (CodePage::Cp857, &["DB857TR0", "turk"]),
    (CodePage::Cp860, &["DB860PT0"]),
    (CodePage::Cp861, &["iceland"]),
    (CodePage::Cp862, &["dbHebrew", "hebrew"]),
    (CodePage::Cp863, &["DB863CF1"]),
    (CodePage::Cp865, &["DB865DA0", "DB865NO0", "nordan", "nordan40"]),
    (CodePage::Cp866, &["DB866RU0", "cyrr"]),
    (CodePage::Cp874, &["DB874TH0", "thai", "anthai"]),
    // Borland numbers Kamenický's page 867.
    (CodePage::Cp895, &["DB867CZ0", "FOXCZ895", "cskamen", "cskamenw"]),
    (CodePage::Cp932, &["DB932JP0", "DB932JP1", "japan", "ACCJAPAN"]),
    (CodePage::Cp936, &["DB936CN0", "china"]),
    (CodePage::Cp949, &["DB949KO0", "korea"]),
    (CodePage::Cp950, &["DB950TW0", "taiwan"]),
    (
        CodePage::Cp1250,
        &[
            "FOXCZWIN", "anczech", "anczechw", "anil2czw", "anhundc", "anpolish", "ansislov",
        ],
    ),
    (CodePage::Cp1251, &["BGPD1251", "ancyrr"]),
    (CodePage::Cp1253, &["ACCGREEK", "MSSGRWIN", "angreek1"]),
    (CodePage::Cp1254, &["ANTURK"]),
    (CodePage::Cp1255, &["ANHEBREW"]),
    (CodePage::Cp1256, &["BLWINAR0"]),
    (
        CodePage::Cp1252,
        &[
            "DBWINUS0", "DBWINES0", "DBWINWE0", "FOXDEWIN", "FOXNOWIN", "ACCGEN", "ACCNRDAN", "ACCSWFIN", "ANSIINTL",
            "ANSII850", "ANSINOR4", "ANSISPAN", "ANSISWFN", "BLLT1CA0", "BLLT1DA0", "BLLT1DE0", "BLLT1ES0", "BLLT1FI0",
            "BLLT1FR0", "BLLT1IS0", "BLLT1IT0", "BLLT1NL0", "BLLT1NO0", "BLLT1PT0", "BLLT1SV0", "BLLT1UK0", "BLLT1US0",
            "db2andeu",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_name_the_code_page_of_their_number() {
        for (page, names) in &DRIVERS {
            for name in *names {
                assert_eq!(
                    CodePage::from_language_driver(&name.to_lowercase()),
                    Some(*page),
                    "{name}"
                );
                // Those of dBASE have the page's number in their name.
                let number = name.strip_prefix("DB").and_then(|rest| rest.get(..3));
                if let Some(Ok(number)) = number.map(str::parse::<u16>) {
                    let expected = match *name {
                        "DB437GR0" => "cp737".to_owned(),
                        "DB867CZ0" => "cp895".to_owned(),
                        _ => format!("cp{number}"),
                    };
                    assert_eq!(page.name(), expected, "{name}");
                }
            }
        }
        for name in ["", "DB866RU", "DB866RU00", "BGDB868", "\u{fffd}"] {
            assert_eq!(CodePage::from_language_driver(name), None, "{name:?}");
        }
    }
}
