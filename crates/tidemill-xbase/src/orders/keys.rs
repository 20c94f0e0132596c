//! The keys of an order's records.

use std::borrow::Cow;
use std::sync::Arc;

use crate::container::ContainerLink;
use crate::error::{Error, Result};
use crate::expression::{Program, Record, RecordBytes, Type, Value};
use crate::field::{Field, FieldKind};
use crate::full_text::{FieldText, FullTextOptions, TRAIL, WordKeys};
use crate::index::{
    AdiKey, Collation, Index, IndexDialect, KeyCodec, KeyEncoding, KeySorter, KeyType, KeyValue, Order, OrderSpec, Tag,
};
use crate::table::Table;

use super::KeySettings;
use super::adi_keys::{Part, named_expression, numbered, numbered_fields, parts};

/// The compiled expressions of an order: which records are in it, and under which key.
///
/// A `.NULL.` has a key of nothing but the byte that fills keys up, as Harbour stores it, or of zeros where the tag of a Visual
/// FoxPro index says that keys can be NULL. Expressions over memos are
/// refused, as Harbour does: an index is made from records alone.
#[derive(Debug, Clone)]
pub struct OrderKeys {
    key: Program,
    condition: Option<Program>,
    codec: KeyCodec,
    /// What becomes of each byte of a key that is stored in capitals.
    capitals: Option<Box<[u8; 256]>>,
    /// Whether it is known how they are sorted.
    is_sorted: bool,
    /// A field whose numbers have more digits than a double keeps, where dBASE keeps them (MDX).
    long: Option<String>,
    /// What an ADI has more.
    adi: Option<Adi>,
    /// Of an index of words, how they are made: a record has any number of keys then.
    words: Option<WordKeys>,
    /// Why the expressions of a tag cannot be compiled: nothing is known of its keys.
    not_compiled: Option<Box<NotCompiled>>,
}

/// Expressions that cannot be compiled.
#[derive(Debug, Clone)]
struct NotCompiled {
    why: String,
    /// Whether they may ask if a record is deleted.
    reads_deletion: bool,
}

/// The parts of the keys of an ADI, of which the first is the key of [`OrderKeys`] too, and its texts as the file has them.
#[derive(Debug, Clone)]
struct Adi {
    parts: Vec<Part>,
    expression: String,
    condition: Option<String>,
    /// The byte that fills keys up.
    trail: u8,
}

impl OrderKeys {
    /// Compiles the expressions of a tag that is in a file, for the fields of a table.
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault, [`Error::Misuse`] when keys of the tag's length are not of the
    /// expression's type.
    pub fn of_tag(tag: &Tag, dialect: IndexDialect, fields: &[Field], settings: &KeySettings) -> Result<Self> {
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

    /// Of an index of words, how they are made.
    pub(crate) fn words(&self) -> Option<&WordKeys> {
        self.words.as_ref()
    }

    /// How its keys are sorted: words by their bytes.
    pub(crate) fn collation<'s>(&'s self, settings: &'s KeySettings) -> Cow<'s, Collation> {
        match (&self.words, &self.not_compiled) {
            (Some(_), _) => Cow::Owned(Collation::binary()),
            (None, Some(_)) => Cow::Owned(Collation::unknown()),
            (None, None) => Cow::Borrowed(&settings.collation),
        }
    }

    /// How keys are written; of several parts the first.
    pub(crate) fn codec(&self) -> KeyCodec {
        self.codec
    }

    /// The order of these keys in an index file.
    ///
    /// # Errors
    /// As [`Index::order`].
    pub(crate) fn order(&self, index: &Index, tag: &str, settings: &KeySettings) -> Result<Arc<Order>> {
        let collation = self.collation(settings);
        // Of these, more is known than the type of the keys says.
        let has_own_codec = index.dialect() == IndexDialect::Adi
            || self.codec.encoding == KeyEncoding::Seconds
            || self.not_compiled.is_some();
        match has_own_codec {
            true => index.order_with(tag, self.codec, &collation),
            false => index.order(tag, self.key_type(), &collation),
        }
    }

    /// Whether texts are stored in small letters, and compare so.
    pub(crate) fn ignores_case(&self) -> bool {
        let is_small = |part: &Part| part.small.is_some();
        self.adi.as_ref().is_some_and(|adi| adi.parts.iter().any(is_small))
    }

    /// Refuses to write numbers of more digits than a double has into an MDX: dBASE would look for other keys.
    ///
    /// # Errors
    /// [`Error::Misuse`].
    pub(crate) fn check_digits(&self) -> Result<()> {
        match &self.long {
            None => Ok(()),
            Some(field) => Err(Error::Misuse(format!(
                "numbers of field {field} have more than {DOUBLE_DIGITS} digits, of which keys would keep so many"
            ))),
        }
    }

    /// A text as keys have it that begin with it: in small letters where the order is one of CICharacter fields.
    pub fn folded<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let first = self.adi.as_ref().and_then(|adi| adi.parts.first());
        match first.and_then(|part| part.small.as_ref()) {
            Some(small) => Cow::Owned(text.iter().map(|byte| small[usize::from(*byte)]).collect()),
            None => Cow::Borrowed(text),
        }
    }

