//! How the keys of an order are found: from the expressions of a tag, or of a new order.

use super::{Adi, DOUBLE_DIGITS, NotCompiled, OrderKeys};
use crate::container::ContainerLink;
use crate::error::{Error, Result};
use crate::expression::{Program, Type};
use crate::field::{Field, FieldKind};
use crate::full_text::{FullTextOptions, TRAIL, WordKeys};
use crate::index::{AdiKey, IndexDialect, KeyCodec, KeyEncoding, KeyType, OrderSpec, Tag};
use crate::orders::KeySettings;
use crate::orders::adi_keys::{Part, named_expression, numbered, numbered_fields, parts};
use crate::table::Table;

impl OrderKeys {
    /// Compiles the expressions of a tag that is in a file, for the fields of a table.
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault, [`Error::Misuse`] when keys of the tag's length are not of the
    /// expression's type.
    pub(crate) fn of_tag(tag: &Tag, dialect: IndexDialect, fields: &[Field], settings: &KeySettings) -> Result<Self> {
        if let Some(options) = &tag.full_text {
            return Self::of_word_tag(tag, options, dialect, fields, settings);
        }
        if dialect == IndexDialect::Adi {
            return Self::of_adi(tag, fields, settings, false);
        }
        let mut keys = Self::compile(&tag.expression, tag.condition.as_deref(), dialect, fields, settings)?;
        // The length of a text tells whose STR() it has.
        let len = tag.key_len - usize::from(tag.is_nullable);
        let without_spare = len.saturating_sub(usize::from(tag.is_candidate));
        let is_so_long = |keys: &Self| keys.codec.len == len || keys.codec.len == without_spare;
        if keys.key_type() == KeyType::Character && !is_so_long(&keys) {
            let texts = (&*tag.expression, tag.condition.as_deref());
            let others = Self::compile_as(!settings.are_foxpro, texts, dialect, fields, settings)?;
            if is_so_long(&others) {
                keys = others;
            }
        }
        (keys.codec.len, keys.codec.is_nullable) = (tag.key_len, tag.is_nullable);
        if let (KeyEncoding::Text(decimals), Some(stored)) = (&mut keys.codec.encoding, tag.decimals) {
            *decimals = stored;
        }
        if keys.codec.encoding == KeyEncoding::Binary {
            keys.codec.encoding = tag.encoding(keys.codec.key_type);
        }
        keys.codec = keys.codec.of_candidate(tag.is_candidate).check(&tag.name)?;
        if tag.ignores_case && keys.key_type() == KeyType::Character {
            keys.capitals = Some(Box::new(*settings.environment.letters.upper()));
        }
        Ok(keys)
    }

    /// As `of_tag`; where the expressions cannot be compiled, the keys are not [known](OrderKeys::are_known), and the order
    /// can be walked as it is stored.
    ///
    /// # Errors
    /// For a tag whose keys contradict its header.
    pub(crate) fn of_any_tag(
        tag: &Tag,
        dialect: IndexDialect,
        table: &Table,
        settings: &KeySettings,
        of_tag: impl FnOnce(&Tag, IndexDialect, &[Field], &KeySettings) -> Result<Self>,
    ) -> Result<Self> {
        match of_tag(tag, dialect, table.fields(), settings) {
            Err(e @ (Error::Expression(_) | Error::Misuse(_))) => Self::not_compiled(tag, &reason(&e, table), settings),
            made => made,
        }
    }

    fn not_compiled(tag: &Tag, why: &str, settings: &KeySettings) -> Result<Self> {
        let texts = [Some(&tag.expression), tag.condition.as_ref()];
        let mut texts = texts.into_iter().flatten().map(|text| text.to_ascii_uppercase());
        Ok(Self {
            // It stands for nothing that is ever evaluated.
            key: Program::compile("''", &[], &settings.environment)?,
            condition: None,
            codec: KeyCodec {
                key_type: tag.any_key_type(),
                len: tag.key_len,
                encoding: KeyEncoding::Unknown,
                is_nullable: false,
                has_spare: false,
            },
            capitals: None,
            is_sorted: false,
            long: None,
            adi: None,
            words: None,
            not_compiled: Some(Box::new(NotCompiled {
                why: why.to_owned(),
                reads_deletion: texts.any(|text| text.contains("DELETED")),
            })),
        })
    }

