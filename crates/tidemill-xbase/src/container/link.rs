//! The way from a table to its container: the name in the last 263 bytes of the header of a Visual FoxPro table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Container, ContainerField, ContainerTable, last_part, open_known};
use crate::codepage::CodePage;
use crate::error::Error;
use crate::field::{Field, Fields};
use crate::header::{Dialect, Header};
use crate::own_name::folder_of;
use crate::source::Source;

/// How many bytes stand behind the field descriptors of a Visual FoxPro table: the path of its container, zeros for a table
/// without one.
pub(crate) const BACKLINK: usize = 263;

/// Which container a table names, and whether its names are used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ContainerLink {
    /// The table names none: a free table, or one of another program.
    #[default]
    Free,
    /// The fields have the names that the container gives them.
    Used {
        /// The container.
        container: Arc<Container>,
        /// The place of the table in [`Container::tables`].
        table: usize,
    },
    /// The table names a container, and the fields have the names in the table's header all the same.
    Unused {
        /// The container's path as the table has it.
        name: String,
        /// Why it is not used, for a person.
        why: String,
    },
}

impl ContainerLink {
    /// What the container says of the table, where it is used.
    pub fn table(&self) -> Option<&ContainerTable> {
        match self {
            Self::Used { container, table } => container.tables().get(*table),
            _ => None,
        }
    }

    /// Whether the container that is used certainly still is what it was.
    pub(crate) fn is_current(&self) -> bool {
        match self {
            Self::Used { container, .. } => container.is_current(),
            _ => true,
        }
    }

    /// What the container says of the fields, in the order of [`Table::fields`](crate::Table::fields); empty where it is not used.
    pub fn fields(&self) -> &[ContainerField] {
        self.table().map_or(&[], |table| table.fields.as_slice())
    }
}

/// Looks for the container of a table, and gives the fields its names.
pub(crate) fn link_of(
    source: &Source,
    header: &Header,
    fields: &Arc<Fields>,
    codepage: CodePage,
) -> (ContainerLink, Arc<Fields>) {
    let free = || (ContainerLink::Free, Arc::clone(fields));
    let Some(name) = backlink(source, header, fields, codepage) else {
        return free();
    };
    let unused = |why: String| {
        let name = name.clone();
        (ContainerLink::Unused { name, why }, Arc::clone(fields))
    };
    let Some(path) = beside_table(source.path(), last_part(&name)) else {
        return unused("it does not lie in the table's folder".to_owned());
    };
    let container = match open_known(&path) {
        Ok(container) => container,
        Err(e) => return unused(reason(&e)),
    };
    let Some(index) = container.index_of(source.path()) else {
        return unused("it does not know the table".to_owned());
    };
    let described = container
        .tables()
        .get(index)
        .map_or(&[][..], |table| table.fields.as_slice());
    match long_names(&fields.visible, described) {
        Ok(names) => match fields.with_long_names(&names) {
            Some(renamed) => (
                ContainerLink::Used {
                    container,
                    table: index,
                },
                Arc::new(renamed),
            ),
            None => free(),
        },
        Err(why) => unused(why),
    }
}

/// The path of the container that the header has; `None` for a free table.
fn backlink(source: &Source, header: &Header, fields: &Fields, codepage: CodePage) -> Option<String> {
    if header.dialect != Dialect::VisualFoxPro || header.database {
        return None;
    }
    let at = u64::from(header.header_len).checked_sub(BACKLINK as u64)?;
    // A header that ends behind its descriptors, as other programs write it, has no such place.
    let last = fields.visible.iter().map(|field| field.descriptor_at).max()?;
    if at < last + 33 {
        return None;
    }
    let mut window = Vec::new();
    let bytes = source.read("name of the database", at, BACKLINK, &mut window).ok()?;
    let bytes = bytes.split(|byte| *byte == 0).next()?;
    let name = codepage.decode(bytes).trim().to_owned();
    let is_container = Path::new(last_part(&name))
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("dbc"));
    is_container.then_some(name)
}

/// The file of this name beside the table, in any case.
pub(super) fn beside_table(table: &Path, name: &str) -> Option<PathBuf> {
    let folder = folder_of(table);
    let exact = folder.join(name);
    if std::fs::symlink_metadata(&exact).is_ok() {
        return Some(exact);
    }
    let wanted = name.to_lowercase();
    let mut entries = std::fs::read_dir(folder).ok()?.flatten();
    let found = entries.find(|entry| entry.file_name().to_string_lossy().to_lowercase() == wanted);
    found.map(|entry| entry.path())
}

/// The long names of the fields, each of which must begin as the name in the header does, but for the digits that tell short names
/// apart: another container of the same name would give the fields strange ones.
fn long_names(fields: &[Field], described: &[ContainerField]) -> Result<Vec<String>, String> {
    if fields.len() != described.len() {
        let (own, there) = (fields.len(), described.len());
        return Err(format!("it knows {there} fields of the table, which has {own}"));
    }
    for (field, described) in fields.iter().zip(described) {
        let short = field
            .short_name
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == char::REPLACEMENT_CHARACTER)
            .to_uppercase();
        if !described.name.to_uppercase().starts_with(&short) {
            let (short, long) = (&field.short_name, &described.name);
            return Err(format!("it has {long} where the table has {short}"));
        }
    }
    Ok(described.iter().map(|field| field.name.clone()).collect())
}

fn reason(e: &Error) -> String {
    match e {
        Error::Io { source, .. } => format!("it cannot be read: {source}"),
        e => e.to_string(),
    }
}
