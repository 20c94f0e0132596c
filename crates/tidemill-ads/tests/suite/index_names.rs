//! The names by which programs call index files.

use tidemill_ads::{Connection, IndexOptions, Settings, TableOptions};

#[test]
fn index_beside_its_table_is_found_by_its_name_in_any_letters() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    let (settings, options) = (Settings::default(), TableOptions::default());
    for [table, upper, lower] in [
        ["UPPER.DBF", "UPPER.CDX", "upper.cdx"],
        ["lower.dbf", "LOWER.CDX", "lower.cdx"],
    ] {
        let area = connection
            .create_table(table, "ID,Numeric,6,0;NAME,Character,10", &options, &settings)
            .unwrap();
        let known = connection.area(area).unwrap();
        for (tag, index) in [("NAME", upper), ("ID", lower)] {
            known
                .create_index(
                    Some(&folder.path().join(index)),
                    tag,
                    tag,
                    None,
                    &IndexOptions::default(),
                    &settings,
                )
                .unwrap();
        }
        assert_eq!(known.orders().count(), 2, "{table}");
        let files = std::fs::read_dir(folder.path()).unwrap();
        let stem = table.split('.').next().unwrap();
        let of_table = files.filter(|file| {
            let name = file.as_ref().unwrap().file_name().to_string_lossy().into_owned();
            name.to_uppercase().starts_with(&stem.to_uppercase())
        });
        assert_eq!(of_table.count(), 2, "{table} and one index");
    }
}