    /// Why the expressions of the tag cannot be compiled.
    pub(crate) fn why_not_compiled(&self) -> Option<&str> {
        self.not_compiled.as_ref().map(|not| not.why.as_str())
    }

    /// As [`OrderKeys::of_tag`], of a tag that stays in its file whether its keys are [known](OrderKeys::are_known) or not.
    ///
    /// # Errors
    /// As [`OrderKeys::of_tag`].
    pub(crate) fn of_kept_tag(
        tag: &Tag,
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        match dialect {
            IndexDialect::Adi if tag.full_text.is_none() => Self::of_adi(tag, fields, settings, true),
            _ => Self::of_tag(tag, dialect, fields, settings),
        }
    }

    /// Compiles the expressions of a new order. Its keys are as long as FoxPro and Harbour make them: see
    /// [`Program::key_len`] and, for numbers in an NTX file, [`Program::number_width`].
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault.
    pub fn compile(
        expression: &str,
        condition: Option<&str>,
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        if dialect == IndexDialect::Adi {
            let condition = condition.map(|condition| numbered(condition, fields));
            return Self::compile_adi(numbered(expression, fields), condition, (fields, settings), false);
        }
        Self::compile_as(settings.are_foxpro, (expression, condition), dialect, fields, settings)
    }

    /// As [`OrderKeys::compile`], as Visual FoxPro or others have it.
    fn compile_as(
        are_foxpro: bool,
        (expression, condition): (&str, Option<&str>),
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        let environment = settings.environment_of(dialect, are_foxpro);
        let compile = |text: &str| {
            let program = Program::compile_key(text, fields, &environment)?;
            let mut used = program.fields().into_iter().filter_map(|field| fields.get(field));
            match used.find(|field| field.kind.uses_memo()) {
                None => Ok(program),
                Some(memo) => Err(Error::expression(
                    1,
                    "fields of the record",
                    format!("{}, whose values are in the memo file", memo.name),
                )),
            }
        };
        let key = compile(expression)?;
        let condition = condition.map(compile).transpose()?;
        if let Some(condition) = &condition
            && condition.type_of() != Type::Logical
        {
            let found = format!("one of type {}", condition.type_of().letter());
            return Err(Error::expression(1, "a FOR expression of type L", found));
        }
        let key_type = match key.type_of() {
            Type::Character | Type::Null => KeyType::Character,
            Type::Number => KeyType::Number,
            Type::Logical => KeyType::Logical,
            Type::Date => KeyType::Date,
            Type::Timestamp => KeyType::Timestamp,
        };
        let (width, decimals) = key.number_width();
        let (len, encoding) = match (dialect, key_type) {
            (IndexDialect::Ntx, KeyType::Number) => (width, KeyEncoding::Text(decimals)),
            (IndexDialect::Ntx, KeyType::Timestamp) => (17, KeyEncoding::Text(0)),
            (IndexDialect::Ntx, _) => (key.key_len(), KeyEncoding::Text(0)),
            (IndexDialect::Cdx | IndexDialect::Idx, KeyType::Timestamp)
                if !settings.keeps_milliseconds && fields.iter().any(is_of_foxpro) =>
            {
                (key.key_len(), KeyEncoding::Seconds)
            }
            (IndexDialect::Cdx | IndexDialect::Nsx | IndexDialect::Idx, _) => (key.key_len(), KeyEncoding::Binary),
            (IndexDialect::Mdx | IndexDialect::Ndx, _) => (key.key_len(), KeyEncoding::Dbase),
            (IndexDialect::Adi, _) => (key.key_len(), KeyEncoding::Adi(AdiKey::of_type(key_type))),
        };
        let codec = KeyCodec {
            key_type,
            len,
            encoding,
            is_nullable: false,
            has_spare: false,
        };
        let is_long = |field: &&Field| {
            let digits = field.width.saturating_sub(usize::from(field.decimals > 0));
            field.letter == 'N' && digits > DOUBLE_DIGITS
        };
        let mut used = key.fields().into_iter().filter_map(|field| fields.get(field));
        let long = match (dialect, key_type) {
            (IndexDialect::Mdx, KeyType::Number) => used.find(is_long).map(|field| field.name.clone()),
            _ => None,
        };
        Ok(Self {
            key,
            condition,
            is_sorted: key_type != KeyType::Character || settings.collation.is_known(),
            codec,
            capitals: None,
            long,
            adi: None,
            words: None,
            not_compiled: None,
        })
    }

