//! Users, groups and rights of dictionaries of our own: who connects, and what he may do.
//!
//! Passwords are kept as Argon2id hashes in a form that no dictionary by Advantage has, and rights in a place where those have none. What
//! Advantage has encrypted is not understood: such a dictionary is opened where it is trusted alone, and gets no users here. Who can
//! write the file of a dictionary can change all of it, and who can read the files of tables reads them without it.

use std::path::Path;

use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};

use super::Dictionary;
use super::administration::{found, invalid_name, not_completed, put_text};
use super::object::{Kind, Object, place};
use super::programs::{new_object, text_or_empty};
use super::property::ObjectKind;
use super::values::Values;
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// Who uses a connection to a dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Login {
    /// May do all: ADSSYS, who made the dictionary, and a program that trusts it.
    #[default]
    Administrator,
    /// A user, by the number of his object and his name.
    User(u32, String),
    /// Nobody who said who he is.
    Nobody,
}

/// Rights to an object, as bits (`ADS_PERMISSION_…` of `ace.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights(pub u32);

impl Rights {
    /// To read.
    pub const READ: Self = Self(1);
    /// To change records.
    pub const UPDATE: Self = Self(2);
    /// To run.
    pub const EXECUTE: Self = Self(4);
    /// Those of the user's groups.
    pub const INHERIT: Self = Self(8);
    /// To add records.
    pub const INSERT: Self = Self(0x10);
    /// To delete records.
    pub const DELETE: Self = Self(0x20);
    /// To read tables through a link.
    pub const LINK: Self = Self(0x40);
    /// All of them.
    pub const ALL: Self = Self(0x7F);

    /// Whether all of others are among these.
    #[must_use]
    pub fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether any of others is among these.
    #[must_use]
    pub fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Those that there are to objects of a kind.
    #[must_use]
    pub fn of(kind: ObjectKind) -> Self {
        possible_rights(kind).unwrap_or(Self(0))
    }

    /// Those of a list that are wanted.
    pub(crate) fn all_of<const N: usize>(rights: [(bool, Self); N]) -> Self {
        let wanted = rights.into_iter().filter(|(is_wanted, _)| *is_wanted);
        Self(wanted.fold(0, |all, (_, right)| all | right.0))
    }

    /// Those that change records.
    pub(crate) const WRITE: Self = Self(0x32);
}

/// The administrator, who is no object of the dictionary.
const ADMINISTRATOR: &str = "ADSSYS";
/// The groups that every dictionary has: whose members may do all, and whose members all users are.
const ADMINISTRATORS: &str = "DB:Admin";
const EVERYBODY: &str = "DB:Public";
/// What a hash of a password begins with, and what stands for no password.
const HASH: &str = "$argon2id$";
const NO_PASSWORD: &str = "$none$";

impl Dictionary {
    /// Whether an object holds users or rights in another form than ours, which is not understood.
    pub(super) fn is_foreign(object: &Object) -> bool {
        let mut places = object.values.places();
        match object.kind {
            Kind::User => {
                let password = text_or_empty(object, place::USER_PASSWORD);
                let is_ours = password == NO_PASSWORD || password.starts_with(HASH);
                !is_ours
                    || places
                        .any(|place| ![place::USER_PASSWORD, place::USER_GROUPS, place::USER_DEFINED].contains(&place))
            }
            Kind::Permission => {
                let has_rights = object
                    .values
                    .get(place::PERMISSION_RIGHTS)
                    .is_some_and(|rights| rights.len() == 4);
                !has_rights || places.any(|place| place != place::PERMISSION_RIGHTS)
            }
            _ => false,
        }
    }

    /// Whether the password of the administrator, where there is one, is ours.
    pub(super) fn has_own_password(database: &Object) -> bool {
        let [password, digest] = place::DATABASE_SECRETS;
        text_or_empty(database, password).starts_with(HASH) && database.values.get(digest).is_none()
    }

