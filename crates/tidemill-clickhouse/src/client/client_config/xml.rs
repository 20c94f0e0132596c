//! Configurations in XML.
//!
//! The name of the root does not matter (`config`, `clickhouse`, `yandex`). Entities are those of XML itself: a document that
//! declares others is refused.

use quick_xml::{Reader, events::Event};

use super::element::{Element, TreeBuilder};
use crate::{Error, Result};

/// The root of a document.
///
/// # Errors
///
/// [`Error::Option`] when the text is no XML, and those of building a tree.
pub(super) fn parse(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Element> {
    let mut reader = Reader::from_str(text);
    let mut tree = TreeBuilder::new(environment);
    let mut depth = 0_usize;
    loop {
        let event = reader.read_event().map_err(|error| wrong(&reader, &error))?;
        match event {
            Event::Start(start) => {
                if depth > 0 {
                    begin(&mut tree, &start, &reader)?;
                }
                depth += 1;
            }
            Event::Empty(start) if depth > 0 => {
                begin(&mut tree, &start, &reader)?;
                tree.end();
            }
            // That of the root ends nothing in the tree.
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                tree.end();
            }
            Event::Text(text) => tree.text(&text.decode().map_err(|error| wrong(&reader, &error))?),
            Event::CData(text) => tree.text(&text.decode().map_err(|error| wrong(&reader, &error))?),
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(|error| wrong(&reader, &error))?;
                let character = reference.resolve_char_ref().map_err(|error| wrong(&reader, &error))?;
                match (character, quick_xml::escape::resolve_xml_entity(&name)) {
                    (Some(character), _) => tree.text(character.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => tree.text(text),
                    (None, None) => return Err(wrong(&reader, &"an entity that XML does not have")),
                }
            }
            Event::Eof if depth > 0 => return Err(wrong(&reader, &"the end of the file in an element")),
            Event::Eof => break,
            Event::DocType(_) => return Err(wrong(&reader, &"a declaration of a document type")),
            _ => {}
        }
    }
    Ok(tree.finish())
}

fn begin(tree: &mut TreeBuilder<'_>, start: &quick_xml::events::BytesStart<'_>, reader: &Reader<&[u8]>) -> Result<()> {
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    tree.begin(name(start.name().as_ref()))?;
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| wrong(reader, &error))?;
        tree.attribute(&name(attribute.key.as_ref()), &name(&attribute.value))?;
    }
    Ok(())
}

fn wrong(reader: &Reader<&[u8]>, problem: &dyn std::fmt::Display) -> Error {
    Error::Option {
        option: format!("byte {}", reader.buffer_position()),
        expected: format!("XML, found {problem}"),
    }
}