    /// The parts of a key, in their order: the fields of each by their places, and how many bytes of the key are its. Only the keys of an
    /// ADT have more than one.
    pub fn parts(&self) -> Vec<(Vec<usize>, usize)> {
        match &self.adi {
            Some(adi) => {
                let parts = adi.parts.iter();
                parts.map(|part| (part.program.fields(), part.codec.len)).collect()
            }
            None => vec![(self.key.fields(), self.key_len())],
        }
    }

    /// The compiled key expression.
    pub(crate) fn program(&self) -> &Program {
        &self.key
    }

    /// Whether keys can be made and their places found. Those of a collation that is not known stay as they are.
    pub fn are_known(&self) -> bool {
        self.codec.is_known() && self.is_sorted
    }

    /// Whether the keys of records can be made.
    pub(crate) fn can_be_made(&self) -> bool {
        self.codec.is_known()
    }

    /// Refuses changes of an order whose keys are not known.
    ///
    /// # Errors
    /// [`Error::UnknownCollation`], [`Error::NoKeys`].
    pub(crate) fn check_known(&self) -> Result<()> {
        if let Some(why) = self.why_not_compiled() {
            return Err(Error::UnknownExpression { why: why.to_owned() });
        }
        match self.codec.encoding {
            KeyEncoding::Bitmap => Err(Error::NoKeys),
            KeyEncoding::Unknown => Err(Error::UnknownKeys),
            _ if !self.are_known() => Err(Error::UnknownCollation),
            _ => Ok(()),
        }
    }

    /// Whether a field is one that the keys are made of, or that its condition names.
    pub(crate) fn reads(&self, fields: &[Field], field: &Field) -> bool {
        if self.not_compiled.is_some() {
            return true;
        }
        self.programs().flat_map(Program::fields).any(|used| {
            let used = fields.get(used);
            used.is_some_and(|used| used.offset == field.offset)
        })
    }

