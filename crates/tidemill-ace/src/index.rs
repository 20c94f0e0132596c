//! Index files and their orders.

use std::path::Path;

use tidemill_ads::{ErrorCode, IndexOptions, KeyLength, OrderId, Result, TableType};
use tidemill_xbase::index::{KeyType, Tag};

use crate::call::{call, refuse};
use crate::callback::watched;
use crate::connection::put_all;
use crate::constants::*;
use crate::full_text;
use crate::handle::{Handle, with_any, with_area, with_order};
use crate::movement::given_key;
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;
use crate::table::{part_of, sorted_by_bytes};

/// Opens an index file and gives the handles of its orders.
#[unsafe(no_mangle)]
pub extern "C" fn AdsOpenIndex(table: Handle, name: Name, indexes: Out<Handle>, len: Out<u16>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let settings = settings();
            let known = session.connection.area(area)?;
            let extension = known.options().table_type.index_extension();
            let beside = known.path().to_owned();
            let path = session
                .connection
                .index_path(&name.needed()?, extension, &beside, &settings)?;
            let known = session.connection.area(area)?;
            let opened = known.open_index(&path);
            // The orders of a file that is open are told all the same.
            let orders = known.orders_of(&path);
            let handles = orders
                .into_iter()
                .map(|order| session.index_handle(area, order))
                .collect::<Result<Vec<_>>>()?;
            let told = match len.is_null() {
                true => Ok(()),
                false => put_all(&handles, indexes, len),
            };
            opened.map(drop).and(told)
        })
    })
}

/// Closes the index file of an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseIndex(index: Handle) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.close_index(order)?;
            session.forget_orders(area);
            Ok(())
        })
    })
}

/// Closes every index file but the one that opens with the table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseAllIndexes(table: Handle) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            session.connection.area(area)?.close_all_indexes()?;
            session.forget_orders(area);
            Ok(())
        })
    })
}

/// Makes an order and opens it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateIndex(
    object: Handle,
    file: Name,
    name: Name,
    expression: Name,
    condition: Name,
    while_condition: Name,
    options: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        create(
            object,
            (file, name),
            (expression, condition, while_condition),
            options,
            answer,
        )
    })
}

/// Makes an order and opens it; the page size is the format's own.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateIndex61(
    object: Handle,
    file: Name,
    name: Name,
    expression: Name,
    condition: Name,
    while_condition: Name,
    options: u32,
    _page_size: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        create(
            object,
            (file, name),
            (expression, condition, while_condition),
            options,
            answer,
        )
    })
}

/// Makes an order and opens it; the page size is the format's own, and the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateIndex90(
    object: Handle,
    file: Name,
    name: Name,
    expression: Name,
    condition: Name,
    while_condition: Name,
    options: u32,
    _page_size: u32,
    collation: Name,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        sorted_by_bytes(collation)?;
        create(
            object,
            (file, name),
            (expression, condition, while_condition),
            options,
            answer,
        )
    })
}

fn create(
    object: Handle,
    (file, name): (Name, Name),
    (expression, condition, while_condition): (Name, Name, Name),
    options: u32,
    answer: Out<Handle>,
) -> Result<()> {
    if options & ADS_FTS_INDEX != 0 {
        let is_conditional = [condition, while_condition].into_iter().map(Name::text);
        let is_conditional = is_conditional.collect::<Result<Vec<_>>>()?;
        if is_conditional.iter().flatten().any(|text| !text.trim().is_empty()) {
            return refuse(ErrorCode::InvalidOption, "a full text index has no condition");
        }
        let words = full_text::given_words(options & !ADS_COMPOUND)?;
        return with_any(object, |session, area, _| {
            let name = name.text()?.unwrap_or_default();
            let order = full_text::create(session, area, (file, &name), &expression.needed()?, &words)?;
            answer.set(session.index_handle(area, order)?)
        });
    }
    let made = given_options(options)?;
    if while_condition
        .text()?
        .is_some_and(|condition| !condition.trim().is_empty())
    {
        return refuse(
            ErrorCode::NotImplemented,
            "an order of the records while a condition holds is not made; use FOR",
        );
    }
    with_any(object, |session, area, _| {
        let settings = settings();
        let known = session.connection.area(area)?;
        let (extension, beside) = (known.options().table_type.index_extension(), known.path().to_owned());
        let path = match file.text()?.filter(|file| !file.trim().is_empty()) {
            Some(file) => Some(session.connection.index_path(&file, extension, &beside, &settings)?),
            None => None,
        };
        let name = name.text()?.unwrap_or_default();
        let (expression, condition) = (expression.needed()?, condition.text()?.unwrap_or_default());
        let condition = Some(condition.trim()).filter(|condition| !condition.is_empty());
        let known = session.connection.area(area)?;
        let order = known.create_index(
            path.as_deref(),
            name.trim(),
            expression.trim(),
            condition,
            &made,
            &watched(),
        );
        session.forget_orders(area);
        let handle = session.index_handle(area, order?)?;
        answer.set(handle)
    })
}

