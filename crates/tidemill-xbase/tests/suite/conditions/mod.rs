//! Random conditions on random tables.

use crate::tables::{Column, Random, RandomTable, date, number};

impl RandomTable {
    /// A condition without `.AND.` and its kin.
    pub(crate) fn leaf(&self, random: &mut Random) -> String {
        let column = random.pick(&self.columns);
        let name = &column.name;
        match random.below(12) {
            0 => {
                return random
                    .pick(&["DELETED()", "DELETED() = .F.", ".T.", ".NULL.", "RECNO() > 20"])
                    .to_string();
            }
            1 => return format!("EMPTY({name})"),
            2 => return format!("ISNULL({name})"),
            _ => {}
        }
        let operator = *random.pick(&["=", "==", "<>", "<", "<=", ">", ">="]);
        let constant = constant(random, column);
        match column.letter {
            b'L' => return random.pick(&[name.clone(), format!("{name} {operator} .T.")]).clone(),
            b'C' => {
                let len = column.width as u64;
                let from = 1 + random.below(len);
                let count = 1 + random.below(len);
                let text = match random.below(8) {
                    0 => format!("UPPER({name})"),
                    1 => format!("LOWER({name})"),
                    2 => format!("LEFT({name}, {from})"),
                    3 => format!("SUBSTR({name}, {from}, {count})"),
                    4 => format!("UPPER(SUBSTR({name}, {from}))"),
                    5 => format!("TRIM({name})"),
                    _ => name.clone(),
                };
                match random.below(10) {
                    0 => return format!("{constant} $ {text}"),
                    1 => return format!("{text} $ {constant}"),
                    2 => return format!("{constant} {operator} {text}"),
                    _ => return format!("{text} {operator} {constant}"),
                }
            }
            _ => {}
        }
        match random.below(8) {
            0 => format!("{constant} {operator} {name}"),
            1 if matches!(column.letter, b'N' | b'F' | b'I') => format!("{name} + 1 {operator} {constant}"),
            _ => format!("{name} {operator} {constant}"),
        }
    }

    /// A condition.
    pub(crate) fn condition(&self, random: &mut Random, depth: u64) -> String {
        match random.below(4) {
            _ if depth == 0 => self.leaf(random),
            0 => format!(".NOT. ({})", self.condition(random, depth - 1)),
            1 => {
                let (left, right) = (self.condition(random, depth - 1), self.condition(random, depth - 1));
                format!("({left}) .AND. ({right})")
            }
            2 => {
                let (left, right) = (self.condition(random, depth - 1), self.condition(random, depth - 1));
                format!("({left}) .OR. ({right})")
            }
            _ => self.leaf(random),
        }
    }
}

fn constant(random: &mut Random, column: &Column) -> String {
    match column.letter {
        b'C' => {
            let letters = random.below(column.width as u64 + 2);
            let text: String = (0..letters)
                .map(|_| *random.pick(&['a', 'A', 'b', 'B', ' ', 'ä', 'Ä']))
                .collect();
            format!("'{text}'")
        }
        b'D' | b'T' => match (random.below(3), date(random)) {
            (0, _) => "{^2023-02-25 12:00:00}".to_owned(),
            (_, Some(date)) => format!("{{^{}-{}-{}}}", &date[..4], &date[4..6], &date[6..]),
            (_, None) => "{}".to_owned(),
        },
        _ => match random.below(6) {
            0 => "100".to_owned(),
            1 => "0.001".to_owned(),
            2 => "99999999999999999999".to_owned(),
            3 => format!("(0 - {})", number(random, 6, 2)),
            _ => number(random, 6, 2),
        },
    }
}
