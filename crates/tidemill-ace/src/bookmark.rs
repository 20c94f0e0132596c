//! Bookmarks: places that programs go back to.

use tidemill_ads::{Bookmark, ErrorCode, Result};

use crate::call::{call, refuse};
use crate::constants::*;
use crate::handle::{Handle, with_any};
use crate::movement::AdsGotoRecord;
use crate::pointers::{Bytes, Out};

/// The number of the current record, in the place of a handle.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBookmark(table: Handle, answer: Out<Handle>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            answer.set(session.connection.area(area)?.record_number()?.into())
        })
    })
}

/// Goes to the record of [`AdsGetBookmark`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoBookmark(table: Handle, bookmark: Handle) -> u32 {
    match u32::try_from(bookmark) {
        Ok(record) => AdsGotoRecord(table, record),
        Err(_) => call(|| refuse(ErrorCode::InvalidBookmark, format!("{bookmark} is no bookmark"))),
    }
}

/// How long bookmarks of a table are, or of an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBookmarkLength(object: Handle, answer: Out<u32>) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let area = session.connection.area(area)?;
            let key_len = match order {
                Some(order) => area.order_tag(order)?.key_len,
                None => 0,
            };
            answer.set(u32::try_from(Bookmark::len_of(key_len)).unwrap_or(u32::MAX))
        })
    })
}

/// The place of the current record, in a table or an order.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBookmark60(object: Handle, bookmark: Bytes, len: Out<u32>) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            bookmark.put(&session.connection.area(area)?.bookmark(order)?.to_bytes(), len)
        })
    })
}

/// Goes to the record of a bookmark.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoBookmark60(object: Handle, bookmark: Bytes) -> u32 {
    call(|| {
        let bookmark = given(bookmark)?;
        with_any(object, |session, area, _| {
            match session
                .connection
                .go_to(area, bookmark.record, session.settings.now())?
            {
                true => Ok(()),
                false => refuse(
                    ErrorCode::InvalidBookmark,
                    format!("the table has no record {}", bookmark.record),
                ),
            }
        })
    })
}

/// Which of two bookmarks comes first: by their keys if they were made of an order, else by the numbers of their records.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCompareBookmarks(one: Bytes, other: Bytes, answer: Out<i32>) -> u32 {
    call(|| {
        answer.set(match given(one)?.compare(&given(other)?) {
            std::cmp::Ordering::Less => ADS_CMP_LESS,
            std::cmp::Ordering::Equal => ADS_CMP_EQUAL,
            std::cmp::Ordering::Greater => ADS_CMP_GREATER,
        })
    })
}

/// A bookmark tells itself how long it is.
fn given(bytes: Bytes) -> Result<Bookmark> {
    Bookmark::read(|len| bytes.read(len))
}