/// What the bits say. Whether a file has several orders follows from its type; keys of Unicode fields are not made, and others wait
/// for an index that is made whether `ADS_ONLINE` is given or not.
fn given_options(options: u32) -> Result<IndexOptions> {
    const TAKEN: u32 = ADS_UNIQUE
        | ADS_CANDIDATE
        | ADS_COMPOUND
        | ADS_CUSTOM
        | ADS_DESCENDING
        | ADS_ONLINE
        | ADS_ALLOW_MULTIPLE_COLLATION
        | ADS_UCHAR_KEY_XLONG;
    const FULL_TEXT: u32 = ADS_FTS_INDEX
        | ADS_FTS_FIXED
        | ADS_FTS_CASE_SENSITIVE
        | ADS_FTS_KEEP_SCORE
        | ADS_FTS_PROTECT_NUMBERS
        | ADS_FTS_ENCODE_UTF8
        | ADS_FTS_ENCODE_UTF16;
    let unknown = match options & !TAKEN {
        0 => None,
        bits if bits & ADS_BINARY_INDEX != 0 => Some("binary indexes"),
        bits if bits & FULL_TEXT != 0 => {
            return refuse(ErrorCode::InvalidOption, "options of full text need ADS_FTS_INDEX");
        }
        bits if bits & ADS_NOT_AUTO_OPEN != 0 => Some("production indexes that do not open with their table"),
        bits => return refuse(ErrorCode::InvalidOption, format!("{bits:#x} is no option of an index")),
    };
    match unknown {
        Some(what) => refuse(ErrorCode::NotImplemented, format!("{what} are not made")),
        None => Ok(IndexOptions {
            is_unique: options & ADS_UNIQUE != 0,
            is_candidate: options & ADS_CANDIDATE != 0,
            is_descending: options & ADS_DESCENDING != 0,
            is_custom: options & ADS_CUSTOM != 0,
        }),
    }
}

/// Drops an order, and with the last one its file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeleteIndex(index: Handle) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.delete_index(order)?;
            session.forget_orders(area);
            Ok(())
        })
    })
}

/// Makes the orders of all open index files anew.
#[unsafe(no_mangle)]
pub extern "C" fn AdsReindex(object: Handle) -> u32 {
    call(|| with_area(object, |area| area.reindex(&watched())))
}

/// As [`AdsReindex`]; the page size is the format's own.
#[unsafe(no_mangle)]
pub extern "C" fn AdsReindex61(object: Handle, _page_size: u32) -> u32 {
    AdsReindex(object)
}

/// How many orders are open.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumIndexes(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(u16::try_from(area.orders().count()).unwrap_or(u16::MAX))
        })
    })
}

/// An open order by its name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexHandle(table: Handle, name: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let order = session.connection.area(area)?.order_named(&name.needed()?)?;
            answer.set(session.index_handle(area, order)?)
        })
    })
}

/// An open order by its number, from 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexHandleByOrder(table: Handle, number: u16, answer: Out<Handle>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let place = usize::from(number).checked_sub(1);
            let order = place.and_then(|place| session.connection.area(area).ok()?.orders().nth(place));
            match order {
                Some(order) => answer.set(session.index_handle(area, order)?),
                None => refuse(ErrorCode::InvalidIndexOrderName, format!("no order {number} is open")),
            }
        })
    })
}

