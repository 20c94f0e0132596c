//! SQLite, its own storage in memory.

use rusqlite::Connection;

use super::{Line, Question, Reference, Spread};

/// Puts the questions of SQL, without an index.
///
/// # Errors
///
/// What SQLite says.
pub fn ask(reference: &Reference, repeats: usize) -> rusqlite::Result<Vec<Line>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch("CREATE TABLE t (ID INTEGER PRIMARY KEY, TAG TEXT NOT NULL, CENTS INTEGER NOT NULL)")?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO t VALUES (?1, ?2, ?3)")?;
        for (id, (tag, cents)) in (1_i64..).zip(&reference.rows) {
            insert.execute((id, String::from(char::from(*tag)).repeat(4), cents))?;
        }
    }
    transaction.commit()?;
    let mut lines = Vec::new();
    for question in Question::SQL {
        let mut statement = connection.prepare(question.sql().unwrap_or_default())?;
        let columns = statement.column_count();
        let mut run = || -> rusqlite::Result<Vec<i64>> {
            let mut rows = statement.query(())?;
            let mut answer = Vec::new();
            while let Some(row) = rows.next()? {
                for column in 0..columns {
                    answer.push(row.get(column)?);
                }
            }
            Ok(answer)
        };
        lines.push(Line {
            question,
            filter: None,
            engine: format!("SQLite {}", rusqlite::version()),
            times: Spread::measure(repeats, &Ok(reference.answer(question)), || (), |()| run()),
            units: reference.rows.len(),
            calls: 0,
            note: String::new(),
        });
    }
    Ok(lines)
}
