//! The served folders and databases, each under the name of a schema, and the sessions over them.

use std::path::{Path, PathBuf};

use tidemill_sql::{Location, ServerUrl, Session, SessionOptions};

use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::users::Rights;

/// The schema of the first folder, whose tables may be named without it. PostgreSQL's clients look in the schema of this name first.
pub(crate) const PUBLIC: &str = "public";

/// The served stores.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    /// The options of sessions, without names.
    base: SessionOptions,
    /// Names of schemas, with their paths or URLs.
    schemas: Vec<(String, String)>,
    /// Folders whose files may be named by absolute paths, by users with access to all schemas.
    allowed_paths: Vec<PathBuf>,
}

/// A table, by its name in statements.
#[derive(Clone, Debug)]
pub(crate) struct NamedTable {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) location: Location,
}

impl Stores {
    /// # Errors
    ///
    /// [`Error::Settings`] for a folder that does not exist and for two schemas of one name; [`Error::Store`] for a store that does not
    /// exist.
    pub(crate) fn new(
        base: SessionOptions,
        folders: &[PathBuf],
        attached: &[(String, String)],
        allowed_paths: &[PathBuf],
    ) -> Result<Self> {
        let mut schemas = Vec::new();
        for (number, folder) in folders.iter().enumerate() {
            let is_place = folder.is_dir() || folder.to_str().is_some_and(|text| text.contains("://"));
            if !is_place {
                return Err(Error::Settings {
                    what: format!("{}: no such folder", folder.display()),
                    hint: "name a folder with tables, or attach a table by --attach NAME=FILE".to_owned(),
                });
            }
            let name = match number {
                0 => PUBLIC.to_owned(),
                _ => name_of(folder)?,
            };
            // Sessions need an absolute path.
            let whole = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            schemas.push((name, whole.to_string_lossy().into_owned()));
        }
        schemas.extend(attached.iter().cloned());
        for (place, (name, _)) in schemas.iter().enumerate() {
            let is_taken = schemas
                .iter()
                .take(place)
                .any(|(other, _)| other.eq_ignore_ascii_case(name));
            if is_taken {
                return Err(Error::Settings {
                    what: format!("two folders or stores would be named {name}"),
                    hint: "give one of them another name by --attach NAME=PLACE".to_owned(),
                });
            }
        }
        let allowed_paths = allowed_paths.iter().map(|folder| {
            let whole = folder.canonicalize().ok().filter(|folder| folder.is_dir());
            whole.ok_or_else(|| Error::Settings {
                what: format!("{}: no such folder", folder.display()),
                hint: "name the folder whose paths are allowed".to_owned(),
            })
        });
        let stores = Self {
            base,
            schemas,
            allowed_paths: allowed_paths.collect::<Result<_>>()?,
        };
        stores.session(&Rights::of_everybody()).check_attached()?;
        Ok(stores)
    }

    /// A session for a user with these rights.
    pub(crate) fn session(&self, rights: &Rights) -> Session {
        self.session_as(self.base.clone(), rights)
    }

    /// A session in which deleted records of xBase tables are rows too, marked by a column.
    pub(crate) fn session_with_deleted(&self, rights: &Rights) -> Session {
        self.session_as(self.base.clone().marking_deleted(), rights)
    }

    fn session_as(&self, options: SessionOptions, rights: &Rights) -> Session {
        let mut options = options.confined(true);
        if let Some(memory) = rights.memory {
            options = options.memory(memory);
        }
        if rights.schemas.is_none() {
            options = self.allowed_paths.iter().fold(options, SessionOptions::allow_paths);
        }
        for (name, place) in self.schemas.iter().filter(|(name, _)| rights.has_schema(name)) {
            if name == PUBLIC {
                options = options.dir(place);
            }
            options = options.attach(name, place);
        }
        Session::new(options)
    }

    /// What a user's copies create in a schema; `None` if the user may not copy there.
    pub(crate) fn target(&self, rights: &Rights, schema: &str) -> Option<TargetKind> {
        let place = self.place(rights, schema).filter(|_| rights.may_write)?;
        if let Some(url) = ServerUrl::new(place) {
            return (!url.names_table()).then_some(TargetKind::Database);
        }
        let is_folder = match place.split_once("://") {
            Some((scheme, _)) => !scheme.starts_with("http") && Location::destination_in(place, "t.parquet").is_ok(),
            None => Path::new(place).is_dir(),
        };
        is_folder.then_some(TargetKind::Folder)
    }

