//! Links to other data dictionaries, whose tables statements read as `link.table` (SAP's help, "Linked Data Dictionaries").
//!
//! A link is the connection's own, or kept in the dictionary for everybody. Where the program names the other dictionary, it decides what is
//! opened; where the dictionary does, this leads to files of its own folder, and of mapped drives, as for its tables.
//!
//! # What this module does not do
//!
//! Links are read-only. Triggers and functions have no user in the linked dictionary, and so no rights there.
//! Views, procedures and functions of the other dictionary are not seen. A password is
//! not kept in a dictionary: such a link takes the user of the connection, or one without a password.

use std::fmt;
use std::path::{Path, PathBuf};

use super::administration::{found, invalid_name, invalid_property, not_set, put_text, set_text, text_of};
use super::object::{Kind, Object, place};
use super::programs::{new_object, text_or_empty};
use super::property::{ObjectKind, PropertyValue};
use super::{Dictionary, Login, Rights};
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// A link that a connection or a dictionary is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewLink<'l> {
    /// Its name.
    pub alias: &'l str,
    /// The file of the other dictionary, from the folder of this one.
    pub path: &'l str,
    /// Who reads there, and his password.
    pub user: (&'l str, &'l str),
    /// How it is kept, and who reads.
    pub options: LinkOptions,
}

/// How a link is kept, and who reads through it, as bits (`ADS_LINK_GLOBAL` and its like).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkOptions(pub u32);

impl LinkOptions {
    /// It is kept in the dictionary, for everybody.
    pub const GLOBAL: Self = Self(1);
    /// The user of the connection reads, with his password.
    pub const ACTIVE_USER: Self = Self(2);
    /// The dictionary keeps the whole path, and not that from its folder.
    pub const STATIC_PATH: Self = Self(4);

    /// Whether all of others are among these.
    #[must_use]
    pub fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// What a connection has open of other dictionaries, and whom it says there that it is.
#[derive(Debug, Default)]
pub(crate) struct Links {
    active: Vec<Link>,
    pub(crate) credentials: Credentials,
}

/// A user and his password, as he gave them, and whether dictionaries are trusted without.
#[derive(Clone, Default)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) trusts: bool,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .field("trusts", &self.trusts)
            .finish_non_exhaustive()
    }
}

impl Links {
    /// Reads the linked dictionaries again if they have changed, and returns whether any has. One that cannot be read is an error of the
    /// statement that reads through the link.
    pub(crate) fn renew(&mut self) -> bool {
        let mut is_new = false;
        for link in &mut self.active {
            is_new |= link.dictionary.renew().unwrap_or(true);
        }
        is_new
    }
}

/// A link that is open.
#[derive(Debug)]
struct Link {
    /// Empty for one that a statement named by its path.
    alias: String,
    user: String,
    dictionary: Dictionary,
    login: Login,
}

impl Link {
    fn is_called(&self, name: &str) -> bool {
        !self.alias.is_empty() && self.alias.eq_ignore_ascii_case(name.trim())
    }
}

