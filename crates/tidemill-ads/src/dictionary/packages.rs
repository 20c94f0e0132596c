//! Packages of a dictionary: functions with name spaces of their own, called as `package.function` (SAP's help, "CREATE PACKAGE").

use super::Dictionary;
use super::administration::{found, invalid_name, not_completed};
use super::file::Changing;
use super::object::{Kind, Object};
use super::programs::new_object;
use super::property::ObjectKind;
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// The package and the name of a function: `package.function` or `:package::function`; the package is empty for one without.
pub(super) fn parts_of(name: &str) -> (&str, &str) {
    let name = name.trim();
    let parts = match name.strip_prefix(':') {
        Some(rest) => rest.split_once("::"),
        None => name.split_once('.'),
    };
    parts.map_or(("", name), |(package, name)| (package.trim(), name.trim()))
}

impl Connection {
    /// Makes a package, whose functions are a name space of their own. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`] for a name that a package has; [`ErrorCode::InvalidObjectName`] for one that cannot be;
    /// [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn create_package(&mut self, name: &str, comment: &str, settings: &Settings) -> Result<()> {
        let mut package = new_object(Kind::Package, name)?;
        if package.name.contains(['.', ':']) {
            let what = format!("{name}: the name of a package has no points and colons");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        comment.clone_into(&mut package.comment);
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut known = changing.objects().iter();
            if let Some(known) = known.find(|known| known.kind == Kind::Package && known.is_called(name)) {
                return Err(not_completed(&format!("the data dictionary has a {known} already")));
            }
            let parent = found(changing, |known| known.kind == Kind::Database, "database")?.number;
            changing.add(Object { parent, ..package }).map(drop)
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Removes a package and its functions. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn drop_package(&mut self, name: &str, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.object(ObjectKind::Package, ("", name))?.number;
        dictionary.change(settings, |changing| changing.remove(number))?;
        self.statements.forget_names();
        Ok(())
    }
}

impl Dictionary {
    /// A function by the name of its package, which is empty for none, and its own.
    pub(super) fn function(&self, package: &str, name: &str) -> Result<&Object> {
        let parent = match package.trim() {
            "" => self.database()?.number,
            package => self.object(ObjectKind::Package, ("", package))?.number,
        };
        let mut functions = self.children(Kind::Function, parent).into_iter();
        functions
            .find(|function| function.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    /// The name of the package that a function is in; empty for none.
    pub(super) fn package_of(&self, function: &Object) -> &str {
        let mut packages = self.objects.iter().filter(|object| object.kind == Kind::Package);
        let package = packages.find(|package| package.number == function.parent);
        package.map_or("", |package| package.name.as_str())
    }
}

/// What a function belongs to: its package, or the dictionary where it has none.
pub(super) fn parent_of(changing: &Changing, package: &str) -> Result<u32> {
    let is_it = |known: &Object| match package {
        "" => known.kind == Kind::Database,
        package => known.kind == Kind::Package && known.is_called(package),
    };
    found(changing, is_it, package).map(|parent| parent.number)
}
