//! Workbooks of Excel, there and back.

use std::fs;

use crate::run::Folder;

#[test]
fn workbooks_are_written_read_and_joined() {
    let folder = Folder::with(&[]);
    let rows = "id,name,price,day,paid\n1,Stuhl,12.5,2026-01-31,true\n2,,,2026-02-28,false\n";
    fs::write(folder.file("t.csv"), rows).expect("written");
    folder.run(&["copy", "t.csv", "t.xlsx"]).done();
    let all = |name: &str| folder.run(&["cat", name, "--format", "csv"]).done();
    assert_eq!(all("t.xlsx"), rows);
    assert!(
        fs::read(folder.file("t.xlsx"))
            .expect("read")
            .starts_with(b"PK\x03\x04")
    );
    let sql = "SELECT a.name, b.price FROM 't.xlsx' a JOIN t b ON a.id = b.id WHERE a.id = 1";
    assert_eq!(
        folder
            .run(&["sql", "--attach", "t=t.csv", sql, "--format", "csv"])
            .done(),
        "name,price\nStuhl,12.5\n"
    );
    let told = folder.run(&["inspect", "t.xlsx"]).done();
    assert!(
        told.contains("format        excel") && told.contains("│ day    ┆ Date32  │"),
        "{told}"
    );
    folder
        .run(&["copy", "t.xlsx", "again.dbf", "--to-dialect", "visual-foxpro"])
        .done();
    let first = folder
        .run(&[
            "sql",
            "SELECT * FROM 't.xlsx?sheet=Sheet1&header=no' LIMIT 1",
            "--format",
            "jsonl",
        ])
        .done();
    assert!(first.starts_with("{\"column1\":\"id\",\"column2\":\"name\""), "{first}");
    for (name, part) in [
        (
            "t.xlsx?sheet=Prices",
            "t.xlsx: sheet Prices not found; the sheets are Sheet1",
        ),
        ("t.xlsx?colour=red", "workbooks have the options sheet, header and skip"),
    ] {
        let error = folder.run(&["cat", name]).failed();
        assert!(error.contains(part), "{error}");
    }
    fs::write(folder.file("broken.xlsx"), b"PK\x03\x04 and no more").expect("written");
    let error = folder.run(&["cat", "broken.xlsx"]).failed();
    assert!(error.contains("broken.xlsx: a workbook that cannot be read"), "{error}");
    let error = folder.run(&["copy", "t.csv", "t.xls"]).failed();
    assert!(error.contains("name it .xlsx"), "{error}");
}