    /// The expressions.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        let parts = self
            .adi
            .iter()
            .flat_map(|adi| adi.parts.iter().map(|part| &part.program));
        [Some(&self.key), self.condition.as_ref()]
            .into_iter()
            .flatten()
            .chain(parts)
    }

    /// Whether a record has the key that it had, as far as its fields and its deletion flag tell.
    pub(crate) fn is_untouched(&self, fields: &[Field], before: &[u8], after: &[u8]) -> bool {
        // Any field may be one that such expressions read.
        if let Some(not) = &self.not_compiled {
            let is_same_flag = before.first() == after.first() || !not.reads_deletion;
            return is_same_flag && before.get(1..) == after.get(1..);
        }
        let used = self.programs().flat_map(Program::fields);
        let used: Vec<&Field> = used.filter_map(|field| fields.get(field)).collect();
        // What says that a value is NULL, or how long a varying one is, stands elsewhere.
        let are_plain = used
            .iter()
            .all(|field| field.null_bit.is_none() && field.varlength_bit.is_none());
        let mut cells = used.iter().map(|field| field.offset..field.offset + field.width);
        match are_plain {
            true => before.first() == after.first() && cells.all(|cell| before.get(cell.clone()) == after.get(cell)),
            false => before == after,
        }
    }

    /// The type of the keys.
    pub fn key_type(&self) -> KeyType {
        self.codec.key_type
    }

    /// The length of each key in bytes.
    pub fn key_len(&self) -> usize {
        self.codec.len
    }

    /// The decimals of numbers in an NTX file.
    pub fn decimals(&self) -> Option<u8> {
        match self.codec.encoding {
            KeyEncoding::Text(decimals) if self.key_type() == KeyType::Number => Some(decimals),
            _ => None,
        }
    }

    /// The key of a record, of [`OrderKeys::key_len`] bytes; `None` where the condition leaves the record out.
    ///
    /// # Errors
    /// What the record gives as an error, and [`Error::Misuse`] for a number or day that no key can hold.
    pub fn key(&self, record: &dyn Record) -> Result<Option<Vec<u8>>> {
        let mut key = Vec::with_capacity(self.key_len());
        Ok(self.put_key(record, &mut key)?.then_some(key))
    }

    /// The key of a value as the file stores it, of [`OrderKeys::key_len`] bytes.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a value of another type, or a number or day that no key can hold.
    pub fn stored_key(&self, value: &KeyValue<'_>) -> Result<Vec<u8>> {
        self.codec.encode(value)
    }

    /// Puts the key of a record behind `keys` and returns whether it has one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn put_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<bool> {
        Ok(self.put_key_or_null(record, keys)? != MadeKey::LeftOut)
    }

    /// Whether the condition leaves a record out.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn is_left_out(&self, record: &dyn Record) -> Result<bool> {
        match &self.condition {
            Some(condition) => Ok(!condition.matches(record)?),
            None => Ok(false),
        }
    }

    /// Whether the key of a record is NULL, which is stored as a blank one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub fn is_null(&self, record: &dyn Record) -> Result<bool> {
        Ok(self.put_any_key(record, &mut Vec::new())? == MadeKey::Null)
    }

    /// As [`OrderKeys::put_key`], telling a key that is NULL from a blank one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn put_key_or_null(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        // What is deleted from an ADT is gone.
        if self.adi.is_some() && record.is_deleted() {
            return Ok(MadeKey::LeftOut);
        }
        if let Some(condition) = &self.condition
            && !condition.matches(record)?
        {
            return Ok(MadeKey::LeftOut);
        }
        self.put_any_key(record, keys)
    }

    /// As [`OrderKeys::put_key`], for the entry of a candidate index: every record has a key there.
    ///
    /// # Errors
    /// As [`OrderKeys::key`], and [`Error::NullKey`].
    pub(crate) fn put_candidate_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<bool> {
        match self.put_key_or_null(record, keys)? {
            MadeKey::LeftOut => Ok(false),
            MadeKey::Value => Ok(true),
            // Advantage takes NULL for a key as others are.
            MadeKey::Null if self.adi.is_some() => Ok(true),
            MadeKey::Null => Err(Error::NullKey {
                record: record.record_no(),
            }),
        }
    }

    /// The key of a record, whether the condition leaves it out or not.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub fn key_whatever_the_condition(&self, record: &dyn Record) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(self.key_len());
        self.put_any_key(record, &mut key)?;
        Ok(key)
    }

    fn put_any_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        if self.words.is_some() {
            return Err(Error::expression(
                1,
                "an order of records",
                "one of words (full-text search)",
            ));
        }
        if self.not_compiled.is_some() {
            return self.check_known().map(|()| MadeKey::LeftOut);
        }
        match self.codec.encoding {
            KeyEncoding::Collated => return Err(Error::UnknownCollation),
            KeyEncoding::Bitmap => return Err(Error::NoKeys),
            KeyEncoding::Unknown => return Err(Error::UnknownKeys),
            KeyEncoding::Binary
            | KeyEncoding::Text(_)
            | KeyEncoding::Dbase
            | KeyEncoding::Seconds
            | KeyEncoding::Adi(_) => {}
        }
        if let Some(adi) = &self.adi {
            return adi.put_key(record, keys);
        }
        let begin = keys.len();
        let value = self.key.evaluate_record(record)?;
        let value = key_value(&value);
        if let Some(value) = &value {
            self.codec.put(value, keys)?;
        }
        let fill = match &value {
            None if self.codec.is_nullable => 0,
            _ => self.codec.trail(),
        };
        keys.resize(begin + self.key_len(), fill);
        if let (Some(capitals), Some(key)) = (&self.capitals, keys.get_mut(begin..)) {
            for byte in key {
                *byte = capitals[usize::from(*byte)];
            }
        }
        Ok(match value {
            Some(_) => MadeKey::Value,
            None => MadeKey::Null,
        })
    }

    /// Gives the keys of all records, deleted ones included, to the sorter of an order.
    ///
    /// # Errors
    /// As [`OrderKeys::key`] and [`KeySorter::push`], [`Error::NullKey`] in a candidate index, and when the table cannot be read
    /// to its end.
    pub(crate) fn sort(&self, table: &Table, sorter: &mut KeySorter) -> Result<()> {
        self.sort_those(table, |_| true, sorter)
    }

    /// As [`OrderKeys::sort`], of some records.
    pub(crate) fn sort_those(
        &self,
        table: &Table,
        are_meant: impl Fn(&RecordBytes<'_>) -> bool,
        sorter: &mut KeySorter,
    ) -> Result<()> {
        let mut key = Vec::with_capacity(self.key_len());
        if let Some(words) = &self.words {
            let (mut text, memo) = (FieldText::default(), words.memo_of(table));
            return table.each_record(|record| {
                if are_meant(record) {
                    words.put_keys(record, memo, &mut text, &mut key)?;
                    let mut keys = key.chunks_exact(self.key_len().max(1));
                    keys.try_for_each(|key| sorter.push(key, record.record_no()))?;
                }
                Ok(())
            });
        }
        let put = match sorter.is_candidate() {
            true => Self::put_candidate_key,
            false => Self::put_key,
        };
        table.each_record(|record: &RecordBytes<'_>| {
            key.clear();
            if are_meant(record) && put(self, record, &mut key)? {
                sorter.push(&key, record.record_no())?;
            }
            Ok(())
        })
    }

    /// An order with keys of this type and length.
    pub(crate) fn of_order(&self, order: &OrderSpec, settings: &KeySettings) -> OrderSpec {
        let order = match &self.adi {
            Some(adi) => order.as_in_adi(&adi.expression, adi.condition.as_deref(), adi.trail),
            None => order.clone(),
        };
        order
            .keys(self.key_type(), self.key_len())
            .nullable(self.codec.is_nullable)
            .decimals(self.decimals().unwrap_or_default())
            .collation(self.collation(settings).into_owned())
    }
}

