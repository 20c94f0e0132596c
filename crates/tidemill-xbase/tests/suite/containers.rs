//! Database containers of Visual FoxPro: long names made, found, and not believed where they do not fit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Field as ArrowField, Schema};
use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    Alteration, CivilDate, CodePage, Container, ContainerLink, CreateOptions, Dialect, EditOptions, Error, Existing,
    FieldSpec, IntegrityRule, KeySettings, OpenOptions, Scan, Table, TableEditor, TableIndex, TableSet, TableWriter,
    Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

const NAMES: [&str; 4] = ["customerName", "customerNumber", "Größe in cm", "id"];
const SHORT: [&str; 4] = ["CUSTOMERNA", "CUSTOMERNU", "GRÖSSE IN", "ID"];

#[test]
fn a_frame_comes_back_with_its_names_and_nulls() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let table = open(&path);
    assert_eq!(names(&table), NAMES);
    let short: Vec<_> = table.fields().iter().map(|field| field.short_name.as_str()).collect();
    assert_eq!(short, SHORT);
    for (at, name) in NAMES.iter().chain(&SHORT).enumerate() {
        assert_eq!(
            table.field_index(&name.to_uppercase()).or(table.field_index(name)),
            Some(at % 4),
            "{name}"
        );
    }
    assert_eq!(table.schema().field(0).metadata().get("xbase.name").unwrap(), SHORT[0]);
    assert_eq!(rows(&table), ["Anna|1||7", "||180|", "|3|0|9"]);
    let nulls: Vec<_> = batch(&table)
        .columns()
        .iter()
        .map(|column| column.null_count())
        .collect();
    assert_eq!(nulls, [1, 1, 1, 1], "an empty text is none");

    let ContainerLink::Used { container, .. } = table.container() else {
        panic!("{:?}", table.container());
    };
    assert_eq!(container.path(), folder.path().join("frame.dbc"));
    let described = table.container().table().unwrap();
    assert_eq!(
        (described.name.as_str(), described.file.as_deref()),
        ("frame", Some("frame.dbf"))
    );

    let plain = Table::open(&path, &OpenOptions::new().long_names(false)).unwrap();
    assert_eq!(names(&plain), SHORT);
}

#[test]
fn the_files_of_a_container_are_a_table_of_their_own() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    // The memo file of the table is not the container's.
    assert!(path.with_extension("fpt").is_file());
    let container = open(&path.with_extension("dbc"));
    assert!(container.header().database);
    assert_eq!(container.memo().unwrap().path(), path.with_extension("dct"));
    assert_eq!(container.verify().unwrap().damage, []);
    let kinds: Vec<_> = rows(&container)
        .iter()
        .map(|row| row.split('|').nth(2).unwrap().to_owned())
        .collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "Database").count(), 5);
    assert_eq!(&kinds[5..], ["Table", "Field", "Field", "Field", "Field"]);
    let letters = tidemill_xbase::expression::Letters::of(container.codepage());
    let environment = tidemill_xbase::expression::Environment::new(container.codepage()).letters(letters);
    let settings = KeySettings::new(container.codepage()).environment(environment);
    let index = TableIndex::production(&container, &settings).unwrap().unwrap();
    assert_eq!(index.index().path(), path.with_extension("dcx"));
    assert_eq!(index.verify(&container).unwrap(), []);
    let tags: Vec<_> = index
        .index()
        .tags()
        .iter()
        .map(|tag| (tag.name.as_str(), tag.key_len))
        .collect();
    assert_eq!(tags, [("OBJECTNAME", 148), ("OBJECTTYPE", 20)]);
}