/// An open order by its expression.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexHandleByExpr(
    table: Handle,
    expression: Name,
    descending: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let expression = expression.needed()?;
            let known = session.connection.area(area)?;
            let orders: Vec<OrderId> = known.orders().collect();
            for order in orders {
                let tag = session.connection.area(area)?.order_tag(order)?;
                let is_meant = tag.expression.trim().eq_ignore_ascii_case(expression.trim());
                if is_meant && tag.is_descending == (descending != 0) {
                    return answer.set(session.index_handle(area, order)?);
                }
            }
            refuse(ErrorCode::NotFound, format!("no open order is by {expression:?}"))
        })
    })
}

/// The number of an order among those that are open, from 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexOrderByHandle(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let place = session.connection.area(area)?.orders().position(|known| known == order);
            answer.set(
                place
                    .and_then(|place| u16::try_from(place + 1).ok())
                    .unwrap_or_default(),
            )
        })
    })
}

fn with_tag(index: Handle, work: impl FnOnce(&Tag) -> Result<()>) -> Result<()> {
    with_order(index, |session, area, order| {
        work(&session.connection.area(area)?.order_tag(order)?)
    })
}

/// The name of an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexName(index: Handle, name: Bytes, len: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| name.put(tag.name.as_bytes(), len)))
}

/// The expression of an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexExpr(index: Handle, expression: Bytes, len: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| expression.put(tag.expression.as_bytes(), len)))
}

/// The condition of an order; empty when it has every record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexCondition(index: Handle, condition: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_tag(index, |tag| {
            condition.put(tag.condition.as_deref().unwrap_or_default().as_bytes(), len)
        })
    })
}

/// The name of an order's file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexFilename(index: Handle, option: u16, name: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let part = part_of(session.connection.area(area)?.index_path(order)?, option)?;
            name.put(part.as_bytes(), len)
        })
    })
}

/// Whether an order has one record a key.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexUnique(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| answer.set(tag.is_unique.into())))
}

/// Whether an order refuses a second record with a key.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexCandidate(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| answer.set(tag.is_candidate.into())))
}

/// Whether the key of an order can be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexNullable(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            answer.set(session.connection.area(area)?.is_nullable(order)?.into())
        })
    })
}

/// The columns of a table or cursor that tell a record from every other, with semicolons between them; empty for none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetKeyColumn(table: Handle, columns: Bytes, len: Out<u16>) -> u32 {
    call(|| with_area(table, |area| columns.put(area.key_columns()?.as_bytes(), len)))
}

/// Whether an order is filled by programs.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexCustom(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let area = session.connection.area(area)?;
            let tag = area.order_tag(order)?;
            match area.options().table_type == TableType::Ntx && !tag.is_custom {
                true => refuse(
                    ErrorCode::InvalidIndexType,
                    "no index of this type is filled by programs",
                ),
                false => answer.set(tag.is_custom.into()),
            }
        })
    })
}

/// Whether an order is a full text index.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexFTS(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| answer.set(tag.is_full_text.into())))
}

/// Whether an order is the primary key of its table: dictionaries alone say so.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexPrimaryKey(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |_| answer.set(0)))
}

/// The collation that an order was opened with: none was named.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexCollation(index: Handle, collation: Bytes, len: Out<u16>) -> u32 {
    call(|| with_tag(index, |_| collation.put(b"", len)))
}

/// Whether an order is walked from the highest key to the lowest.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexDescending(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            answer.set(session.connection.area(area)?.is_descending(order)?.into())
        })
    })
}

/// Whether an order is in a file of several.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexCompound(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let path = session.connection.area(area)?.index_path(order)?;
            answer.set(is_compound(path).into())
        })
    })
}

fn is_compound(path: &Path) -> bool {
    !path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("ntx"))
}

/// Walks an order the other way round, or as it is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetIndexDirection(index: Handle, is_reversed: u16) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.set_direction(order, is_reversed != 0)
        })
    })
}