impl Adi {
    /// Puts the key of a record behind `keys`, part by part; NULL is zeros.
    fn put_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        let mut made = MadeKey::Null;
        for part in &self.parts {
            let begin = keys.len();
            let value = part.program.evaluate_record(record)?;
            let key = match (part.codec.encoding, &value) {
                // A time of day has no day to count from.
                (KeyEncoding::Adi(AdiKey::Time), Value::Timestamp(ms)) => Some(KeyValue::Timestamp(Some(*ms))),
                (_, value) => key_value(value),
            };
            let fill = match key {
                Some(value) => {
                    part.codec.put(&value, keys)?;
                    made = MadeKey::Value;
                    b' '
                }
                None => 0,
            };
            keys.resize(begin + part.codec.len, fill);
            if let (Some(small), Some(key)) = (&part.small, keys.get_mut(begin..)) {
                for byte in key {
                    *byte = small[usize::from(*byte)];
                }
            }
        }
        Ok(made)
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

/// Every number of so many digits is a double.
const DOUBLE_DIGITS: usize = 15;

/// What a record has for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeKey {
    /// None: the condition leaves the record out.
    LeftOut,
    /// NULL, which is stored as a blank key.
    Null,
    /// One with a value.
    Value,
}

/// Why an expression does not compile. Names that it does not find may be those of a container that is not there.
fn reason(error: &Error, table: &Table) -> String {
    match table.container() {
        ContainerLink::Unused { name, why } => format!("{error}; long names of fields are in {name}: {why}"),
        _ => error.to_string(),
    }
}

fn key_value<'v>(value: &'v Value<'_>) -> Option<KeyValue<'v>> {
    Some(match value {
        Value::Null => return None,
        Value::Character(text) => KeyValue::Character(text),
        Value::Number(number) => KeyValue::Number(*number),
        Value::Logical(value) => KeyValue::Logical(*value),
        Value::Date(_) => KeyValue::Date(value.unix_days()),
        Value::Timestamp(_) => KeyValue::Timestamp(value.unix_ms()),
    })
}

/// Whether a field holds moments as Visual FoxPro has them: those of others are called `@` or `=`.
fn is_of_foxpro(field: &Field) -> bool {
    field.kind == FieldKind::Timestamp && field.letter == 'T'
}
