//! Statements of scripts: ADS's subset of SQL/PSM.

use sqlparser::tokenizer::Token;

use super::Parser;
use crate::sql::error::Result;
use crate::sql::statement::{Condition, Declaration, Script, Statement, StatementKind};

impl Parser<'_> {
    /// A statement that begins with this word, in capitals.
    pub(super) fn script_statement(&mut self, name: &str) -> Result<StatementKind> {
        let script = match name {
            "DECLARE" => self.declare()?,
            "IF" => self.if_statement()?,
            "WHILE" => self.while_statement()?,
            "OPEN" => {
                self.skip();
                let cursor = self.ident()?;
                let select = self.cursor_statement()?;
                Script::Open { cursor, select }
            }
            "CLOSE" => {
                self.skip();
                Script::Close(self.ident()?)
            }
            "FETCH" => {
                self.skip();
                Script::Fetch(self.ident()?)
            }
            "TRY" => self.try_statement()?,
            "RAISE" => self.raise()?,
            "RETURN" => {
                self.skip();
                let is_bare = self.is_end() || self.is_token(&Token::SemiColon);
                Script::Return(match is_bare {
                    true => None,
                    false => Some(self.expression()?),
                })
            }
            "LEAVE" => {
                self.skip();
                Script::Leave
            }
            "CONTINUE" => {
                self.skip();
                Script::Continue
            }
            "CACHE" if self.is_nth(1, "PREPARE") => {
                self.skip();
                self.skip();
                match self.take_any(&["ON", "OFF", "DEFAULT"]) {
                    Some(_) => Script::CachePrepare,
                    None => return Err(self.unexpected("ON, OFF or DEFAULT")),
                }
            }
            _ => {
                let is_set = self.take("SET");
                let is_assignment = self.grammar.peek_nth_token_ref(1).token == Token::Eq;
                if !is_assignment {
                    return Err(self.unexpected(if is_set { "a variable and =" } else { "a statement" }));
                }
                let variable = self.ident()?;
                self.skip();
                Script::Assign {
                    variable,
                    value: self.expression()?,
                }
            }
        };
        Ok(StatementKind::Script(Box::new(script)))
    }

    fn declare(&mut self) -> Result<Script> {
        self.skip();
        let mut declarations = Vec::new();
        loop {
            let name = self.ident()?;
            declarations.push(match self.take("CURSOR") {
                true => Declaration::Cursor {
                    name,
                    select: self.cursor_statement()?,
                },
                false => Declaration::Variable {
                    name,
                    type_of: self.type_name()?,
                },
            });
            if !self.grammar.consume_token(&Token::Comma) {
                return Ok(Script::Declare(declarations));
            }
        }
    }

    /// `[AS SELECT …]`.
    fn cursor_statement(&mut self) -> Result<Option<Box<Statement>>> {
        match self.take("AS") {
            true => self.statement().map(Box::new).map(Some),
            false => Ok(None),
        }
    }

    fn if_statement(&mut self) -> Result<Script> {
        self.skip();
        let mut branches = Vec::new();
        loop {
            let condition = self.condition()?;
            self.expect("THEN")?;
            branches.push((condition, self.statements(&["ELSEIF", "ELIF", "ELSE", "END", "ENDIF"])?));
            if self.take_any(&["ELSEIF", "ELIF"]).is_some() {
                continue;
            }
            let otherwise = match self.take("ELSE") {
                true => self.statements(&["END", "ENDIF"])?,
                false => Vec::new(),
            };
            self.end("IF")?;
            return Ok(Script::If { branches, otherwise });
        }
    }

    fn while_statement(&mut self) -> Result<Script> {
        self.skip();
        let condition = self.condition()?;
        self.expect("DO")?;
        let body = self.statements(&["END", "ENDWHILE"])?;
        self.end("WHILE")?;
        Ok(Script::While { condition, body })
    }

    fn try_statement(&mut self) -> Result<Script> {
        const PARTS: [&str; 4] = ["CATCH", "FINALLY", "END", "ENDTRY"];
        self.skip();
        let body = self.statements(&PARTS)?;
        let (mut catches, mut finally) = (Vec::new(), Vec::new());
        while self.take("CATCH") {
            let class = match self.take("ALL") {
                true => None,
                false => Some(self.ident()?),
            };
            catches.push((class, self.statements(&PARTS)?));
        }
        if self.take("FINALLY") {
            finally = self.statements(&["END", "ENDTRY"])?;
        }
        self.end("TRY")?;
        Ok(Script::Try { body, catches, finally })
    }

    fn raise(&mut self) -> Result<Script> {
        self.skip();
        if self.is_end() || self.is_token(&Token::SemiColon) {
            return Ok(Script::Raise(None));
        }
        let class = self.ident()?;
        self.expect_token(&Token::LParen)?;
        let code = self.expression()?;
        self.expect_token(&Token::Comma)?;
        let text = self.expression()?;
        self.expect_token(&Token::RParen)?;
        Ok(Script::Raise(Some(Box::new((class, code, text)))))
    }

    fn condition(&mut self) -> Result<Condition> {
        if self.is_next("NOT") && self.is_nth(1, "FETCH") {
            self.skip();
            self.skip();
            return self.ident().map(Condition::NotFetch);
        }
        match self.take("FETCH") {
            true => self.ident().map(Condition::Fetch),
            false => self.expression().map(Box::new).map(Condition::Expression),
        }
    }

    /// `END IF`, `ENDIF` or `END`.
    fn end(&mut self, what: &str) -> Result<()> {
        if self.take(&format!("END{what}")) {
            return Ok(());
        }
        self.expect("END")?;
        match ["IF", "WHILE", "TRY"].iter().any(|word| self.is_next(word)) {
            // That of another statement is a fault.
            true => self.expect(what),
            false => Ok(()),
        }
    }
}
