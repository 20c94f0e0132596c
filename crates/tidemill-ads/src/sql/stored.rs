//! Procedures that a data dictionary keeps: their parameters are the variables `_name` and the row of `__input`, what they give the rows of
//! `__output`.

use tidemill_xbase::FieldSpec;

use super::answer::{Answer, Rows};
use super::connection_tables::ConnectionTables;
use super::error::{Error, Kind, Result};
use super::frames;
use super::given::{self, GivenTables};
use super::prepared::Prepared;
use super::script::{self, Given};
use super::statement::TableName;
use super::tables::Tables as _;
use super::value::{Type, Value};
use crate::field_definitions::fields;
use crate::{ErrorCode, TableType};

/// A procedure.
#[derive(Debug, Clone)]
pub(crate) struct StoredProgram {
    pub(crate) name: String,
    /// What it takes and the columns that it gives, as in `AdsCreateTable`.
    pub(crate) input: String,
    pub(crate) output: String,
    /// The script, or the library and its function.
    pub(crate) body: Result<String, [String; 2]>,
}

const INPUT: &str = "__input";
const OUTPUT: &str = "__output";

/// Runs a procedure in the transaction that there is.
///
/// # Errors
/// [`Kind::NoFunction`] for another number of arguments; the first fault that the script does not catch;
/// [`ErrorCode::StoredProcedureFailed`] for one in a library.
pub(super) fn run(procedure: &StoredProgram, arguments: &[Value], tables: &mut ConnectionTables<'_>) -> Result<Answer> {
    let name = &procedure.name;
    let script = match &procedure.body {
        Ok(script) => script,
        Err([library, function]) => {
            let what =
                format!("procedure {name} is the function {function} of {library}, and libraries are not loaded");
            return Err(crate::Error::new(ErrorCode::StoredProcedureFailed, what).into());
        }
    };
    let (input, output) = (definitions(&procedure.input)?, definitions(&procedure.output)?);
    if arguments.len() != input.len() {
        let why = format!(
            "{name} takes {} arguments, and {} are given",
            input.len(),
            arguments.len()
        );
        return Err(Error::new(Kind::NoFunction, why));
    }
    let mut given = GivenTables::default();
    for (table, fields) in [(INPUT, &input), (OUTPUT, &output)] {
        if !fields.is_empty() {
            given.make(table, fields)?;
        }
    }
    let around = tables.give(given);
    let done = script::called(name, || within(script, arguments, !output.is_empty(), tables));
    tables.give(around);
    done
}

/// Runs a script over the tables that it is given.
fn within(script: &str, arguments: &[Value], has_output: bool, tables: &mut ConnectionTables<'_>) -> Result<Answer> {
    let mut around = Given::default();
    if !arguments.is_empty() {
        let places = vec!["?"; arguments.len()].join(", ");
        Prepared::new(&format!("INSERT INTO {INPUT} VALUES ( {places} )"), tables)?.run(tables, arguments)?;
        let (names, rows) = given::rows(INPUT, tables)?;
        let values = rows.into_iter().next().unwrap_or_default();
        let columns = frames::columns(&*tables.snapshot(&TableName::new(INPUT))?).into_iter();
        let types = columns.map(|column| match column.type_of {
            Type::Text(_) | Type::Memo => Type::Text(0),
            other => other,
        });
        let variables = names.into_iter().zip(values).zip(types);
        around.variables = variables
            .map(|((name, value), type_of)| (format!("_{}", name.to_ascii_uppercase()), value, type_of))
            .collect();
    }
    script::run(script, around, tables)?;
    match has_output {
        true => given::answer(OUTPUT, tables).map(Answer::Rows),
        false => Ok(Answer::Done),
    }
}

/// No rows, of the columns that a procedure gives.
///
/// # Errors
/// [`Kind::Unsupported`] for one that gives none.
pub(super) fn shape_of(procedure: &StoredProgram, tables: &mut ConnectionTables<'_>) -> Result<Rows> {
    let output = definitions(&procedure.output)?;
    if output.is_empty() {
        let why = format!("Procedure {} gives no rows", procedure.name);
        return Err(Error::new(Kind::Unsupported, why));
    }
    let mut given = GivenTables::default();
    given.make(OUTPUT, &output)?;
    let around = tables.give(given);
    let shape = given::answer(OUTPUT, tables);
    tables.give(around);
    shape
}

/// The fields of definitions as those of `AdsCreateTable`.
///
/// # Errors
/// [`ErrorCode::InvalidFieldDefinition`].
pub(crate) fn definitions(text: &str) -> crate::Result<Vec<FieldSpec>> {
    fields(text, TableType::Adt)
}