/// The type of an order's keys.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetKeyType(index: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            answer.set(match session.connection.area(area)?.key_type(order)? {
                KeyType::Character => ADS_STRING,
                KeyType::Number => ADS_NUMERIC,
                KeyType::Date => ADS_DATE,
                KeyType::Logical => ADS_LOGICAL,
                KeyType::Timestamp => ADS_RAW,
            })
        })
    })
}

/// The length of an order's keys.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetKeyLength(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |tag| answer.set(u16::try_from(tag.key_len).unwrap_or(u16::MAX))))
}

/// The key of the current record in an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExtractKey(index: Handle, key: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            key.put(&session.connection.area(area)?.extract_key(order)?, len)
        })
    })
}

/// Begins a key for an order: the functions that set fields then set those of the key, when they are given the order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsInitRawKey(index: Handle) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.begin_raw_key(order)
        })
    })
}

/// The key of the fields that were set, up to where they end.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBuildRawKey(index: Handle, key: Bytes, len: Out<u16>) -> u32 {
    AdsBuildRawKey100(index, key, len, ADS_GET_DEFAULT_KEY_LENGTH)
}

/// The key of the fields that were set, as long as an option says.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBuildRawKey100(index: Handle, key: Bytes, len: Out<u16>, options: u32) -> u32 {
    call(|| {
        let length = match options {
            ADS_GET_DEFAULT_KEY_LENGTH => KeyLength::Partial,
            ADS_GET_PARTIAL_FULL_KEY_LENGTH => KeyLength::Fields,
            ADS_GET_FULL_KEY_LENGTH => KeyLength::Full,
            other => return refuse(ErrorCode::InvalidOption, format!("{other} is no length of a key")),
        };
        with_order(index, |session, area, order| {
            key.put(&session.connection.area(area)?.raw_key(order, length)?, len)
        })
    })
}

/// Bounds an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetScope(index: Handle, which: u16, key: Bytes, len: u16, key_type: u16) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let known = session.connection.area(area)?;
            let given = given_key(key, len, key_type, (known, order))?;
            known.set_scope(order, is_top(which)?, given.as_key(), &settings())
        })
    })
}

/// A bound of an order as the order stores it; an error when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetScope(index: Handle, which: u16, key: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            key.put(session.connection.area(area)?.scope(order, is_top(which)?)?, len)
        })
    })
}

/// Takes a bound away.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearScope(index: Handle, which: u16) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.clear_scope(order, is_top(which)?)
        })
    })
}

/// Takes the bounds of every order away.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearAllScopes(table: Handle) -> u32 {
    call(|| {
        with_area(table, |area| {
            let orders: Vec<OrderId> = area.orders().collect();
            for order in orders {
                for is_top in [true, false] {
                    match area.clear_scope(order, is_top) {
                        Err(error) if error.code() != ErrorCode::NoScope => return Err(error),
                        _ => {}
                    }
                }
            }
            Ok(())
        })
    })
}

fn is_top(which: u16) -> Result<bool> {
    match which {
        ADS_TOP => Ok(true),
        ADS_BOTTOM => Ok(false),
        other => refuse(ErrorCode::InvalidOption, format!("{other} is no bound of a scope")),
    }
}

/// Puts the current record into an order that programs fill.
#[unsafe(no_mangle)]
pub extern "C" fn AdsAddCustomKey(index: Handle) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.change_custom_key(order, true)
        })
    })
}

/// Takes the current record out of an order that programs fill.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeleteCustomKey(index: Handle) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            session.connection.area(area)?.change_custom_key(order, false)
        })
    })
}

/// How an order was made: the options of [`AdsCreateIndex`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexFlags(index: Handle, answer: Out<u32>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let area = session.connection.area(area)?;
            let (tag, is_compound) = (area.order_tag(order)?, is_compound(area.index_path(order)?));
            let flags = [
                (tag.is_unique, ADS_UNIQUE),
                (tag.is_candidate, ADS_CANDIDATE),
                (is_compound, ADS_COMPOUND),
                (tag.is_custom, ADS_CUSTOM),
                (tag.is_descending, ADS_DESCENDING),
                (tag.is_full_text, ADS_FTS_INDEX),
            ];
            let words = tag.full_text.as_ref().map_or(0, |words| words.option_bits());
            let set = flags.iter().filter(|(is_set, _)| *is_set);
            answer.set(set.fold(words, |flags, (_, flag)| flags | flag))
        })
    })
}

