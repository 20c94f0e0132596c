//! Values of random types: their bytes become Arrow values and the same bytes again; damaged ones are errors.
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use tidemill_cql::{
    CollectionType, ColumnType, Error, NativeType, array_of_cells, arrow_type, cells_of_array, decimal,
};

/// A type, and the bytes of some of its values.
#[derive(Clone, Debug)]
struct Column {
    typ: ColumnType<'static>,
    cells: Vec<Option<Vec<u8>>>,
}

fn native() -> impl Strategy<Value = NativeType> {
    proptest::sample::select([arrow_type::NATIVES, &[NativeType::Counter]].concat())
}

fn typ() -> impl Strategy<Value = ColumnType<'static>> {
    native().prop_map(ColumnType::Native).prop_recursive(3, 12, 3, |inner| {
        let collection = |typ| ColumnType::Collection { frozen: false, typ };
        prop_oneof![
            inner
                .clone()
                .prop_map(move |typ| collection(CollectionType::List(Box::new(typ)))),
            inner
                .clone()
                .prop_map(move |typ| collection(CollectionType::Set(Box::new(typ)))),
            (inner.clone(), inner.clone())
                .prop_map(move |(key, value)| collection(CollectionType::Map(Box::new(key), Box::new(value)))),
            (inner.clone(), 1..4_u16).prop_map(|(typ, dimensions)| ColumnType::Vector {
                typ: Box::new(typ),
                dimensions
            }),
            proptest::collection::vec(inner, 1..4).prop_map(ColumnType::Tuple),
        ]
    })
}

/// Bytes of a value, put together here as the protocol says (CQL binary protocol v4, section 6).
fn value(typ: &ColumnType<'static>) -> BoxedStrategy<Vec<u8>> {
    let fixed = |width: usize| proptest::collection::vec(any::<u8>(), width).boxed();
    match typ {
        ColumnType::Native(native) => match native {
            NativeType::Ascii => "[ -~]{0,9}".prop_map(String::into_bytes).boxed(),
            NativeType::Text => ".{0,9}".prop_map(String::into_bytes).boxed(),
            NativeType::Boolean => (0..2_u8).prop_map(|byte| vec![byte]).boxed(),
            NativeType::Blob => proptest::collection::vec(any::<u8>(), 0..9).boxed(),
            NativeType::TinyInt => fixed(1),
            NativeType::SmallInt => fixed(2),
            NativeType::Int | NativeType::Float | NativeType::Date => fixed(4),
            NativeType::BigInt | NativeType::Counter | NativeType::Double | NativeType::Timestamp => fixed(8),
            NativeType::Uuid | NativeType::Timeuuid => fixed(16),
            NativeType::Inet => prop_oneof![fixed(4), fixed(16)].boxed(),
            NativeType::Time => (0..86_400_000_000_000_i64)
                .prop_map(|nanos| nanos.to_be_bytes().to_vec())
                .boxed(),
            NativeType::Varint => any::<i128>().prop_map(decimal::varint).boxed(),
            NativeType::Decimal => (any::<i128>(), -300..300_i32)
                .prop_map(|(number, scale)| [scale.to_be_bytes().to_vec(), decimal::varint(number)].concat())
                .boxed(),
            // Three numbers below 64 of one sign, doubled, the negative ones less one.
            _ => (proptest::collection::vec(0..32_u8, 3), any::<bool>())
                .prop_map(|(parts, negative)| {
                    let parts = parts.into_iter();
                    parts
                        .map(|part| {
                            if negative {
                                (part * 2).saturating_sub(1)
                            } else {
                                part * 2
                            }
                        })
                        .map(|part| if negative && part == 0 { 1 } else { part })
                        .collect()
                })
                .boxed(),
        },
        ColumnType::Collection { typ, .. } => match typ {
            CollectionType::List(element) | CollectionType::Set(element) => {
                proptest::collection::vec(value(element), 0..4)
                    .prop_map(|elements| counted(elements.len(), elements.into_iter().map(Some)))
                    .boxed()
            }
            CollectionType::Map(key, element) => proptest::collection::vec((value(key), value(element)), 0..4)
                .prop_map(|pairs| {
                    counted(
                        pairs.len(),
                        pairs.into_iter().flat_map(|(key, value)| [Some(key), Some(value)]),
                    )
                })
                .boxed(),
            other => panic!("{other:?}"),
        },
        ColumnType::Vector { typ, dimensions } => {
            let width = typ.type_size_for_vector();
            proptest::collection::vec(value(typ), usize::from(*dimensions))
                .prop_map(move |elements| {
                    let mut bytes = Vec::new();
                    for element in elements {
                        if width.is_none() {
                            // Lengths below 128 are a byte; others have a bit in front for each byte more.
                            match u8::try_from(element.len()) {
                                Ok(length @ ..128) => bytes.push(length),
                                _ => bytes.extend((element.len() as u16 | 0x8000).to_be_bytes()),
                            }
                        }
                        bytes.extend(element);
                    }
                    bytes
                })
                .boxed()
        }
        ColumnType::Tuple(types) => types
            .iter()
            .map(|typ| proptest::option::of(value(typ)))
            .collect::<Vec<_>>()
            .prop_map(|fields| cells(fields.into_iter()))
            .boxed(),
        other => panic!("{other:?}"),
    }
}

