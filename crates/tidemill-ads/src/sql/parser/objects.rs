//! What makes and drops objects of a data dictionary.

use sqlparser::ast::Ident;
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::sql::error::Result;
use crate::sql::statement::{
    Body, Definition, FunctionDefinition, ProcedureDefinition, StatementKind, TriggerDefinition, TypeName,
};
use crate::{Rights, TriggerEvent, TriggerMoment};

/// `ADS_TRIGOPTIONS_WANT_VALUES`, `ADS_TRIGOPTIONS_WANT_MEMOS_AND_BLOBS` and `ADS_TRIGOPTIONS_NO_TRANSACTION` of `ace.h`.
const VALUES: u32 = 1;
const MEMOS: u32 = 2;
const NO_TRANSACTION: u32 = 4;

impl Parser<'_> {
    /// What stands behind CREATE TRIGGER, or with `replaces` behind ALTER TRIGGER.
    pub(super) fn trigger(&mut self, replaces: bool) -> Result<StatementKind> {
        let name = self.ident()?.value;
        self.expect("ON")?;
        if self.is_next("DATABASE") {
            let why = "triggers of the database itself are not fired: give the trigger a table";
            return Err(self.refusal(why));
        }
        let table = self.table_name()?.to_string();
        let moment = match self.take_any(&["BEFORE", "INSTEAD", "AFTER", "CONFLICT", "ON"]) {
            Some(0) => TriggerMoment::Before,
            Some(1) => {
                self.expect("OF")?;
                TriggerMoment::InsteadOf
            }
            Some(2) => TriggerMoment::After,
            Some(3) => {
                self.take("ON");
                TriggerMoment::OnConflict
            }
            Some(_) => {
                self.expect("CONFLICT")?;
                TriggerMoment::OnConflict
            }
            None => return Err(self.unexpected("BEFORE, INSTEAD OF, AFTER or CONFLICT ON")),
        };
        let event = match self.take_any(&["INSERT", "UPDATE", "DELETE"]) {
            Some(0) => TriggerEvent::Insert,
            Some(1) => TriggerEvent::Update,
            Some(_) => TriggerEvent::Delete,
            None => return Err(self.unexpected("INSERT, UPDATE or DELETE")),
        };
        let body = self.body()?;
        let (mut options, mut priority) = (VALUES | MEMOS, 1);
        loop {
            match self.take_any(&["NO", "PRIORITY"]) {
                Some(0) => match self.take_any(&["VALUES", "MEMOS", "TRANSACTION"]) {
                    Some(0) => options &= !(VALUES | MEMOS),
                    Some(1) => options &= !MEMOS,
                    Some(_) => options |= NO_TRANSACTION,
                    None => return Err(self.unexpected("VALUES, MEMOS or TRANSACTION")),
                },
                Some(_) => {
                    let number = u32::try_from(self.number()?);
                    priority = number.map_err(|_| self.fault("A priority is a number below 4,294,967,296"))?;
                }
                None => break,
            }
        }
        let definition = TriggerDefinition {
            name,
            table,
            event,
            moment,
            body,
            priority,
            options,
            replaces,
        };
        Ok(StatementKind::Define(Box::new(Definition::Trigger(definition))))
    }

    /// `a INTEGER, b CHAR(20)`, up to a closing parenthesis or the end.
    pub(super) fn parameters(&mut self) -> Result<Vec<(Ident, TypeName)>> {
        let mut parameters = Vec::new();
        while !self.is_end() && !self.is_token(&Token::RParen) {
            parameters.push((self.ident()?, self.type_name()?));
            if !self.grammar.consume_token(&Token::Comma) {
                break;
            }
        }
        Ok(parameters)
    }

    /// What stands behind CREATE FUNCTION, or with `replaces` behind ALTER FUNCTION.
    pub(super) fn function(&mut self, replaces: bool) -> Result<StatementKind> {
        let name = self.table_name()?;
        if name.parts.len() > 2 {
            return Err(self.refusal("A function has a name, and the name of a package before it"));
        }
        self.expect_token(&Token::LParen)?;
        let begin = self.place();
        let parameters = match self.parameters()?.len() {
            0 => (0, String::new()),
            count => (count, self.written_from(begin)),
        };
        self.expect_token(&Token::RParen)?;
        self.expect("RETURNS")?;
        let begin = self.place();
        self.type_name()?;
        let returns = self.written_from(begin);
        let comment = match self.take("DESCRIPTION") {
            true => self.text()?,
            false => String::new(),
        };
        let definition = FunctionDefinition {
            name: name.to_string(),
            parameters,
            returns,
            script: self.script()?,
            comment,
            replaces,
        };
        Ok(StatementKind::Define(Box::new(Definition::Function(definition))))
    }

    /// What stands behind CREATE PACKAGE.
    pub(super) fn package(&mut self) -> Result<StatementKind> {
        let name = self.ident()?.value;
        let comment = match self.take("DESCRIPTION") {
            true => self.text()?,
            false => String::new(),
        };
        Ok(StatementKind::Define(Box::new(Definition::Package { name, comment })))
    }

    /// What stands behind DROP PACKAGE.
    pub(super) fn drop_package(&mut self) -> Result<StatementKind> {
        let name = self.ident()?.value;
        Ok(StatementKind::Define(Box::new(Definition::DropPackage(name))))
    }

    /// What stands behind DROP FUNCTION.
    pub(super) fn drop_function(&mut self) -> Result<StatementKind> {
        let name = self.table_name()?.to_string();
        Ok(StatementKind::Define(Box::new(Definition::DropFunction(name))))
    }

    /// What stands behind CREATE PROCEDURE, or with `replaces` behind ALTER PROCEDURE.
    pub(super) fn procedure(&mut self, replaces: bool) -> Result<StatementKind> {
        let name = self.ident()?.value;
        let (mut input, mut output) = (String::new(), String::new());
        self.expect_token(&Token::LParen)?;
        while !self.grammar.consume_token(&Token::RParen) {
            if self.is_next("CURSOR") && self.is_nth(1, "VARYING") {
                let why =
                    "a procedure has columns that are known before it runs: name them in the place of CURSOR VARYING";
                return Err(self.refusal(why));
            }
            let (parameter, type_of) = (self.ident()?.value, self.type_name()?);
            let written = definition_of(&parameter, &type_of);
            match self.take("OUTPUT") {
                true => output += &written,
                false => input += &written,
            }
            if !self.grammar.consume_token(&Token::Comma) && !self.is_token(&Token::RParen) {
                return Err(self.unexpected(", or )"));
            }
        }
        let definition = ProcedureDefinition {
            name,
            input,
            output,
            body: self.body()?,
            replaces,
        };
        Ok(StatementKind::Define(Box::new(Definition::Procedure(definition))))
    }

    /// `BEGIN … END` or `FUNCTION … IN LIBRARY …`.
    fn body(&mut self) -> Result<Body> {
        if self.take("FUNCTION") {
            let function = self.ident()?.value;
            self.expect("IN")?;
            let is_com = match self.take_any(&["LIBRARY", "ASSEMBLY", "COMLIBRARY"]) {
                Some(kind) => kind > 0,
                None => return Err(self.unexpected("LIBRARY, ASSEMBLY or COMLIBRARY")),
            };
            let library = self.table_name()?.to_string();
            return Ok(Body::Library {
                function,
                library,
                is_com,
            });
        }
        self.script().map(Body::Script)
    }

    /// What stands between `BEGIN` and `END`.
    fn script(&mut self) -> Result<String> {
        self.expect("BEGIN")?;
        let begin = self.place();
        let statements = self.statements(&["END"])?;
        let script = match statements.is_empty() {
            true => String::new(),
            false => self.written_from(begin),
        };
        self.expect("END")?;
        Ok(script)
    }

    /// What stands behind DROP PROCEDURE.
    pub(super) fn drop_procedure(&mut self) -> Result<StatementKind> {
        let name = self.ident()?.value;
        Ok(StatementKind::Define(Box::new(Definition::DropProcedure(name))))
    }

    /// GRANT or REVOKE.
    pub(super) fn rights(&mut self, grants: bool) -> Result<StatementKind> {
        const WORDS: [(&str, Rights); 6] = [
            ("SELECT", Rights::READ),
            ("INSERT", Rights::INSERT),
            ("UPDATE", Rights::UPDATE),
            ("DELETE", Rights::DELETE),
            ("EXECUTE", Rights::EXECUTE),
            ("INHERIT", Rights::INHERIT),
        ];
        const KEPT: &str = "SELECT, INSERT, UPDATE, DELETE, EXECUTE, INHERIT or ALL";
        self.skip();
        let (mut rights, mut is_all) = (0, false);
        loop {
            if self.take("ALL") {
                is_all = true;
            } else if let Some((_, right)) = WORDS.iter().find(|(word, _)| self.take(word)) {
                rights |= right.0;
            } else if ["CREATE", "ALTER", "DROP", "ACCESS"]
                .iter()
                .any(|word| self.is_next(word))
            {
                let why = format!("only ADSSYS and the members of DB:Admin change a data dictionary: name {KEPT}");
                return Err(self.refusal(&why));
            } else {
                return Err(self.unexpected(KEPT));
            }
            if self.is_token(&Token::LParen) {
                return Err(self.refusal("rights are those of a table as a whole: leave the column out"));
            }
            if !self.grammar.consume_token(&Token::Comma) {
                break;
            }
        }
        self.expect("ON")?;
        let object = self.table_name()?.to_string();
        self.expect(if grants { "TO" } else { "FROM" })?;
        let grantee = self.ident()?.value;
        if self.is_next("WITH") {
            return Err(
                self.refusal("rights are granted by ADSSYS and the members of DB:Admin alone: leave WITH GRANT out")
            );
        }
        let rights = (!is_all).then_some(Rights(rights));
        Ok(StatementKind::Define(Box::new(Definition::Rights {
            rights,
            object,
            grantee,
            grants,
        })))
    }

    /// What stands behind DROP TRIGGER.
    pub(super) fn drop_trigger(&mut self) -> Result<StatementKind> {
        let mut written = self.table_name()?;
        let name = written.parts.pop().unwrap_or_default();
        let table = written.to_string();
        Ok(StatementKind::Define(Box::new(Definition::DropTrigger { table, name })))
    }
}

/// A parameter as `AdsCreateTable` has fields: `name,CHAR,20;`. Text that varies is as long as it may be.
fn definition_of(name: &str, type_of: &TypeName) -> String {
    let written = type_of.name.value.to_ascii_uppercase();
    let kind = match written.as_str() {
        "STRING" => "MEMO",
        "VARCHAR" | "CHARACTER" => "CHAR",
        "INT" => "INTEGER",
        "SHORT" | "SMALLINT" => "SHORTINT",
        "BIGINT" | "LONGINT" => "LONGINTEGER",
        "BIT" | "BOOLEAN" => "LOGICAL",
        "FLOAT" | "REAL" => "DOUBLE",
        "DECIMAL" => "NUMERIC",
        "DATETIME" => "TIMESTAMP",
        "BLOB" => "BINARY",
        other => other,
    };
    let numbers = type_of.length.into_iter().chain(type_of.decimals);
    let numbers: String = numbers.map(|number| format!(",{number}")).collect();
    format!("{name},{kind}{numbers};")
}