impl Connection {
    /// Makes a link. One of the connection alone is opened at once.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a name that a link has, or, of one that is kept, another object; [`ErrorCode::PermissionDenied`]
    /// for one that is kept, of who may not change the dictionary; [`ErrorCode::InvalidPath`] for a file that the dictionary may not lead
    /// to; [`ErrorCode::LinkActivationFailed`]; [`ErrorCode::NotImplemented`] for a password that would be kept;
    /// [`ErrorCode::InvalidDictionaryHandle`]; when the dictionary cannot be written.
    pub fn create_link(&mut self, link: &NewLink<'_>, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let name = link.alias.trim();
        let is_global = link.options.has(LinkOptions::GLOBAL);
        let object = new_object(Kind::Link, name)?;
        let others: &[Kind] = match is_global {
            true => &[Kind::Link, Kind::Table, Kind::View, Kind::StoredProc, Kind::Function],
            false => &[Kind::Link],
        };
        let mut known = dictionary.objects.iter();
        let is_taken = known.any(|known| others.contains(&known.kind) && known.is_called(name));
        if is_taken || name.eq_ignore_ascii_case("system") || self.links.active.iter().any(|link| link.is_called(name))
        {
            let what = format!("{name} is the name of another object already");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        if is_global {
            let object = self.described(link, object, settings)?;
            return self.dictionary_to_change()?.change(settings, |changing| {
                let parent = found(changing, |known| known.kind == Kind::Database, "database")?.number;
                changing.add(Object { parent, ..object }).map(drop)
            });
        }
        if link.options.has(LinkOptions::STATIC_PATH) {
            let what = "a link of the connection alone keeps no path";
            return Err(Error::new(ErrorCode::InvalidOption, what));
        }
        let file = settings.paths.resolve(link.path, self.dictionary()?.folder())?;
        self.activate(name, &file, link.user, link.options, settings)?;
        self.statements.forget_names();
        Ok(())
    }

    /// Gives a link that is kept in the dictionary another definition.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; as [`Connection::create_link`].
    pub fn modify_link(&mut self, link: &NewLink<'_>, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let known = dictionary.object(ObjectKind::Link, ("", link.alias))?.clone();
        let object = self.described(link, known, settings)?;
        self.dictionary_to_change()?.change(settings, |changing| {
            let now = found(changing, |known| known.number == object.number, link.alias)?;
            let record = now.record;
            changing.replace(&Object { record, ..object })
        })?;
        self.deactivate(link.alias);
        Ok(())
    }

    /// Drops a link: closes one of the connection, which is named by its name or its path, or with `is_global` takes one out of the
    /// dictionary.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; [`ErrorCode::PermissionDenied`]; [`ErrorCode::InvalidDictionaryHandle`];
    /// when the dictionary cannot be written.
    pub fn drop_link(&mut self, name: &str, is_global: bool, settings: &Settings) -> Result<()> {
        if !is_global {
            let folder = self.dictionary()?.folder().to_owned();
            let file = settings.paths.resolve(name, &folder).ok();
            let is_it = |link: &Link| link.is_called(name) || file.as_deref().is_some_and(|file| link.is_to(file));
            let at = self.links.active.iter().position(is_it);
            self.links.active.remove(at.ok_or_else(|| invalid_name(name))?);
            self.statements.forget_names();
            return Ok(());
        }
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.object(ObjectKind::Link, ("", name))?.number;
        dictionary.change(settings, |changing| changing.remove(number))?;
        self.deactivate(name);
        Ok(())
    }

    /// A property of a link that is kept, by its number (`ADS_DD_LINK_PATH` and its like).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`], [`ErrorCode::InvalidPropertyId`], [`ErrorCode::PropertyNotSet`]; [`ErrorCode::PermissionDenied`] for
    /// who may not change the dictionary.
    pub fn link_property(&mut self, name: &str, property: u16) -> Result<PropertyValue> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let link = dictionary.object(ObjectKind::Link, ("", name))?;
        match property {
            LINK_PATH => set_text(&dictionary.place_of_link(link)?.to_string_lossy()),
            LINK_OPTIONS => {
                let options = link.values.number(place::LINK_OPTIONS);
                options.map(PropertyValue::Long).ok_or_else(not_set)
            }
            LINK_USER => set_text(&text_or_empty(link, place::LINK_USER)),
            LINK_RELATIVE_PATH => set_text(&text_or_empty(link, place::PATH)),
            _ => Err(invalid_property()),
        }
    }

    /// The links that are open, each as `name;user;path`; without a name where a statement named the path.
    pub fn active_links(&self) -> Vec<String> {
        let links = self.links.active.iter();
        links
            .map(|link| format!("{};{};{}", link.alias, link.user, link.dictionary.file().display()))
            .collect()
    }

    /// The file of a table of a linked dictionary; `None` where `name` is no link. A link that is kept is opened when it is used first, and
    /// so is one that is named by the path of a dictionary.
    ///
    /// # Errors
    /// [`ErrorCode::LinkActivationFailed`]; [`ErrorCode::PermissionNotGranted`] for a link that the user may not use;
    /// [`ErrorCode::FileNotFound`] for a table that is not there.
    pub(crate) fn linked_table(&mut self, name: &str, table: &str, settings: &Settings) -> Result<Option<PathBuf>> {
        let Some(dictionary) = &self.dictionary else {
            return Ok(None);
        };
        let is_path = name.to_ascii_lowercase().ends_with(".add");
        let by_name = self.links.active.iter().position(|link| link.is_called(name));
        let at = match (by_name, dictionary.object(ObjectKind::Link, ("", name))) {
            (Some(at), _) => at,
            (None, Ok(kept)) => {
                let options = LinkOptions(kept.values.number(place::LINK_OPTIONS).unwrap_or_default());
                let (alias, user) = (kept.name.clone(), text_or_empty(kept, place::LINK_USER));
                let file = dictionary.place_of_link(kept).map_err(|error| failed(name, &error))?;
                self.check_rights_to(ObjectKind::Link, name, Rights::LINK)?;
                self.activate(&alias, &file, (&user, ""), options, settings)?
            }
            (None, Err(_)) if is_path => {
                let file = settings.paths.resolve(name, dictionary.folder())?;
                match self.links.active.iter().position(|link| link.is_to(&file)) {
                    Some(at) => at,
                    None => self.activate("", &file, ("", ""), LinkOptions::ACTIVE_USER, settings)?,
                }
            }
            (None, Err(_)) => return Ok(None),
        };
        let Some(link) = self.links.active.get_mut(at) else {
            return Ok(None);
        };
        link.dictionary.renew()?;
        match link.dictionary.path(table) {
            Some(path) => path.map(Some),
            None => {
                let what = format!("{}: there is no table {table}", link.dictionary.file().display());
                Err(Error::new(ErrorCode::FileNotFound, what))
            }
        }
    }