#[test]
fn expressions_know_both_names() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let table = open(&path);
    let settings = KeySettings::new(table.codepage());
    let orders = [
        OrderSpec::new("LONG", "customerNumber"),
        OrderSpec::new("SHORT", "CUSTOMERNU+ID"),
    ];
    build_index(path.with_extension("cdx"), &table, &orders, &settings).unwrap();
    let index = TableIndex::open(path.with_extension("cdx"), &table, &settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
    // Changes keep both orders.
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let at = editor.opened().field_index("customernumber").unwrap();
    editor.append_values(&[(at, Value::Integer(2))]).unwrap();
    drop(editor);
    let table = open(&path);
    let index = TableIndex::open(path.with_extension("cdx"), &table, &settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn what_is_no_name_of_a_container_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dbf");
    let create = |names: &[&str], options: &CreateOptions| {
        let fields: Vec<_> = names.iter().map(|name| FieldSpec::new(*name, 'L', 1, 0)).collect();
        TableWriter::create(&path, &fields, options).unwrap_err().to_string()
    };
    let long = "n".repeat(129);
    let said = create(&[&long], &options());
    assert!(
        said.ends_with("a name in a database container has 1 to 128 bytes"),
        "{said}"
    );
    let said = create(&["Имя"], &options());
    assert!(said.contains("has no 'И'; create the table in UTF-8"), "{said}");
    let mut foxpro2 = options();
    foxpro2.format = Dialect::FoxPro2;
    let said = create(&["name"], &foxpro2);
    assert!(
        said.ends_with("FoxPro 2 tables have no long names; Visual FoxPro's have"),
        "{said}"
    );
    assert_eq!(files(folder.path()), [] as [String; 0]);

    let mut utf8 = options();
    utf8.codepage = CodePage::Utf8;
    let fields = [FieldSpec::new("Наименование товара", 'L', 1, 0)];
    TableWriter::create(&path, &fields, &utf8).unwrap().finish().unwrap();
    assert_eq!(names(&open(&path)), ["Наименование товара"]);
    assert_eq!(open(&path).fields()[0].short_name, "НАИМЕ");
}

#[test]
fn a_container_that_does_not_fit_is_not_used_and_no_other_folder_is_looked_into() {
    let root = TempDir::new().unwrap();
    let (inside, outside) = (root.path().join("inside"), root.path().join("outside"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    let path = frame(&inside, "frame.dbf");
    let dbc = path.with_extension("dbc");
    let whole = std::fs::read(&dbc).unwrap();
    std::fs::copy(&dbc, outside.join("frame.dbc")).unwrap();
    let unused = |why: &str| {
        let table = open(&path);
        assert_eq!(names(&table), SHORT, "{why}");
        match table.container() {
            ContainerLink::Unused { why: found, .. } => assert!(found.contains(why), "{found}"),
            other => panic!("{why}: {other:?}"),
        }
    };
    let link = |name: &str| {
        let mut bytes = std::fs::read(&path).unwrap();
        let end = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        bytes[end - 263..end].fill(0);
        bytes[end - 263..end - 263 + name.len()].copy_from_slice(name.as_bytes());
        std::fs::write(&path, bytes).unwrap();
    };
    // Of a path the name counts, in any case.
    for name in ["..\\elsewhere\\FRAME.DBC", "c:frame.dbc", "/etc/frame.dbc", "frame.dbc"] {
        link(name);
        assert_eq!(names(&open(&path)), NAMES, "{name}");
    }
    for name in ["../outside/other.dbc", "..\\outside\\none.dbc", "other.dbc"] {
        std::fs::copy(&dbc, outside.join("other.dbc")).unwrap();
        link(name);
        unused("it does not lie in the table's folder");
    }
    for name in ["", "..", "frame.dbf", "\u{1}\u{2}"] {
        link(name);
        assert_eq!(open(&path).container(), &ContainerLink::Free, "{name}");
    }
    link("frame.dbc");
    std::fs::remove_file(&dbc).unwrap();
    unused("it does not lie in the table's folder");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.join("frame.dbc"), &dbc).unwrap();
        unused("expected a regular file, found a symbolic link");
        std::fs::remove_file(&dbc).unwrap();
    }
    // Another table, another number of fields, other names.
    let change = |at: &[u8], to: &[u8]| {
        let mut bytes = whole.clone();
        let found = bytes.windows(at.len()).position(|window| window == at).unwrap();
        bytes[found..found + to.len()].copy_from_slice(to);
        std::fs::write(&dbc, bytes).unwrap();
    };
    std::fs::write(path.with_extension("dct"), [0; 512]).unwrap();
    change(b"Table     frame", b"Table     games");
    unused("it does not know the table");
    change(b"Field     customerNumber", b"Index     customerNumber");
    unused("it knows 3 fields of the table, which has 4");
    change(b"Field     customerName", b"Field     supplierName");
    unused("it has supplierName where the table has CUSTOMERNA");
    std::fs::write(&dbc, b"no table").unwrap();
    unused("frame.dbc: version byte");
    for len in (0..whole.len()).step_by(41) {
        std::fs::write(&dbc, &whole[..len]).unwrap();
        let table = open(&path);
        let names = names(&table);
        assert!(names == NAMES || names == SHORT, "{len}: {names:?}");
    }
}

#[test]
fn relations_are_those_of_the_table_that_has_the_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase/containers/shop/shop.dbc");
    let container = Container::open(&path).unwrap();
    let relations = container.tables().iter().flat_map(|table| {
        table.relations.iter().map(|relation| {
            let rules = [relation.on_update, relation.on_delete, relation.on_insert];
            (
                table.name.as_str(),
                relation.tag.as_str(),
                relation.parent.as_str(),
                relation.parent_tag.as_str(),
                rules,
            )
        })
    });
    let (cascade, restrict) = (Some(IntegrityRule::Cascade), Some(IntegrityRule::Restrict));
    let ignore = Some(IntegrityRule::Ignore);
    assert_eq!(
        relations.collect::<Vec<_>>(),
        [
            ("customers", "boss", "customers", "cust_no", [None; 3]),
            (
                "orders",
                "cust_no",
                "Customers",
                "cust_no",
                [cascade, restrict, restrict]
            ),
            ("items", "order_no", "orders", "order_no", [restrict, cascade, ignore]),
            ("items", "order_no", "customers", "boss", [ignore; 3]),
        ]
    );
    assert_eq!(
        container.file_of("CUSTOMERS"),
        Some(path.with_file_name("customers.dbf"))
    );
    assert_eq!(container.file_of("nobody"), None);

    // Neither a link nor a file of another folder.
    let folder = TempDir::new().unwrap();
    for name in ["shop.dbc", "shop.dct"] {
        std::fs::copy(path.with_file_name(name), folder.path().join(name)).unwrap();
    }
    let container = Container::open(folder.path().join("shop.dbc")).unwrap();
    assert_eq!(container.file_of("customers"), None);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(
            path.with_file_name("customers.dbf"),
            folder.path().join("customers.dbf"),
        )
        .unwrap();
        assert_eq!(container.file_of("customers"), None);
    }
}