    /// Lets somebody in.
    ///
    /// # Errors
    /// [`ErrorCode::NotAuthenticated`].
    pub(crate) fn login(&self, user: &str, password: &str) -> Result<Login> {
        let user = user.trim();
        let refused = || {
            let what = format!(
                "{}: the user {user:?} is not let in: he or his password is another",
                self.file.display()
            );
            Error::new(ErrorCode::NotAuthenticated, what)
        };
        if user.is_empty() {
            return match self.flag(place::DATABASE_LOG_IN_REQUIRED) {
                true => Err(refused()),
                false => Ok(Login::Nobody),
            };
        }
        let database = self.database()?;
        if user.eq_ignore_ascii_case(ADMINISTRATOR) {
            let [own, _] = place::DATABASE_SECRETS;
            let hash = text_or_empty(database, own);
            return match is_password(&hash, password) {
                true => Ok(Login::Administrator),
                false => Err(refused()),
            };
        }
        let known = self.of_kind(Kind::User).into_iter().find(|known| known.is_called(user));
        let known = known.filter(|known| is_password(&text_or_empty(known, place::USER_PASSWORD), password));
        let known = known.ok_or_else(refused)?;
        Ok(Login::User(known.number, known.name.clone()))
    }

    fn put_password(&mut self, user: &str, password: &str, settings: &Settings) -> Result<()> {
        let hash = hash_of(password)?;
        self.change(settings, |changing| {
            let is_administrator = user.trim().eq_ignore_ascii_case(ADMINISTRATOR);
            let is_it = |known: &Object| match is_administrator {
                true => known.kind == Kind::Database,
                false => known.kind == Kind::User && known.is_called(user),
            };
            let mut object = found(changing, is_it, user)?;
            match is_administrator {
                true if password.is_empty() => object.values.set(place::DATABASE_SECRETS[0], None),
                true => put_text(&mut object, place::DATABASE_SECRETS[0], &hash),
                false => put_text(&mut object, place::USER_PASSWORD, &hash),
            }
            changing.replace(&object)
        })
    }

    fn flag(&self, place: usize) -> bool {
        let database = self.objects.iter().find(|object| object.kind == Kind::Database);
        database
            .and_then(|database| database.values.number(place))
            .is_some_and(|value| value != 0)
    }

    /// Whether rights are checked.
    fn verifies(&self) -> bool {
        self.flag(place::DATABASE_VERIFY_RIGHTS)
    }

    /// Whether somebody may change the dictionary. Where nothing is protected everybody may.
    pub(crate) fn is_administered_by(&self, login: &Login) -> bool {
        let is_open = || {
            let database = self.database().ok();
            let has_password = database.is_some_and(Self::has_own_password);
            !self.verifies() && !self.flag(place::DATABASE_LOG_IN_REQUIRED) && !has_password
        };
        match login {
            Login::Administrator => true,
            Login::User(number, _) => {
                self.groups_of(*number)
                    .iter()
                    .any(|group| group.is_called(ADMINISTRATORS))
                    || is_open()
            }
            Login::Nobody => is_open(),
        }
    }

    /// The groups that a user is a member of, that of everybody too.
    fn groups_of(&self, user: u32) -> Vec<&Object> {
        let user = self
            .objects
            .iter()
            .find(|object| object.number == user && object.kind == Kind::User);
        let numbers = user.map(members_of).unwrap_or_default();
        let is_group = |object: &&Object| {
            object.kind == Kind::Group && (numbers.contains(&object.number) || object.is_called(EVERYBODY))
        };
        self.objects.iter().filter(is_group).collect()
    }

    /// The rights that were granted to a user or a group alone; `None` where nothing was said.
    fn granted(&self, grantee: u32, object: u32) -> Option<Rights> {
        let is_it = |known: &&Object| known.is(Kind::Permission, grantee) && known.refers_to() == Some(object);
        let known = self.objects.iter().find(is_it)?;
        known.values.number(place::PERMISSION_RIGHTS).map(Rights)
    }

    /// What a user may do with an object: what was granted to him, and unless that is revoked to his groups.
    fn effective(&self, user: u32, object: u32) -> Rights {
        let own = self.granted(user, object);
        let inherits = own.is_none_or(|own| own.has(Rights::INHERIT));
        let groups = self.groups_of(user).into_iter().filter(|_| inherits);
        let inherited = groups.filter_map(|group| self.granted(group.number, object));
        let all = inherited.fold(own.map_or(0, |own| own.0), |all, rights| all | rights.0);
        match inherits {
            true => Rights(all | Rights::INHERIT.0),
            false => Rights(all),
        }
    }

    /// What somebody may do with an object.
    fn rights(&self, login: &Login, object: u32) -> Rights {
        if !self.verifies() || *login == Login::Administrator || self.is_administered_by(login) {
            return Rights::ALL;
        }
        match login {
            Login::User(user, _) => self.effective(*user, object),
            _ => Rights(0),
        }
    }