    /// As [`OrderKeys::compile`], of an order of an ADI whose expressions name fields by number.
    ///
    /// # Errors
    /// As [`OrderKeys::compile`].
    pub(crate) fn compile_numbered(
        expression: String,
        condition: Option<String>,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        Self::compile_adi(expression, condition, (fields, settings), false)
    }

    /// The keys of a tag of words.
    fn of_word_tag(
        tag: &Tag,
        options: &FullTextOptions,
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        if usize::from(options.max_word) != tag.key_len {
            let (expected, found) = (
                format!("keys of {} bytes", tag.key_len),
                format!("words of {}", options.max_word),
            );
            return Err(Error::expression(1, expected, found));
        }
        Self::of_words(&tag.expression, options, dialect, fields, settings)
    }

    /// The keys of a tag of an ADI, whose header says how long they are and what fills them up.
    fn of_adi(tag: &Tag, fields: &[Field], settings: &KeySettings, keeps: bool) -> Result<Self> {
        if tag.is_full_text && !keeps {
            return Err(Error::expression(
                1,
                "an order of records",
                "one of words (full-text search)",
            ));
        }
        let (expression, condition) = (tag.expression.clone(), tag.condition.clone());
        let mut keys = Self::compile_adi(expression, condition, (fields, settings), keeps)?;
        if tag.is_full_text {
            keys.codec.encoding = KeyEncoding::Unknown;
        }
        if keys.codec.encoding == KeyEncoding::Unknown {
            keys.codec.len = tag.key_len;
        }
        if keys.codec.len != tag.key_len {
            let (expected, found) = (
                format!("keys of {} bytes", tag.key_len),
                format!("{} bytes", keys.codec.len),
            );
            return Err(Error::expression(1, expected, found));
        }
        if let (Some(adi), Some(trail)) = (&mut keys.adi, tag.trail) {
            adi.trail = trail;
        }
        Ok(keys)
    }

    /// Compiles expressions that name fields by number.
    fn compile_adi(
        expression: String,
        condition: Option<String>,
        (fields, settings): (&[Field], &KeySettings),
        keeps: bool,
    ) -> Result<Self> {
        let (fields, environment) = (numbered_fields(fields), &settings.environment);
        let parts = parts(&expression).into_iter();
        let parts = parts
            .map(|part| Part::compile(part, &fields, environment, keeps))
            .collect::<Result<Vec<_>>>()?;
        let Some(first) = parts.first() else {
            return Err(Error::expression(1, "an expression", "none"));
        };
        let program = match &condition {
            Some(condition) => {
                let program = Program::compile_key(&told_by_isnull(condition), &fields, environment)?;
                if program.type_of() != Type::Logical {
                    let found = format!("one of type {}", program.type_of().letter());
                    return Err(Error::expression(1, "a FOR expression of type L", found));
                }
                Some(program)
            }
            None => None,
        };
        Ok(Self {
            key: first.program.clone(),
            condition: program,
            codec: KeyCodec {
                len: parts.iter().map(|part| part.codec.len).sum(),
                encoding: match parts.iter().all(|part| part.codec.is_known()) {
                    true => first.codec.encoding,
                    false => KeyEncoding::Unknown,
                },
                ..first.codec
            },
            capitals: None,
            // Advantage sorts by bytes here.
            is_sorted: true,
            long: None,
            adi: Some(Adi {
                trail: Part::trail(&parts),
                parts,
                expression,
                condition,
            }),
            words: None,
            not_compiled: None,
        })
    }

