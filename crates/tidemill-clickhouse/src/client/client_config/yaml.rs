//! Configurations in YAML, as ClickHouse makes XML of them.
//!
//! A key is an element, a list repeats it, a key that begins with `@` is an attribute, and `#text` is the text of an element
//! that has attributes. Source: `Common/Config/YAMLParser.cpp` of ClickHouse.
//!
//! Aliases are refused: a few of them can stand for a document without an end.

use saphyr_parser::{Event, Marker, Parser};

use super::element::{Element, TreeBuilder};
use crate::{Error, Result};

/// What is open.
enum Open {
    /// A mapping: the key whose value comes next.
    Mapping(Option<String>),
    /// A list of elements of this name.
    Sequence(String),
}

/// The element that has those of the document.
///
/// # Errors
///
/// [`Error::Option`] when the text is no YAML, or none that can be XML, and those of building a tree.
pub(super) fn parse(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Element> {
    let mut tree = TreeBuilder::new(environment);
    let mut open: Vec<Open> = Vec::new();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| wrong(error.marker(), error.info()))?;
        let refuse = |problem: &str| Err(wrong(&span.start, problem));
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return refuse("a second document");
                }
            }
            Event::Alias(_) => return refuse("an alias"),
            Event::Scalar(text, ..) => match open.last_mut() {
                Some(Open::Mapping(key @ None)) => *key = Some(text.into_owned()),
                Some(Open::Mapping(slot @ Some(_))) => {
                    let key = slot.take().unwrap_or_default();
                    match key.strip_prefix('@') {
                        Some(attribute) => tree.attribute(attribute, &text)?,
                        None if key == "#text" => tree.text(&text),
                        None => {
                            tree.begin(key)?;
                            tree.text(&text);
                            tree.end();
                        }
                    }
                }
                Some(Open::Sequence(name)) => {
                    tree.begin(name.clone())?;
                    tree.text(&text);
                    tree.end();
                }
                // An empty document.
                None if text.is_empty() || &*text == "~" => {}
                None => return refuse("text without a key"),
            },
            Event::MappingStart(..) => {
                match open.last_mut() {
                    Some(Open::Mapping(None)) => return refuse("a mapping for a key"),
                    Some(Open::Mapping(Some(name)) | Open::Sequence(name)) => tree.begin(name.clone())?,
                    None => {}
                }
                open.push(Open::Mapping(None));
            }
            Event::SequenceStart(..) => match open.last() {
                Some(Open::Mapping(Some(name))) => {
                    let name = name.clone();
                    open.push(Open::Sequence(name));
                }
                _ => return refuse("a list without a key"),
            },
            Event::MappingEnd => {
                open.pop();
                if !open.is_empty() {
                    tree.end();
                }
                end_of_value(&mut open);
            }
            Event::SequenceEnd => {
                open.pop();
                end_of_value(&mut open);
            }
            _ => {}
        }
    }
    Ok(tree.finish())
}

/// Behind a value a mapping has a key again.
fn end_of_value(open: &mut [Open]) {
    if let Some(Open::Mapping(key)) = open.last_mut() {
        *key = None;
    }
}

fn wrong(place: &Marker, problem: &str) -> Error {
    Error::Option {
        option: format!("line {}, column {}", place.line(), place.col() + 1),
        expected: format!("YAML of keys and values, found {problem}"),
    }
}