#[test]
fn a_container_in_memory_is_read_up_to_where_it_is_cut() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let dbc = std::fs::read(path.with_extension("dbc")).unwrap();
    let dct = std::fs::read(path.with_extension("dct")).unwrap();
    let whole = Container::from_bytes(dbc.clone(), Some(dct.clone())).unwrap();
    assert_eq!(whole.tables()[0].fields.len(), 4);
    for len in 0..dbc.len() {
        let _ = Container::from_bytes(dbc[..len].to_vec(), Some(dct.clone()));
    }
    for len in 0..dct.len() {
        let cut = Container::from_bytes(dbc.clone(), Some(dct[..len].to_vec())).unwrap();
        assert_eq!(cut.tables()[0].fields, whole.tables()[0].fields);
    }
    let unknown = Container::from_bytes(std::fs::read(&path).unwrap(), None).unwrap_err();
    assert!(
        unknown.to_string().contains("expected a field OBJECTID of type I"),
        "{unknown}"
    );
}

#[test]
fn a_container_of_one_table_goes_with_it() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let set = ["frame.dbf", "frame.dbc", "frame.dct", "frame.dcx", "frame.fpt"];
    let files_of = |path: &Path| -> Vec<_> {
        let files = TableSet::of(path).files().unwrap();
        files
            .iter()
            .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    assert_eq!(files_of(&path), set);
    assert_eq!(
        files_of(&path.with_extension("dbc")),
        ["frame.dbc", "frame.dct", "frame.dcx"]
    );
    // Made again in its place, and replaced by a draft.
    frame(folder.path(), "frame.dbf");
    assert_eq!(names(&open(&path)), NAMES);
    let draft = tempfile::Builder::new()
        .prefix(TableSet::DRAFT)
        .tempdir_in(folder.path())
        .unwrap();
    frame(draft.path(), "frame.dbf");
    TableSet::of(&path).publish(draft.path(), Existing::Replace).unwrap();
    assert_eq!(names(&open(&path)), NAMES);
    // One without long names has no container.
    let draft = tempfile::Builder::new()
        .prefix(TableSet::DRAFT)
        .tempdir_in(folder.path())
        .unwrap();
    let fields = [FieldSpec::new("A", 'L', 1, 0)];
    let plain = CreateOptions::new(TODAY);
    TableWriter::create(draft.path().join("frame.dbf"), &fields, &plain)
        .unwrap()
        .finish()
        .unwrap();
    TableSet::of(&path).publish(draft.path(), Existing::Replace).unwrap();
    assert_eq!(files(folder.path()), ["frame.dbf"]);
}