fn cells(values: impl Iterator<Item = Option<Vec<u8>>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        match value {
            Some(value) => {
                bytes.extend((value.len() as i32).to_be_bytes());
                bytes.extend(value);
            }
            None => bytes.extend((-1_i32).to_be_bytes()),
        }
    }
    bytes
}

fn counted(count: usize, values: impl Iterator<Item = Option<Vec<u8>>>) -> Vec<u8> {
    [(count as i32).to_be_bytes().to_vec(), cells(values)].concat()
}

fn column() -> impl Strategy<Value = Column> {
    typ().prop_flat_map(|typ| {
        let cells = proptest::collection::vec(proptest::option::of(value(&typ)), 0..5);
        cells.prop_map(move |cells| Column {
            typ: typ.clone(),
            cells,
        })
    })
}

fn read(column: &Column) -> Result<ArrayRef, Error> {
    array_of_cells(&column.typ, column.cells.iter().map(|cell| cell.as_deref()))
}

proptest! {
    #[test]
    fn bytes_come_back(column in column()) {
        let array = read(&column).unwrap();
        array.to_data().validate_full().unwrap();
        prop_assert_eq!(array.data_type(), &arrow_type::data_type(&column.typ));
        prop_assert_eq!(array.len(), column.cells.len());
        for (row, cell) in column.cells.iter().enumerate() {
            prop_assert_eq!(array.is_null(row), cell.is_none());
        }
        prop_assert_eq!(&cells_of_array(&column.typ, &array).unwrap(), &column.cells);
        // A part of an array is written as such.
        if column.cells.len() > 1 {
            prop_assert_eq!(&cells_of_array(&column.typ, &array.slice(1, 1)).unwrap()[0], &column.cells[1]);
        }
    }

    #[test]
    fn bytes_that_are_cut_or_changed_are_an_error_or_a_sound_value(column in column(), at in any::<usize>(), byte in any::<u8>()) {
        for bytes in column.cells.iter().flatten() {
            let mut damaged: Vec<Vec<u8>> = (0..bytes.len()).map(|end| bytes[..end].to_vec()).collect();
            damaged.push([&bytes[..], &[0]].concat());
            if !bytes.is_empty() {
                let mut changed = bytes.clone();
                changed[at % bytes.len()] = byte;
                damaged.push(changed);
            }
            for cell in damaged {
                if let Ok(array) = array_of_cells(&column.typ, [Some(cell.as_slice())]) {
                    array.to_data().validate_full().unwrap();
                }
            }
        }
    }
}

/// Where a cut can't be mistaken for another value.
#[test]
fn a_cut_anywhere_is_an_error() {
    let int = || Box::new(ColumnType::Native(NativeType::Int));
    let list = ColumnType::Collection {
        frozen: true,
        typ: CollectionType::List(int()),
    };
    let vector = ColumnType::Vector {
        typ: Box::new(list.clone()),
        dimensions: 2,
    };
    let one = counted(1, [Some(vec![0, 0, 0, 7])].into_iter());
    let two = [vec![one.len() as u8], one.clone(), vec![one.len() as u8], one.clone()].concat();
    for (typ, bytes) in [(*int(), vec![0, 0, 0, 7]), (list, one), (vector, two)] {
        assert!(array_of_cells(&typ, [Some(bytes.as_slice())]).is_ok());
        for end in 1..bytes.len() {
            let error = array_of_cells(&typ, [Some(&bytes[..end])]).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
        let error = array_of_cells(&typ, [Some([&bytes[..], &[0]].concat().as_slice())]).unwrap_err();
        assert!(error.to_string().contains("expected"), "{error}");
    }
}

/// Lengths that nothing stands behind take no memory.
#[test]
fn lengths_are_not_believed() {
    let text = Box::new(ColumnType::Native(NativeType::Text));
    let list = ColumnType::Collection {
        frozen: false,
        typ: CollectionType::List(text.clone()),
    };
    let map = ColumnType::Collection {
        frozen: false,
        typ: CollectionType::Map(text.clone(), text.clone()),
    };
    let vector = ColumnType::Vector {
        typ: text.clone(),
        dimensions: u16::MAX,
    };
    for (typ, bytes) in [
        (&list, &[0x7f, 0xff, 0xff, 0xff][..]),
        (&list, &[0xff, 0xff, 0xff, 0xff]),
        (&list, &[0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff]),
        (&map, &[0x7f, 0xff, 0xff, 0xff]),
        (&map, &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
        (&vector, &[0xff; 9]),
        (&ColumnType::Tuple(vec![*text]), &[0x7f, 0xff, 0xff, 0xff]),
        (&ColumnType::Native(NativeType::Duration), &[0xff; 8]),
        (&ColumnType::Native(NativeType::Inet), &[0; 5]),
        (&ColumnType::Native(NativeType::Text), &[0xff]),
        (&ColumnType::Native(NativeType::Ascii), "ä".as_bytes()),
        (&ColumnType::Native(NativeType::Time), &[0xff; 8]),
    ] {
        let error = array_of_cells(typ, [Some(bytes)]).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}