    /// The destination of a user's copy.
    ///
    /// # Errors
    ///
    /// SQLSTATE 3F000 for a schema that cannot be copied into, 42602 for a name that could lead outside it, 22023 for a format that is not
    /// one of [`formats`].
    pub(crate) fn destination(
        &self,
        rights: &Rights,
        schema: &str,
        name: &str,
        format: Option<&str>,
    ) -> Result<Location, Failure> {
        let kind = self.target(rights, schema);
        let (Some(kind), Some(place)) = (kind, self.place(rights, schema)) else {
            let failure = Failure::new(
                "3F000",
                format!("{schema}: no copy can be made in a schema of this name"),
            );
            return Err(failure.with_hint("GET /tables tells the schemas that have a target"));
        };
        let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ' ');
        let is_name = !name.trim().is_empty() && name.len() <= 200 && name.chars().all(is_plain);
        if !is_name || name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) {
            let failure = Failure::new("42602", format!("{name:?} cannot be the name of a new table"));
            return Err(failure.with_hint("use letters, digits, blanks, _ and -, and points within the name"));
        }
        let found = match (kind, ServerUrl::new(place)) {
            (TargetKind::Database, Some(url)) => Location::server(url.with_table(name)),
            _ => match format.filter(|format| formats().contains(format)) {
                Some(format) => Location::destination_in(place, &format!("{name}.{format}")),
                None => {
                    let failure = Failure::new("22023", "the format of a file in a folder is not one that is known");
                    return Err(failure.with_hint(format!("one of {}", formats().join(", "))));
                }
            },
        };
        found.map_err(|error| Failure::of(&error, ""))
    }

    fn place(&self, rights: &Rights, schema: &str) -> Option<&str> {
        let mut known = self.schemas.iter().filter(|(name, _)| rights.has_schema(name));
        let (_, place) = known.find(|(name, _)| name.eq_ignore_ascii_case(schema))?;
        Some(place)
    }

    /// The schemas that a user may name, the first folder's first.
    pub(crate) fn schemas(&self, rights: &Rights) -> Vec<String> {
        let names = self.schemas.iter().map(|(name, _)| name);
        names.filter(|name| rights.has_schema(name)).cloned().collect()
    }
}

/// What copies create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// Files, in the formats of their extensions.
    Folder,
    /// Tables.
    Database,
}

impl TargetKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Database => "database",
        }
    }
}

/// The extensions of the files that copies create.
pub(crate) fn formats() -> Vec<&'static str> {
    const EXTENSIONS: [&str; 11] = [
        "dbf",
        "adt",
        "parquet",
        "csv",
        "jsonl",
        "json",
        "arrow",
        "xlsx",
        "riegeli",
        "tfrecord",
        "array_record",
    ];
    let is_known = |extension: &&str| Location::destination_in("", &format!("t.{extension}")).is_ok();
    EXTENSIONS.into_iter().filter(is_known).collect()
}

/// The tables that a session finds.
///
/// # Errors
///
/// As [`Session::all_tables`].
pub(crate) async fn tables_of(session: &Session) -> tidemill_sql::Result<Vec<NamedTable>> {
    let mut found = Vec::new();
    for (schema, tables) in session.all_tables().await? {
        // The first folder is also attached as `public`, and was listed already.
        if schema.as_deref() == Some(PUBLIC) && !found.is_empty() {
            continue;
        }
        let schema = schema.unwrap_or_else(|| PUBLIC.to_owned());
        found.extend(tables.into_iter().map(|(name, location)| NamedTable {
            schema: schema.clone(),
            name,
            location,
        }));
    }
    Ok(found)
}

fn name_of(folder: &Path) -> Result<String> {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().map(|name| name.to_string_lossy().to_lowercase());
    name.ok_or_else(|| Error::Settings {
        what: format!("{}: a folder without a name", folder.display()),
        hint: "give it one by --attach NAME=FOLDER".to_owned(),
    })
}