    /// The keys of an index of the words of a field, which the expression names: in an ADI by number.
    ///
    /// # Errors
    /// [`Error::Expression`] for what is no field, and one that has no texts.
    pub(crate) fn of_words(
        expression: &str,
        options: &FullTextOptions,
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        let is_adi = dialect == IndexDialect::Adi;
        let named = if is_adi {
            numbered_fields(fields)
        } else {
            fields.to_vec()
        };
        let expression = expression.trim();
        let is_it = |field: &Field| {
            field.name.eq_ignore_ascii_case(expression) || !is_adi && field.short_name.eq_ignore_ascii_case(expression)
        };
        let Some(place) = named.iter().position(is_it) else {
            let found = format!("{:?}", named_expression(expression, fields));
            return Err(Error::expression(
                1,
                "the name of a field, for an index of words",
                found,
            ));
        };
        let Some((shown, own)) = fields.get(place).zip(named.get(place)) else {
            return Err(Error::expression(1, "the name of a field", expression));
        };
        let words = WordKeys::new((place, shown), options.clone(), settings.environment.codepage, is_adi)?;
        let key = Program::compile_key(&own.name, &named, &settings.environment)?;
        let codec = KeyCodec {
            key_type: KeyType::Character,
            len: words.key_len(),
            encoding: match is_adi {
                true => KeyEncoding::Adi(AdiKey::Text),
                false => KeyEncoding::Binary,
            },
            is_nullable: false,
            has_spare: false,
        };
        Ok(Self {
            adi: is_adi.then(|| Adi {
                parts: Vec::new(),
                expression: own.name.clone(),
                condition: None,
                trail: TRAIL,
            }),
            key,
            condition: None,
            codec,
            capitals: None,
            is_sorted: true,
            long: None,
            words: Some(words),
            not_compiled: None,
        })
    }

    /// The keys of an order as it is to be made.
    ///
    /// # Errors
    /// As [`OrderKeys::compile`] and [`OrderKeys::of_words`].
    pub(crate) fn of_spec(
        order: &OrderSpec,
        dialect: IndexDialect,
        fields: &[Field],
        settings: &KeySettings,
    ) -> Result<Self> {
        match order.words() {
            // The header of an ADI would do without the condition.
            Some(_) if order.for_expression().is_some() => {
                let expected = "no FOR expression, of an index of words, which is neither unique nor of some records";
                Err(Error::expression(
                    1,
                    expected,
                    order.for_expression().unwrap_or_default(),
                ))
            }
            Some(options) if dialect == IndexDialect::Adi => {
                let expression = numbered(order.expression(), fields);
                Self::of_words(&expression, options, dialect, fields, settings)
            }
            Some(options) => Self::of_words(order.expression(), options, dialect, fields, settings),
            None => {
                let keys = Self::compile(order.expression(), order.for_expression(), dialect, fields, settings)?;
                Ok(keys.made_by(settings, order.is_candidate(), dialect, fields))
            }
        }
    }

    /// The keys of a new order as the program makes them whose table it is. In a CDX of Visual FoxPro those of an integer field have four
    /// bytes, and those of fields that can be NULL a byte in front, but for candidate indexes.
    pub(crate) fn made_by(
        mut self,
        settings: &KeySettings,
        is_candidate: bool,
        dialect: IndexDialect,
        fields: &[Field],
    ) -> Self {
        if !settings.are_foxpro || dialect != IndexDialect::Cdx {
            return self;
        }
        let used: Vec<_> = self.key.fields().into_iter().filter_map(|at| fields.get(at)).collect();
        if let [field] = &*used
            && field.kind == FieldKind::Integer
            && self.key.is_field()
        {
            self.codec.len = 4;
        }
        if !is_candidate && used.iter().any(|field| field.nullable) {
            self.codec.len += 1;
            self.codec.is_nullable = true;
        }
        self
    }
}

/// A condition in which `= NULL` and `<> NULL` behind a field ask whether it is NULL, as Advantage has them.
fn told_by_isnull(condition: &str) -> String {
    let mut out = condition.to_owned();
    for (operator, before) in [("<>", "!"), ("!=", "!"), ("#", "!"), ("==", ""), ("=", "")] {
        let words: Vec<&str> = out.split_whitespace().collect();
        if let [field, found, null] = words.as_slice()
            && *found == operator
            && null.trim_matches('.').eq_ignore_ascii_case("NULL")
        {
            out = format!("{before}ISNULL({field})");
        }
    }
    out
}

/// Why an expression does not compile. Names that it does not find may be those of a container that is not there.
fn reason(error: &Error, table: &Table) -> String {
    match table.container() {
        ContainerLink::Unused { name, why } => format!("{error}; long names of fields are in {name}: {why}"),
        _ => error.to_string(),
    }
}

/// Whether a field holds moments as Visual FoxPro has them: those of others are called `@` or `=`.
fn is_of_foxpro(field: &Field) -> bool {
    field.kind == FieldKind::Timestamp && field.letter == 'T'
}