#[test]
fn a_container_that_others_use_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let dbc = path.with_extension("dbc");
    let alone = std::fs::read(&dbc).unwrap();
    let shared = |at: &[u8], to: &[u8]| {
        let mut bytes = alone.clone();
        let found = bytes.windows(at.len()).position(|window| window == at).unwrap();
        bytes[found..found + to.len()].copy_from_slice(to);
        bytes
    };
    let compressed = b"\x03\x65\x01\x01 a table of another kind, which has the same extension".to_vec();
    for bytes in [
        shared(b"Field     id", b"Table     id"),
        shared(b"Field     id", b"View      id"),
        compressed,
    ] {
        std::fs::write(&dbc, &bytes).unwrap();
        let left = ["frame.dbc", "frame.dct", "frame.dcx"];
        let kept = TableSet::of(&path).files().unwrap();
        assert_eq!(kept, [path.clone(), path.with_extension("fpt")]);
        // It is not written over, and nothing is changed.
        let before = files(folder.path());
        let refused = TableWriter::create(&path, &fields(), &options()).unwrap_err();
        assert!(matches!(&refused, Error::Exists { path } if *path == dbc), "{refused}");
        let draft = tempfile::Builder::new()
            .prefix(TableSet::DRAFT)
            .tempdir_in(folder.path())
            .unwrap();
        frame(draft.path(), "frame.dbf");
        let refused = TableSet::of(&path)
            .publish(draft.path(), Existing::Replace)
            .unwrap_err();
        assert!(matches!(&refused, Error::Exists { path } if *path == dbc), "{refused}");
        drop(draft);
        assert_eq!(files(folder.path()), before);
        assert!(left.iter().all(|name| before.iter().any(|there| there == name)));
        assert_eq!(std::fs::read(&dbc).unwrap(), bytes);
    }
}

