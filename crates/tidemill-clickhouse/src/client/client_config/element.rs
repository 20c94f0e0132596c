//! A configuration as a tree of elements, whatever it was written in.

use crate::{Error, Result};

/// An element: text, and elements in it.
#[derive(Debug, Default)]
pub(super) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The first element at `path`, whose names have dots between them.
    pub(super) fn get(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |element, name| {
            element.children.iter().find(|child| child.name == name)
        })
    }

    pub(super) fn children(&self) -> &[Self] {
        &self.children
    }

    /// The text without the blanks around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    /// The text as it is: blanks may be a part of a password.
    pub(super) fn raw_text(&self) -> &str {
        &self.text
    }

    pub(super) fn text_at(&self, path: &str) -> Option<&str> {
        self.get(path).map(Self::text)
    }
}

/// Makes a tree of what a parser comes by.
pub(super) struct TreeBuilder<'a> {
    /// From the root to the element that is open.
    open: Vec<Element>,
    count: u64,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn new(environment: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            open: vec![Element::default()],
            count: 0,
            environment,
        }
    }

    pub(super) fn begin(&mut self, name: String) -> Result<()> {
        self.count += 1;
        for (what, limit, found) in [
            ("the number of elements of a configuration", MAX_ELEMENTS, self.count),
            ("the depth of a configuration", MAX_DEPTH, self.open.len() as u64),
        ] {
            if found > limit {
                return Err(Error::Limit { what, limit, found });
            }
        }
        self.open.push(Element {
            name,
            ..Element::default()
        });
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    /// Takes an attribute of the element that is open. Most are for servers, and mean nothing here.
    ///
    /// Source: `Common/Config/ConfigProcessor.cpp` of ClickHouse.
    pub(super) fn attribute(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "from_env" => match (self.environment)(value) {
                Some(text) => {
                    self.text(&text);
                    Ok(())
                }
                None => Err(Error::Option {
                    option: format!("from_env={value}"),
                    expected: "a variable of the environment".to_owned(),
                }),
            },
            "incl" | "from_zk" => Err(Error::Unsupported {
                what: format!("an element of a configuration with the attribute {name}"),
                hint: "write its text, or take it from the environment by from_env",
            }),
            _ => Ok(()),
        }
    }

    /// Ends the element that is open. The root stays.
    pub(super) fn end(&mut self) {
        if self.open.len() > 1
            && let Some(element) = self.open.pop()
            && let Some(parent) = self.open.last_mut()
        {
            parent.children.push(element);
        }
    }

    /// The element that has all others, without a name.
    pub(super) fn finish(mut self) -> Element {
        while self.open.len() > 1 {
            self.end();
        }
        self.open.pop().unwrap_or_default()
    }
}

const MAX_DEPTH: u64 = 32;
const MAX_ELEMENTS: u64 = 10_000;