    /// What the user may do with a table that a link leads to: to read it at most. `None` for another table.
    pub(crate) fn linked_rights(&self, path: &Path) -> Option<Rights> {
        let links = &self.links.active;
        if links.is_empty() || self.dictionary.as_ref().is_some_and(|own| own.has(path)) {
            return None;
        }
        let link = links.iter().find(|link| link.dictionary.has(path))?;
        Some(Rights(link.dictionary.rights_at(&link.login, path).0 & Rights::READ.0))
    }

    /// Opens a link, and returns its place.
    fn activate(
        &mut self,
        alias: &str,
        file: &Path,
        user: (&str, &str),
        options: LinkOptions,
        settings: &Settings,
    ) -> Result<usize> {
        // What runs scripts may do all in its own dictionary, and is nobody in another one.
        let own = match self.acts_for {
            Some(_) => Credentials::default(),
            None => self.links.credentials.clone(),
        };
        let (user, password) = match options.has(LinkOptions::ACTIVE_USER) {
            true => (own.user.as_str(), own.password.as_str()),
            false => user,
        };
        let opened = || {
            let dictionary = Dictionary::read(file, &settings.paths)?;
            let login = match (own.trusts, dictionary.secrets()) {
                (true, _) => Login::Administrator,
                (false, Some(secret)) => {
                    let what = format!("it has {secret}, and rights that are encrypted cannot be checked");
                    return Err(Error::new(ErrorCode::NotImplemented, what));
                }
                (false, None) => dictionary.login(user, password)?,
            };
            Ok((dictionary, login))
        };
        let (dictionary, login) = opened().map_err(|error| failed(&file.display().to_string(), &error))?;
        self.links.active.push(Link {
            alias: alias.to_owned(),
            user: user.to_owned(),
            dictionary,
            login,
        });
        Ok(self.links.active.len() - 1)
    }

    fn deactivate(&mut self, name: &str) {
        self.links.active.retain(|link| !link.is_called(name));
        self.statements.forget_names();
    }

    /// The object of a link that is kept.
    fn described(&self, link: &NewLink<'_>, mut object: Object, settings: &Settings) -> Result<Object> {
        self.check_administrator()?;
        let is_own_user = link.options.has(LinkOptions::ACTIVE_USER);
        if !is_own_user && !link.user.1.is_empty() {
            let what = "a password is not kept in a data dictionary: give ADS_LINK_AUTH_ACTIVE_USER, or make the link of the connection alone";
            return Err(Error::new(ErrorCode::NotImplemented, what));
        }
        let dictionary = self.dictionary()?;
        let file = settings.paths.resolve(link.path, dictionary.folder())?;
        let whole = file.canonicalize();
        let whole =
            whole.map_err(|error| Error::new(ErrorCode::FileNotFound, format!("{}: {error}", file.display())))?;
        let begins_elsewhere = link.path.get(1..2) == Some(":") || link.path.starts_with("\\\\");
        let path = match (begins_elsewhere, link.options.has(LinkOptions::STATIC_PATH)) {
            (true, _) => link.path.to_owned(),
            (false, true) => whole.to_string_lossy().into_owned(),
            (false, false) => dictionary.relative(&whole),
        };
        object.values.set(place::PATH, Some([text_of(&path), vec![0]].concat()));
        let options = (link.options.0 | LinkOptions::GLOBAL.0).to_le_bytes().to_vec();
        object.values.set(place::LINK_OPTIONS, Some(options));
        put_text(
            &mut object,
            place::LINK_USER,
            if is_own_user { "" } else { link.user.0 },
        );
        // It leads where the dictionary may, and to a dictionary.
        let file = dictionary.place_of_link(&object)?;
        Dictionary::read(&file, &settings.paths).map_err(|error| failed(link.alias, &error))?;
        Ok(object)
    }
}

impl Link {
    fn is_to(&self, file: &Path) -> bool {
        let own = self.dictionary.file().canonicalize();
        own.is_ok_and(|own| file.canonicalize().is_ok_and(|file| file == own))
    }
}

impl Dictionary {
    /// Where the file of a link is.
    fn place_of_link(&self, link: &Object) -> Result<PathBuf> {
        let mut inside = self.paths.clone();
        inside.confine([self.folder().to_owned()])?;
        self.place_of(link, &inside)
            .map_err(|(code, what)| Error::new(code, what))
    }
}

fn failed(name: &str, error: &Error) -> Error {
    Error::new(
        ErrorCode::LinkActivationFailed,
        format!("the link to {name} cannot be opened: {error}"),
    )
}

/// Properties, as `ace.h` numbers them.
const LINK_PATH: u16 = 1300;
const LINK_OPTIONS: u16 = 1301;
const LINK_USER: u16 = 1302;
const LINK_RELATIVE_PATH: u16 = 1303;