#[test]
fn the_fields_of_a_table_in_a_database_are_not_altered() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    // It lies under the name of a database.
    let database = folder.path().join("x.dbc");
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"frame.dbc";
    let found = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[found..found + name.len()].copy_from_slice(b"x.dbc\0\0\0\0");
    std::fs::write(&path, &bytes).unwrap();
    for extension in ["dbc", "dct", "dcx"] {
        std::fs::rename(path.with_extension(extension), database.with_extension(extension)).unwrap();
    }
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let alteration = Alteration::of(editor.fields()).drop_field("customernu").unwrap();
    let refused = editor.alter(&alteration).unwrap_err().to_string();
    assert!(
        refused.contains("its fields are described in") && refused.contains("x.dbc"),
        "{refused}"
    );
    drop(editor);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_table_with_a_container_of_its_own_is_altered_with_it() {
    let folder = TempDir::new().unwrap();
    let path = frame(folder.path(), "frame.dbf");
    let orders = [
        OrderSpec::new("ID", "id"),
        OrderSpec::new("BOTH", "STR(id)+STR(customerNumber)"),
    ];
    let index = path.with_extension("cdx");
    build_index(&index, &open(&path), &orders, &KeySettings::new(CodePage::Cp1252)).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let alteration = Alteration::of(editor.fields())
        .drop_field("Größe in cm")
        .unwrap()
        .rename_field("customerName", "name of the customer")
        .unwrap()
        .add_field(FieldSpec::new("customerNamesake", 'C', 8, 0));
    editor.alter(&alteration).unwrap();
    let expected = ["name of the customer", "customerNumber", "id", "customerNamesake"];
    let short = ["NAME OF TH", "CUSTOMERNU", "ID", "CUSTOMERNA"];
    let check = |fields: &[tidemill_xbase::Field]| {
        assert_eq!(
            fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            fields.iter().map(|field| field.short_name.as_str()).collect::<Vec<_>>(),
            short
        );
    };
    check(editor.fields());
    check(editor.table().unwrap().fields());
    editor
        .append_values(&[(0, Value::Text("Berta")), (3, Value::Text("new"))])
        .unwrap();
    // And once more, through the same handle.
    let again = Alteration::of(editor.fields())
        .rename_field("customerNamesake", "namesake")
        .unwrap();
    editor.alter(&again).unwrap();
    drop(editor);
    let table = open(&path);
    assert!(matches!(table.container(), ContainerLink::Used { .. }));
    assert_eq!(
        names(&table),
        ["name of the customer", "customerNumber", "id", "namesake"]
    );
    assert_eq!(table.record_count(), 4);
    assert!(rows(&table)[3].starts_with("Berta"), "{:?}", rows(&table));
    assert_eq!(
        files(folder.path()),
        [
            "frame.cdx",
            "frame.dbc",
            "frame.dbf",
            "frame.dct",
            "frame.dcx",
            "frame.fpt"
        ]
    );
    let settings = KeySettings::new(CodePage::Cp1252);
    let index = TableIndex::open(&index, &table, &settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
    let container = Arc::new(Table::open(path.with_extension("dbc"), &OpenOptions::new()).unwrap());
    assert_eq!(container.verify().unwrap().damage, []);
}

#[test]
fn a_copy_keeps_the_long_names_in_a_container_of_its_own() {
    let folder = TempDir::new().unwrap();
    let table = open(&frame(folder.path(), "frame.dbf"));
    let (whole, empty) = (folder.path().join("whole.dbf"), folder.path().join("EMPTY.DBF"));
    table.copy_to(&whole).unwrap();
    table.copy_structure(&empty).unwrap();
    for (path, container, count) in [(&whole, "whole.dbc", 3), (&empty, "EMPTY.DBC", 0)] {
        let copied = open(path);
        assert_eq!(names(&copied), NAMES);
        assert_eq!(copied.record_count(), count);
        let ContainerLink::Used { container: found, .. } = copied.container() else {
            panic!("{:?}", copied.container());
        };
        assert_eq!(found.path(), folder.path().join(container));
        let short: Vec<_> = copied.fields().iter().map(|field| field.short_name.as_str()).collect();
        assert_eq!(short, SHORT);
    }
    assert_eq!(rows(&open(&whole)), rows(&table));
    // What would be written over is left alone, and nothing stays behind.
    let stranger = folder.path().join("third.dcx");
    std::fs::write(&stranger, b"a stranger").unwrap();
    let before = files(folder.path());
    assert!(table.copy_to(folder.path().join("third.dbf")).is_err());
    assert_eq!(
        (files(folder.path()), std::fs::read(&stranger).unwrap()),
        (before, b"a stranger".to_vec())
    );
    // A table whose container is not there has the names of its header, and so has its copy.
    for extension in ["dbc", "dct", "dcx"] {
        std::fs::remove_file(folder.path().join("frame").with_extension(extension)).unwrap();
    }
    open(&folder.path().join("frame.dbf"))
        .copy_to(folder.path().join("bare.dbf"))
        .unwrap();
    assert_eq!(names(&open(&folder.path().join("bare.dbf"))), SHORT);
    assert!(!folder.path().join("bare.dbc").exists());
}

fn options() -> CreateOptions {
    let mut options = CreateOptions::new(TODAY);
    options.format = Dialect::VisualFoxPro;
    options.long_names = true;
    options
}

fn schema() -> Arc<Schema> {
    let types = [DataType::Utf8, DataType::Int64, DataType::Int64, DataType::Int64];
    let fields = NAMES
        .iter()
        .zip(types)
        .map(|(name, kind)| ArrowField::new(*name, kind, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn fields() -> Vec<FieldSpec> {
    FieldSpec::from_schema_with_long_names(&schema()).unwrap()
}

/// A table of three records, one of whose values is missing in each column.
fn frame(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![Some("Anna"), None, Some("")])),
        Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Int64Array::from(vec![None, Some(180), Some(0)])),
        Arc::new(Int64Array::from(vec![Some(7), None, Some(9)])),
    ];
    let batch = RecordBatch::try_new(schema(), columns).unwrap();
    let mut writer = TableWriter::create(&path, &fields(), &options()).unwrap();
    writer.write(&batch, None).unwrap();
    writer.finish().unwrap();
    path
}

fn open(path: &Path) -> Arc<Table> {
    Arc::new(Table::open(path, &OpenOptions::new()).unwrap())
}

fn names(table: &Table) -> Vec<&str> {
    table.fields().iter().map(|field| field.name.as_str()).collect()
}

fn batch(table: &Arc<Table>) -> RecordBatch {
    table.scan(Scan::new()).unwrap().next().unwrap().unwrap()
}

fn rows(table: &Arc<Table>) -> Vec<String> {
    let batch = batch(table);
    let row = |row| {
        let values = batch
            .columns()
            .iter()
            .map(|column| array_value_to_string(column, row).unwrap());
        values.collect::<Vec<_>>().join("|")
    };
    (0..batch.num_rows()).map(row).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
