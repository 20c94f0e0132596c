//! `CREATE`, `ALTER` and `DROP`.

use sqlparser::ast::Ident;
use sqlparser::tokenizer::Token;
use tidemill_xbase::full_text::{FullTextOptions, Listed};

use super::Parser;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::statement::{
    ColumnRule, ColumnSpec, CreateIndex, CreateTable, IndexColumn, StatementKind, TableChange, TypeName,
};

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<StatementKind> {
        self.skip();
        self.take("ONLINE");
        let is_unique = self.take("UNIQUE");
        if self.take("INDEX") {
            let name = self.ident()?;
            self.expect("ON")?;
            let table = self.table_name()?;
            let columns = self.in_parentheses(Self::index_column)?;
            let mut index = CreateIndex {
                name,
                table,
                columns,
                is_unique,
                is_candidate: false,
                is_without_deleted: false,
                is_without_null: false,
                words: None,
                file: None,
            };
            self.index_options(&mut index)?;
            return Ok(StatementKind::CreateIndex(Box::new(index)));
        }
        if self.take("VIEW") {
            let name = self.table_name()?;
            self.expect("AS")?;
            let begin = self.place();
            let select = Box::new(self.select()?);
            let text = self.written_from(begin);
            return Ok(StatementKind::CreateView { name, select, text });
        }
        if self.take("DATABASE") {
            return self.database();
        }
        if self.take("TRIGGER") {
            return self.trigger(false);
        }
        if self.take("PROCEDURE") {
            return self.procedure(false);
        }
        if self.take("FUNCTION") {
            return self.function(false);
        }
        if self.take("PACKAGE") {
            return self.package();
        }
        if !self.take("TABLE") {
            self.refuse_dictionary("CREATE")?;
            return Err(self.unexpected("TABLE, INDEX or VIEW"));
        }
        let if_not_exists = self.is_next("IF") && self.is_nth(1, "NOT") && self.is_nth(2, "EXISTS");
        if if_not_exists {
            (0..3).for_each(|_| self.skip());
        }
        let name = self.table_name()?;
        let mut table = CreateTable {
            name,
            if_not_exists,
            columns: Vec::new(),
            primary_key: None,
            unique: Vec::new(),
            select: None,
            in_database: None,
        };
        if self.take("AS") {
            table.select = Some(Box::new(self.select()?));
            return Ok(StatementKind::CreateTable(Box::new(table)));
        }
        self.expect_token(&Token::LParen)?;
        loop {
            self.table_element(&mut table)?;
            if !self.grammar.consume_token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        table.in_database = self.table_options()?;
        Ok(StatementKind::CreateTable(Box::new(table)))
    }

    pub(super) fn alter(&mut self) -> Result<StatementKind> {
        self.skip();
        if self.take("TRIGGER") {
            return self.trigger(true);
        }
        if self.take("PROCEDURE") {
            return self.procedure(true);
        }
        if self.take("FUNCTION") {
            return self.function(true);
        }
        self.take_any(&["ONLINE", "ONLINE_WITH_TRANSITION"]);
        self.expect("TABLE")?;
        let table = self.table_name()?;
        let mut changes = Vec::new();
        while !self.is_end() && !self.is_token(&Token::SemiColon) {
            changes.push(self.table_change()?);
            let _ = self.grammar.consume_token(&Token::Comma);
        }
        match changes.is_empty() {
            true => Err(self.unexpected("ADD, ALTER or DROP")),
            false => Ok(StatementKind::AlterTable { table, changes }),
        }
    }

    pub(super) fn drop_object(&mut self) -> Result<StatementKind> {
        self.skip();
        if self.take("TRIGGER") {
            return self.drop_trigger();
        }
        if self.take("PROCEDURE") {
            return self.drop_procedure();
        }
        if self.take("FUNCTION") {
            return self.drop_function();
        }
        if self.take("PACKAGE") {
            return self.drop_package();
        }
        match self.take_any(&["TABLE", "INDEX", "VIEW"]) {
            Some(0) => {
                let if_exists = self.if_exists();
                let table = self.table_name()?;
                let mut keeps_files = false;
                if self.take("FROM") {
                    self.expect("DATABASE")?;
                    keeps_files = self.take("NO_DELETE");
                }
                Ok(StatementKind::DropTable {
                    table,
                    if_exists,
                    keeps_files,
                })
            }
            Some(1) => {
                let mut table = self.table_name()?;
                let index = match (table.parts.len(), table.parts.pop()) {
                    (2.., Some(index)) => sqlparser::ast::Ident::new(index),
                    _ => return Err(self.unexpected("the name of a table, a point and that of its index")),
                };
                Ok(StatementKind::DropIndex { table, index })
            }
            Some(_) => Ok(StatementKind::DropView {
                if_exists: self.if_exists(),
                name: self.table_name()?,
            }),
            None => {
                self.refuse_dictionary("DROP")?;
                Err(self.unexpected("TABLE, INDEX or VIEW"))
            }
        }
    }

    /// Refuses what only a data dictionary keeps.
    fn refuse_dictionary(&self, verb: &str) -> Result<()> {
        let kept = ["GROUP", "PUBLICATION", "SUBSCRIPTION", "USER"];
        match kept.iter().find(|word| self.is_next(word)) {
            Some(what) => {
                let why =
                    format!("{verb} {what} needs a data dictionary that keeps such objects, and those here do not");
                Err(self.refusal(&why))
            }
            None => Ok(()),
        }
    }

    /// What stands behind CREATE DATABASE. Whatever would be encrypted is refused.
    fn database(&mut self) -> Result<StatementKind> {
        let (path, mut description, mut password) = (self.table_name()?, String::new(), String::new());
        loop {
            match self.take_any(&["DESCRIPTION", "ENCRYPT", "PASSWORD", "ENCRYPTIONTYPE", "DDPASSWORD"]) {
                Some(0) => description = self.text()?,
                Some(1) if !self.is_next("FALSE") => {
                    return Err(self.refusal("data dictionaries are not encrypted: leave ENCRYPT out"));
                }
                Some(1) => self.skip(),
                Some(2) => password = self.text()?,
                Some(_) => {
                    let why = "data dictionaries are not encrypted: leave ENCRYPTIONTYPE and DDPASSWORD out";
                    return Err(self.refusal(why));
                }
                None => {
                    return Ok(StatementKind::CreateDatabase {
                        path,
                        description,
                        password,
                    });
                }
            }
        }
    }

    /// A text in quotes.
    pub(super) fn text(&mut self) -> Result<String> {
        match self.grammar.parse_literal_string() {
            Ok(text) => Ok(text),
            Err(_) => Err(self.unexpected("a text in quotes")),
        }
    }

    /// That what stands here is not done.
    pub(super) fn refusal(&self, why: &str) -> Error {
        Error::new(Kind::Unsupported, why).at(self.place())
    }

    fn if_exists(&mut self) -> bool {
        let is_next = self.is_next("IF") && self.is_nth(1, "EXISTS");
        if is_next {
            self.skip();
            self.skip();
        }
        is_next
    }

    fn table_change(&mut self) -> Result<TableChange> {
        if self.is_next("IGNORE") || self.is_next("RESPECT") {
            return Err(
                self.refusal("a table takes part in every transaction here: leave IGNORE and RESPECT TRANSACTIONS out")
            );
        }
        match self.take_any(&["ADD", "ALTER", "DROP"]) {
            Some(0) => {
                self.take("COLUMN");
                let column = self.column_spec()?;
                Ok(TableChange::Add(column, self.position()?))
            }
            Some(1) => {
                self.take("COLUMN");
                let old = self.ident()?;
                if self.take("DROP") {
                    let rule = match self.take("DEFAULT") {
                        true => ColumnRule::Default,
                        false => self.constraint()?,
                    };
                    return Ok(TableChange::DropRule(old, rule));
                }
                let column = self.column_spec()?;
                Ok(TableChange::Alter(old, column, self.position()?))
            }
            Some(_) => {
                let is_named = self.is_next("CONSTRAINT") && self.is_nth(1, "PRIMARY");
                if is_named || self.is_next("PRIMARY") && self.is_nth(1, "KEY") {
                    self.take("CONSTRAINT");
                    self.expect("PRIMARY")?;
                    self.expect("KEY")?;
                    return Ok(TableChange::DropPrimaryKey);
                }
                self.take("COLUMN");
                Ok(TableChange::Drop(self.ident()?))
            }
            None => Err(self.unexpected("ADD, ALTER or DROP")),
        }
    }

    fn position(&mut self) -> Result<Option<u64>> {
        match self.take("POSITION") {
            true => self.number().map(Some),
            false => Ok(None),
        }
    }

    fn table_element(&mut self, table: &mut CreateTable) -> Result<()> {
        // A column may be called UNIQUE.
        let is_key = match self.is_next("UNIQUE") {
            true => self.grammar.peek_nth_token_ref(1).token == Token::LParen,
            false => !self.is_next("PRIMARY") || self.is_nth(1, "KEY"),
        };
        if is_key && let Some((name, is_primary)) = self.key_begins()? {
            let columns = self.in_parentheses(Self::index_column)?;
            table.add_key((name, columns), is_primary);
            return Ok(());
        }
        let mut column = self.column_spec()?;
        let index = IndexColumn {
            name: column.name.clone(),
            is_descending: false,
        };
        while let Some((name, is_primary)) = self.key_begins()? {
            table.add_key((name, vec![index.clone()]), is_primary);
            self.column_attributes(&mut column)?;
        }
        table.columns.push(column);
        Ok(())
    }

    /// `[CONSTRAINT name] PRIMARY KEY` or `[CONSTRAINT name] UNIQUE`: its name, and whether it is the primary key.
    fn key_begins(&mut self) -> Result<Option<(Option<Ident>, bool)>> {
        let begin = if self.is_next("CONSTRAINT") { 2 } else { 0 };
        if !self.is_nth(begin, "PRIMARY") && !self.is_nth(begin, "UNIQUE") {
            return Ok(None);
        }
        let name = match self.take("CONSTRAINT") {
            true => Some(self.ident()?),
            false => None,
        };
        let is_primary = !self.take("UNIQUE");
        if is_primary {
            self.expect("PRIMARY")?;
            self.expect("KEY")?;
        }
        Ok(Some((name, is_primary)))
    }

    fn column_spec(&mut self) -> Result<ColumnSpec> {
        let name = self.ident()?;
        let type_of = self.type_name()?;
        let mut column = ColumnSpec {
            name,
            type_of,
            nullable: None,
            binary: false,
            rules: Vec::new(),
        };
        self.column_attributes(&mut column)?;
        Ok(column)
    }

    /// What stands behind the type of a column, but for keys.
    fn column_attributes(&mut self, column: &mut ColumnSpec) -> Result<()> {
        loop {
            if self.take("NULL") {
                column.nullable = Some(true);
            } else if self.take("NOCPTRANS") {
                column.binary = true;
            } else if self.is_next("NOT") && self.is_nth(1, "NULL") {
                self.skip();
                self.skip();
                column.nullable = Some(false);
            } else if self.is_next("CONSTRAINT") && !self.is_nth(2, "PRIMARY") && !self.is_nth(2, "UNIQUE") {
                self.skip();
                let rule = self.constraint()?;
                let value = match rule {
                    ColumnRule::NotNull => String::new(),
                    _ => self.rule_value()?,
                };
                column.rules.push((rule, value));
            } else if self.take("DEFAULT") {
                column.rules.push((ColumnRule::Default, self.rule_value()?));
            } else {
                return Ok(());
            }
        }
    }

    /// What stands behind CONSTRAINT, and behind DROP.
    fn constraint(&mut self) -> Result<ColumnRule> {
        Ok(match self.take_any(&["NOT", "MINIMUM", "MAXIMUM", "ERROR"]) {
            Some(0) => {
                self.expect("NULL")?;
                ColumnRule::NotNull
            }
            Some(1) => ColumnRule::Minimum,
            Some(2) => ColumnRule::Maximum,
            Some(_) => {
                self.expect("MESSAGE")?;
                ColumnRule::Message
            }
            None => return Err(self.unexpected("NOT NULL, MINIMUM, MAXIMUM or ERROR MESSAGE")),
        })
    }

    /// An expression in quotes, or a number.
    fn rule_value(&mut self) -> Result<String> {
        let sign = match self.grammar.consume_token(&Token::Minus) {
            true => "-",
            false => "",
        };
        match self.grammar.peek_token().token {
            Token::Number(digits, _) => {
                self.skip();
                Ok(format!("{sign}{digits}"))
            }
            _ if sign.is_empty() => self.text(),
            _ => Err(self.unexpected("a number")),
        }
    }

    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        let name = self.ident()?;
        if name.value.eq_ignore_ascii_case("DOUBLE") {
            self.take("PRECISION");
        }
        let (mut length, mut decimals) = (None, None);
        if self.grammar.consume_token(&Token::LParen) {
            length = Some(self.number()?);
            if self.grammar.consume_token(&Token::Comma) {
                decimals = Some(self.number()?);
            }
            self.expect_token(&Token::RParen)?;
        }
        Ok(TypeName { name, length, decimals })
    }

    fn index_column(&mut self) -> Result<IndexColumn> {
        let name = self.ident()?;
        let is_descending = self.take_any(&["ASC", "DESC"]) == Some(1);
        Ok(IndexColumn { name, is_descending })
    }

    fn index_options(&mut self, index: &mut CreateIndex) -> Result<()> {
        let (mut words, mut place) = (FullTextOptions::default(), None);
        loop {
            let begin = self.place();
            if self.take("PAGESIZE") {
                self.number()?;
            } else if self.take("CANDIDATE") {
                index.is_candidate = true;
            } else if self.take("NOTDELETED") {
                index.is_without_deleted = true;
            } else if self.take("CONTENT") {
                index.words.get_or_insert_default();
            } else if self.word_option(&mut words)? {
                place = place.or(Some(begin));
            } else if self.take("IN") {
                self.expect("FILE")?;
                index.file = Some(match self.grammar.peek_token().token {
                    Token::SingleQuotedString(_) => self.text()?,
                    _ => self.ident()?.value,
                });
            } else {
                break;
            }
        }
        match (&mut index.words, place) {
            (Some(own), _) => **own = words,
            (None, Some(place)) => {
                let why = "this option is one of full text indexes: write CONTENT before it";
                return Err(Error::new(Kind::Syntax, why).at(place));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// An option of a full-text index ("Full Text Search Index Options"); whether one stands here.
    fn word_option(&mut self, options: &mut FullTextOptions) -> Result<bool> {
        let lists = ["DELIMITERS", "NOISE", "DROPCHARS", "CONDITIONALS"];
        let is_new = self.is_next("NEW") && lists.iter().any(|list| self.is_nth(1, list));
        if is_new {
            self.skip();
        }
        if let Some(list) = self.take_any(&lists) {
            let listed = Listed {
                with_defaults: !is_new,
                own: self.text()?,
            };
            *match list {
                0 => &mut options.delimiters,
                1 => &mut options.noise,
                2 => &mut options.drop_chars,
                _ => &mut options.conditionals,
            } = listed;
            return Ok(true);
        }
        if let Some(bound) = self.take_any(&["MIN", "MAX"]) {
            self.expect("WORD")?;
            let place = self.place();
            let number = self.number()?;
            let Ok(length) = u16::try_from(number) else {
                let why = format!("A word of {number} letters is longer than any key");
                return Err(Error::new(Kind::Value, why).at(place));
            };
            match bound {
                0 => options.min_word = length,
                _ => options.max_word = length,
            }
            return Ok(true);
        }
        let flags = ["CASESENSITIVE", "KEEPSCORE", "NOTMAINTAINED", "PROTECTNUMBERS"];
        match self.take_any(&flags) {
            Some(0) => options.is_case_sensitive = true,
            Some(1) => options.keeps_score = true,
            Some(2) => options.is_fixed = true,
            Some(_) => options.protects_numbers = true,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// What stands behind the columns of a table; whether its data dictionary takes it in.
    fn table_options(&mut self) -> Result<Option<bool>> {
        let mut in_database = None;
        loop {
            if self.take("MEMOBLOCKSIZE") {
                self.number()?;
            } else if self.take("AS") {
                self.expect("FREE")?;
                self.expect("TABLE")?;
                in_database = Some(false);
            } else if self.take("IN") {
                self.expect("DATABASE")?;
                in_database = Some(true);
            } else if self.is_next("IGNORE") {
                let why = "a table takes part in every transaction here: leave IGNORE TRANSACTIONS out";
                return Err(self.refusal(why));
            } else {
                return Ok(in_database);
            }
        }
    }
}
