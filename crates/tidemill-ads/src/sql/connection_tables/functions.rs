//! The functions of the data dictionary, for the statements of a connection.

use std::sync::Arc;

use super::ConnectionTables;
use crate::dictionary::{ObjectKind, Rights};
use crate::sql::user_functions::{FunctionTexts, UserFunctions};

impl ConnectionTables<'_> {
    /// The functions of the data dictionary.
    pub(super) fn functions_of_dictionary(&mut self) -> Arc<UserFunctions> {
        if let Some(known) = &self.connection.statements.functions {
            return Arc::clone(known);
        }
        let functions = match &self.connection.dictionary {
            Some(dictionary) => {
                let file = dictionary.file().to_owned();
                let may = |texts: &FunctionTexts| {
                    let (kind, name) = match texts.package.as_str() {
                        "" => (ObjectKind::Function, texts.name.as_str()),
                        package => (ObjectKind::Package, package),
                    };
                    let checked = self.connection.check_rights_to(kind, name, Rights::EXECUTE);
                    checked.map_err(|error| error.to_string())
                };
                let user = (file, self.connection.user_name().to_owned());
                let functions = UserFunctions::new(dictionary.functions(), may, user, self.settings, self.options);
                Arc::new(functions)
            }
            None => Arc::default(),
        };
        self.state().functions = Some(Arc::clone(&functions));
        functions
    }
}