    /// What somebody may do with the table of a file. Tables that are not the dictionary's are free.
    pub(crate) fn rights_at(&self, login: &Login, path: &Path) -> Rights {
        match self.table_at(path) {
            Some(table) => self.rights(login, table.number),
            None => Rights::ALL,
        }
    }

    /// What somebody may do with a view, a procedure or a function.
    pub(crate) fn rights_to(&self, login: &Login, kind: ObjectKind, name: &str) -> Rights {
        match self.object(kind, ("", name)) {
            Ok(object) => self.rights(login, object.number),
            Err(_) => Rights::ALL,
        }
    }
}

impl Connection {
    /// The name of the user; empty for nobody.
    pub fn user_name(&self) -> &str {
        if let Some(user) = &self.acts_for {
            return user;
        }
        match &self.login {
            Login::User(_, name) => name,
            Login::Administrator if self.has_dictionary() => ADMINISTRATOR,
            Login::Administrator | Login::Nobody => "",
        }
    }

    /// Refuses who may not change the dictionary.
    ///
    /// # Errors
    /// [`ErrorCode::PermissionDenied`].
    pub(crate) fn check_administrator(&self) -> Result<()> {
        match &self.dictionary {
            Some(dictionary) if !dictionary.is_administered_by(&self.login) => Err(Error::new(
                ErrorCode::PermissionDenied,
                format!(
                    "{}: only ADSSYS and the members of DB:Admin change the data dictionary and the structure of its tables",
                    dictionary.file.display()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The dictionary, for who may change it.
    pub(super) fn dictionary_to_change(&mut self) -> Result<&mut Dictionary> {
        self.dictionary_mut()?;
        self.check_administrator()?;
        self.dictionary_mut()
    }

    /// What the user may do with a table of the dictionary.
    pub(crate) fn rights_at(&self, path: &Path) -> Rights {
        if let Some(rights) = self.linked_rights(path) {
            return rights;
        }
        match &self.dictionary {
            Some(dictionary) if self.statements.lent_rights == 0 => dictionary.rights_at(&self.login, path),
            _ => Rights::ALL,
        }
    }

    /// What the user may do with a table or a view of the dictionary, by its name.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; [`ErrorCode::InvalidDictionaryHandle`].
    pub fn user_rights(&mut self, name: &str) -> Result<Rights> {
        let login = self.login.clone();
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let kinds = [ObjectKind::Table, ObjectKind::View].into_iter();
        let mut objects = kinds.filter_map(|kind| Some((kind, dictionary.object(kind, ("", name)).ok()?)));
        let (kind, object) = objects.next().ok_or_else(|| invalid_name(name))?;
        Ok(Rights(
            dictionary.rights(&login, object.number).0 & possible_rights(kind)?.0,
        ))
    }

    /// Refuses what the user may not do with a table of the dictionary.
    ///
    /// # Errors
    /// [`ErrorCode::NoReadPermission`], [`ErrorCode::NoWriteRights`].
    pub(crate) fn check_rights_at(&self, path: &Path, wanted: Rights) -> Result<()> {
        match self.rights_at(path).has(wanted) {
            true => Ok(()),
            false if wanted.has_any(Rights::WRITE) && self.linked_rights(path).is_some() => {
                let what = format!(
                    "{} is read through a link: connect to its data dictionary to change it",
                    path.display()
                );
                Err(Error::new(ErrorCode::TableReadOnly, what))
            }
            false => Err(no_rights(&path.display().to_string(), wanted)),
        }
    }

    /// What the user may do with what a view shows.
    pub(crate) fn rights_to_view(&self, name: &str) -> Rights {
        match &self.dictionary {
            Some(dictionary) if self.statements.lent_rights == 0 => {
                dictionary.rights_to(&self.login, ObjectKind::View, name)
            }
            _ => Rights::ALL,
        }
    }

    /// Refuses what the user may not do with a view, a procedure or a function.
    ///
    /// # Errors
    /// [`ErrorCode::NoReadPermission`], [`ErrorCode::PermissionNotGranted`].
    pub(crate) fn check_rights_to(&self, kind: ObjectKind, name: &str, wanted: Rights) -> Result<()> {
        match &self.dictionary {
            Some(dictionary)
                if self.statements.lent_rights == 0 && !dictionary.rights_to(&self.login, kind, name).has(wanted) =>
            {
                Err(no_rights(name, wanted))
            }
            _ => Ok(()),
        }
    }

    /// Makes a user, who has no password where that is empty, and is a member of a group where one is given.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a name that another user or a group has, and a group that is not there;
    /// [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn create_user(
        &mut self,
        (name, password): (&str, &str),
        group: &str,
        comment: &str,
        settings: &Settings,
    ) -> Result<()> {
        let mut user = new_object(Kind::User, name)?;
        put_text(&mut user, place::USER_PASSWORD, &hash_of(password)?);
        comment.clone_into(&mut user.comment);
        self.add_grantee(user, settings)?;
        match group.trim() {
            "" => Ok(()),
            group => self.set_membership(name, group, true, settings),
        }
    }

    /// Makes a group of users.
    ///
    /// # Errors
    /// As [`Connection::create_user`].
    pub fn create_group(&mut self, name: &str, comment: &str, settings: &Settings) -> Result<()> {
        let mut group = new_object(Kind::Group, name)?;
        comment.clone_into(&mut group.comment);
        self.add_grantee(group, settings)
    }

    /// Adds a user or a group, with the groups that every dictionary has.
    fn add_grantee(&mut self, object: Object, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_grantee = |known: &Object| matches!(known.kind, Kind::User | Kind::Group);
            let database = found(changing, |known| known.kind == Kind::Database, "database")?.number;
            for group in [ADMINISTRATORS, EVERYBODY] {
                if !changing
                    .objects()
                    .iter()
                    .any(|known| is_grantee(known) && known.is_called(group))
                {
                    changing.add(Object::new(Kind::Group, database, group))?;
                }
            }
            let mut known = changing.objects().iter();
            let is_taken = known.any(|known| is_grantee(known) && known.is_called(&object.name));
            if is_taken || object.is_called(ADMINISTRATOR) {
                let what = format!("the data dictionary has a user or a group {} already", object.name);
                return Err(Error::new(ErrorCode::InvalidObjectName, what));
            }
            let parent = database;
            changing.add(Object { parent, ..object })
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Removes a user or a group, and what was granted to it.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`]; as [`Connection::create_user`].
    pub fn remove_grantee(&mut self, kind: ObjectKind, name: &str, settings: &Settings) -> Result<()> {
        if [ADMINISTRATORS, EVERYBODY]
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name.trim()))
        {
            return Err(not_completed(&format!("every data dictionary has the group {name}")));
        }
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_it = |known: &Object| known.kind == kind.kind() && known.is_called(name);
            let gone = found(changing, is_it, name)?.number;
            changing.remove(gone)?;
            let members: Vec<Object> = changing
                .objects()
                .iter()
                .filter(|user| user.kind == Kind::User)
                .cloned()
                .collect();
            for mut user in members {
                let groups = members_of(&user);
                if groups.contains(&gone) {
                    put_members(&mut user, groups.into_iter().filter(|group| *group != gone));
                    changing.replace(&user)?;
                }
            }
            Ok(())
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Makes a user a member of a group, or no member.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a user or a group that is not there; [`ErrorCode::AlreadyMember`], [`ErrorCode::NotMember`];
    /// as [`Connection::create_user`].
    pub fn set_membership(&mut self, user: &str, group: &str, is_member: bool, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut object = found(
                changing,
                |known| known.kind == Kind::User && known.is_called(user),
                user,
            )?;
            let is_it = |known: &Object| known.kind == Kind::Group && known.is_called(group);
            let number = found(changing, is_it, group)?.number;
            let mut groups = members_of(&object);
            match (groups.contains(&number), is_member) {
                (true, true) => {
                    return Err(Error::new(
                        ErrorCode::AlreadyMember,
                        format!("{user} is a member of {group} already"),
                    ));
                }
                (false, false) => {
                    return Err(Error::new(
                        ErrorCode::NotMember,
                        format!("{user} is no member of {group}"),
                    ));
                }
                (false, true) => groups.push(number),
                (true, false) => groups.retain(|known| *known != number),
            }
            put_members(&mut object, groups.into_iter());
            changing.replace(&object)
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// The names of a user's groups, that of everybody left out.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`].
    pub fn groups_of(&mut self, user: &str) -> Result<Vec<String>> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let groups = members_of(dictionary.object(ObjectKind::User, ("", user))?);
        let named = |number: &u32| {
            let group = dictionary
                .objects
                .iter()
                .find(|object| object.is_numbered(Kind::Group, *number))?;
            Some(group.name.clone())
        };
        Ok(groups.iter().filter_map(named).collect())
    }

    /// Sets the password of a user, or of ADSSYS; an empty one is none.
    ///
    /// # Errors
    /// As [`Connection::remove_grantee`].
    pub fn set_password(&mut self, user: &str, password: &str, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.put_password(user, password, settings)
    }

    /// Changes the password of who is logged in, who need not be an administrator.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPassword`] where the old one is another; [`ErrorCode::InvalidObjectName`] for who is not logged in; as
    /// [`Connection::set_password`].
    pub fn change_own_password(&mut self, old: &str, new: &str, settings: &Settings) -> Result<()> {
        let user = self.user_name().to_owned();
        if user.is_empty() {
            let what = "nobody is logged in, whose password could be changed";
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        if dictionary.login(&user, old).is_err() {
            let what = format!("the password of {user} is another");
            return Err(Error::new(ErrorCode::InvalidPassword, what));
        }
        self.dictionary_mut()?.put_password(&user, new, settings)
    }

    /// Grants rights to a user or a group, or revokes them; [`Rights::ALL`] are those that there are. `object` is a table, a view, a procedure or a function.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for an object or a grantee that is not there; [`ErrorCode::InvalidObjectPermission`] for rights that
    /// there are not to the object, or not for the grantee; [`ErrorCode::InvalidOption`] for those that are not kept; as
    /// [`Connection::create_user`].
    pub fn set_rights(
        &mut self,
        (kind, object): (ObjectKind, &str),
        grantee: &str,
        rights: Rights,
        grants: bool,
        settings: &Settings,
    ) -> Result<()> {
        let possible = possible_rights(kind)?;
        let are_all = rights == Rights::ALL;
        let rights = if are_all { possible } else { rights };
        if !possible.has(rights) {
            let what = format!(
                "rights {:#x} are not kept for such objects here: {:#x} are",
                rights.0, possible.0
            );
            // Those to make, change and drop objects are Advantage's, and no mistake.
            let code = match Rights::ALL.0 & !possible.0 & rights.0 {
                0 => ErrorCode::InvalidOption,
                _ => ErrorCode::InvalidObjectPermission,
            };
            return Err(Error::new(code, what));
        }
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_it = |known: &Object| known.kind == kind.kind() && known.is_called(object);
            let number = found(changing, is_it, object)?.number;
            let is_grantee =
                |known: &Object| matches!(known.kind, Kind::User | Kind::Group) && known.is_called(grantee);
            let grantee = found(changing, is_grantee, grantee)?;
            let rights = match grantee.kind {
                Kind::Group if are_all => Rights(rights.0 & !Rights::INHERIT.0),
                Kind::Group if rights.has(Rights::INHERIT) => {
                    let what = format!("{} is a group, and only users inherit rights", grantee.name);
                    return Err(Error::new(ErrorCode::InvalidObjectPermission, what));
                }
                _ => rights,
            };
            let is_known =
                |known: &&Object| known.is(Kind::Permission, grantee.number) && known.refers_to() == Some(number);
            let known = changing.objects().iter().find(is_known).cloned();
            // A user inherits unless that is revoked.
            let before = match (&known, grantee.kind) {
                (Some(known), _) => known.values.number(place::PERMISSION_RIGHTS).unwrap_or_default(),
                (None, Kind::User) => Rights::INHERIT.0,
                (None, _) => 0,
            };
            let now = match grants {
                true => before | rights.0,
                false => before & !rights.0,
            };
            let values = Values::default().with(place::PERMISSION_RIGHTS, now.to_le_bytes());
            match known {
                Some(known) => changing.replace(&Object { values, ..known }),
                None => {
                    let permission = Object::new(Kind::Permission, grantee.number, "Rights");
                    changing.add(permission.values(values).info(number)).map(drop)
                }
            }
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// The rights of a user or a group to an object: those that were granted to it, or with `inherited` those that a user has.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for an object or a grantee that is not there.
    pub fn rights_of(&mut self, grantee: &str, (kind, object): (ObjectKind, &str), inherited: bool) -> Result<Rights> {
        let possible = possible_rights(kind)?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let object = dictionary.object(kind, ("", object))?.number;
        let mut objects = dictionary.objects.iter();
        let is_grantee = |known: &&Object| matches!(known.kind, Kind::User | Kind::Group) && known.is_called(grantee);
        let grantee = objects.find(is_grantee).ok_or_else(|| invalid_name(grantee))?;
        let rights = match (grantee.kind, inherited) {
            (Kind::User, true) => dictionary.effective(grantee.number, object),
            (Kind::User, false) => dictionary.granted(grantee.number, object).unwrap_or(Rights::INHERIT),
            _ => dictionary.granted(grantee.number, object).unwrap_or(Rights(0)),
        };
        Ok(Rights(rights.0 & possible.0))
    }
}

impl Object {
    fn is_numbered(&self, kind: Kind, number: u32) -> bool {
        self.kind == kind && self.number == number
    }
}

/// Refuses another name for a group that every dictionary has, and for a user the administrator's.
///
/// # Errors
/// [`ErrorCode::InvalidObjectName`].
pub(super) fn check_name(name: &str, new: &str) -> Result<()> {
    let is_kept = [ADMINISTRATORS, EVERYBODY]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name));
    match is_kept || new.eq_ignore_ascii_case(ADMINISTRATOR) {
        true => Err(Error::new(
            ErrorCode::InvalidObjectName,
            format!("{name} cannot be called {new}"),
        )),
        false => Ok(()),
    }
}

/// The rights that there are to objects of a kind.
///
/// # Errors
/// [`ErrorCode::InvalidObjectType`] for a kind without.
fn possible_rights(kind: ObjectKind) -> Result<Rights> {
    match kind {
        ObjectKind::Table => Ok(Rights(Rights::READ.0 | Rights::WRITE.0 | Rights::INHERIT.0)),
        ObjectKind::View => Ok(Rights(Rights::READ.0 | Rights::WRITE.0 | Rights::INHERIT.0)),
        ObjectKind::Link => Ok(Rights(Rights::LINK.0 | Rights::INHERIT.0)),
        ObjectKind::Procedure | ObjectKind::Function | ObjectKind::Package => {
            Ok(Rights(Rights::EXECUTE.0 | Rights::INHERIT.0))
        }
        _ => {
            let what = "rights are granted to tables, views, procedures, functions, packages and links as a whole";
            Err(Error::new(ErrorCode::InvalidObjectType, what))
        }
    }
}

/// The numbers of a user's groups.
fn members_of(user: &Object) -> Vec<u32> {
    let bytes = user.values.get(place::USER_GROUPS).unwrap_or_default();
    let numbers = bytes.chunks_exact(4).filter_map(|number| number.try_into().ok());
    numbers.map(u32::from_le_bytes).collect()
}

fn put_members(user: &mut Object, groups: impl Iterator<Item = u32>) {
    let bytes: Vec<u8> = groups.flat_map(u32::to_le_bytes).collect();
    user.values
        .set(place::USER_GROUPS, Some(bytes).filter(|bytes| !bytes.is_empty()));
}

/// A password as it is kept.
fn hash_of(password: &str) -> Result<String> {
    if password.is_empty() {
        return Ok(NO_PASSWORD.to_owned());
    }
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    let hash =
        hash.map_err(|error| Error::new(ErrorCode::InternalError, format!("a password is not hashed: {error}")))?;
    Ok(hash.to_string())
}

/// Whether a password is the one that is kept; without one it is empty.
fn is_password(hash: &str, password: &str) -> bool {
    if hash.is_empty() || hash == NO_PASSWORD {
        return password.is_empty();
    }
    let hash = PasswordHash::new(hash);
    hash.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

fn no_rights(what: &str, wanted: Rights) -> Error {
    let names = [
        (Rights::READ, "READ"),
        (Rights::INSERT, "INSERT"),
        (Rights::UPDATE, "UPDATE"),
        (Rights::DELETE, "DELETE"),
        (Rights::EXECUTE, "EXECUTE"),
        (Rights::LINK, "LINK_ACCESS"),
    ];
    let names = names
        .into_iter()
        .filter(|(right, _)| wanted.has(*right))
        .map(|(_, name)| name);
    let names: Vec<&str> = names.collect();
    let code = match () {
        () if wanted.has_any(Rights(Rights::EXECUTE.0 | Rights::LINK.0)) => ErrorCode::PermissionNotGranted,
        () if wanted.has_any(Rights::WRITE) => ErrorCode::NoWriteRights,
        () => ErrorCode::NoReadPermission,
    };
    Error::new(code, format!("{what}: the user has no {} permission", names.join(", ")))
}