/// Whether the keys of an order are made by a function of the program: those of none here are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexUserDefined(index: Handle, answer: Out<u16>) -> u32 {
    call(|| with_tag(index, |_| answer.set(0)))
}

/// The numbers of the fields that an order's expression names, from 1, in the order in which it does.
fn segments(index: Handle) -> Result<Vec<u16>> {
    with_order(index, |session, area, order| {
        let area = session.connection.area(area)?;
        let fields = area.fields_of_key(order)?.into_iter();
        Ok(fields
            .map(|field| u16::try_from(field + 1).unwrap_or(u16::MAX))
            .collect())
    })
}

/// How many fields an order's expression names.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumSegments(index: Handle, answer: Out<u16>) -> u32 {
    call(|| answer.set(u16::try_from(segments(index)?.len()).unwrap_or(u16::MAX)))
}

/// The numbers of the fields that an order's expression names, for an array of as many as [`AdsGetNumSegments`] says. What stands
/// at the place of the count is not read: SAP's own bindings and those of X# pass it for an answer alone.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSegmentFieldNumbers(index: Handle, count: Out<u16>, fields: Out<u16>) -> u32 {
    call(|| {
        let segments = segments(index)?;
        count.set(u16::try_from(segments.len()).unwrap_or(u16::MAX))?;
        let mut places = segments.iter().enumerate();
        places.try_for_each(|(at, field)| fields.set_at(at, *field))
    })
}

/// The name of one of the fields that an order's expression names, from 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSegmentFieldname(index: Handle, number: u16, name: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let (field, _) = segment(index, number)?;
        with_order(index, |session, area, _| {
            let area = session.connection.area(area)?;
            name.put(area.field(field)?.name.as_bytes(), len)
        })
    })
}

/// Where in a key the bytes of one of the fields begin that an order's expression names, from 0.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSegmentOffset(index: Handle, number: u16, answer: Out<u16>) -> u32 {
    call(|| {
        let (_, at) = segment(index, number)?;
        with_order(index, |session, area, order| {
            let offset = session.connection.area(area)?.offset_in_key(order, at)?;
            answer.set(u16::try_from(offset).unwrap_or(u16::MAX))
        })
    })
}

/// Whether one of the fields that an order's expression names descends: all do where the order does.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsSegmentDescending(index: Handle, number: u16, answer: Out<u16>) -> u32 {
    call(|| {
        segment(index, number)?;
        with_order(index, |session, area, order| {
            let tag = session.connection.area(area)?.order_tag(order)?;
            answer.set(tag.is_descending.into())
        })
    })
}

/// The place of a field that an order's expression names among those of the table, and its own among these, both from 0.
fn segment(index: Handle, number: u16) -> Result<(usize, usize)> {
    let segments = segments(index)?;
    let at = usize::from(number).wrapping_sub(1);
    match segments.get(at) {
        Some(field) => Ok((usize::from(*field) - 1, at)),
        None => refuse(
            ErrorCode::InvalidFieldNumber,
            format!(
                "the order has {} segments, numbered from 1, and {number} is none of them",
                segments.len()
            ),
        ),
    }
}

/// Whether an expression can be that of an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsIndexExprValid(table: Handle, expression: Name, answer: Out<u16>) -> u32 {
    call(|| {
        let expression = expression.needed()?;
        with_area(table, |area| answer.set(area.is_valid_key(&expression).into()))
    })
}

/// The key that the bytes of a record have in an order, whether its condition holds of them or not.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBuildKeyFromRecord(
    index: Handle,
    record: Bytes,
    record_len: u32,
    key: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let record = record.read(record_len as usize)?;
        with_order(index, |session, area, order| {
            key.put(&session.connection.area(area)?.key_of_bytes(order, record)?, len)
        })
    })
}
