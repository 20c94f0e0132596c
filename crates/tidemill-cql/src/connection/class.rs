//! Names of classes that stand for types: `org.apache.cassandra.db.marshal.ListType(…)`. The driver's reader of them does not end where a class that it
//! knows has other parameters than it has to have (scylla-cql 2.0.0, `get_n_type_parameters`), and calls itself for each class within.

/// Whether the driver's reader comes to an end with this name, with classes within one another to a depth.
pub(super) fn is_bearable(name: &[u8], depth: u32) -> bool {
    let mut rest = Rest(name);
    rest.blanks();
    match rest.class_name() {
        // Without parameters, or not known: it is a type or an error at once.
        Some(class) if rest.0.first() == Some(&b'(') && is_known(class) => rest.parameters(class, depth).is_some(),
        Some(_) => true,
        None => name.is_empty(),
    }
}

/// What is left of a name.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// A class with its parameters, each of which is read to its end.
    fn class(&mut self, depth: u32) -> Option<()> {
        self.blanks();
        let class = self.class_name()?;
        match self.0.first() {
            Some(b'(') if is_known(class) => self.parameters(class, depth),
            Some(b'(') => None,
            _ => Some(()),
        }
    }

    /// The name of a class, after a number and a colon if they are there, and the blanks after it.
    fn class_name(&mut self) -> Option<&'a [u8]> {
        let mut name = self.word()?;
        if self.accepts(b':') {
            usize::from_str_radix(str::from_utf8(name).ok()?, 16).ok()?;
            name = self.word()?;
        }
        self.blanks();
        Some(name.strip_prefix(b"org.apache.cassandra.db.marshal.").unwrap_or(name))
    }

    fn parameters(&mut self, class: &[u8], depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.accepts(b'(').then_some(())?;
        self.separator();
        match class {
            b"VectorType" => {
                self.class(depth)?;
                self.separator();
                let length = self.word()?;
                str::from_utf8(length).ok()?.parse::<u16>().ok()?;
            }
            b"UserType" => {
                self.word()?;
                self.separator();
                is_hex_text(self.word()?).then_some(())?;
                self.separator();
                while self.0.first()? != &b')' {
                    is_hex_text(self.word()?).then_some(())?;
                    self.accepts(b':').then_some(())?;
                    self.class(depth)?;
                    self.separator();
                }
            }
            b"TupleType" => {
                while self.0.first()? != &b')' {
                    self.class(depth)?;
                    self.separator();
                }
            }
            _ => {
                let count = if class == b"MapType" { 2 } else { 1 };
                for _ in 0..count {
                    self.class(depth)?;
                    self.separator();
                }
            }
        }
        self.accepts(b')').then_some(())
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-_.&".contains(byte);
        let length = self.0.iter().position(|byte| !is_of_word(byte)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(length);
        self.0 = rest;
        (length > 0).then_some(word)
    }

    fn accepts(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// Blanks, a comma or none, and blanks.
    fn separator(&mut self) {
        self.blanks();
        self.accepts(b',');
        self.blanks();
    }
}

/// The classes whose parameters the driver reads.
fn is_known(class: &[u8]) -> bool {
    [
        &b"ListType"[..],
        b"SetType",
        b"MapType",
        b"TupleType",
        b"VectorType",
        b"UserType",
        b"FrozenType",
    ]
    .contains(&class)
}

/// Whether it is a text whose bytes are written as two digits each.
fn is_hex_text(digits: &[u8]) -> bool {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let is_hex = digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    let bytes = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>();
    is_hex && bytes.is_some_and(|bytes| String::from_utf8(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_with_the_parameters_that_they_have_are_bearable() {
        let marshal = "org.apache.cassandra.db.marshal.";
        for name in [
            "".to_owned(),
            "Int32Type".to_owned(),
            "com.example.Mine".to_owned(),
            "com.example.Mine(a, b".to_owned(),
            format!("{marshal}VectorType({marshal}FloatType , 3)"),
            "VectorType(FrozenType(ListType(FrozenType(SetType(Int32Type)))), 5)".to_owned(),
            "MapType(UTF8Type,LongType)".to_owned(),
            "TupleType(UTF8Type, LongType , 61:LongType)".to_owned(),
            "UserType(ks,6d79,61:Int32Type,62:ListType(UTF8Type))".to_owned(),
        ] {
            assert!(is_bearable(name.as_bytes(), 10), "{name}");
        }
        for name in [
            "ListType(A(B",
            "ListType(A(B))",
            "ListType(",
            "ListType()",
            "ListType(g:b)",
            "ListType(a;b)",
            "ListType(Int32Type, Int32Type)",
            "MapType(Int32Type)",
            "FrozenType(UserType(ks,zz))",
            "VectorType(FloatType, 65536)",
            "SetType(Int32Type",
        ] {
            assert!(!is_bearable(name.as_bytes(), 10), "{name}");
        }
        let deep = |depth: usize| format!("{}Int32Type{}", "ListType(".repeat(depth), ")".repeat(depth));
        assert!(is_bearable(deep(10).as_bytes(), 10));
        assert!(!is_bearable(deep(11).as_bytes(), 10));
    }
}
