//! `tidemill reindex`.

use anyhow::bail;
use tidemill_sql::Format;
use tidemill_xbase::index::{Index, IndexOptions};
use tidemill_xbase::{CivilDate, EditOptions, Table, TableEditor, production_path};

use crate::Outcome;
use crate::args::ReindexArgs;
use crate::commands::changing::{Change, Changing};
use crate::commands::counted;
use crate::output::report_damage;
use crate::terminal::note;

pub(crate) async fn run(args: ReindexArgs) -> anyhow::Result<Outcome> {
    let session = args.tables.session();
    let location = session.locate(&args.table).await?;
    report_damage(&session);
    if location.format != Format::Xbase {
        bail!("{location}: only xBase tables have indexes");
    }
    let path = location.file()?;
    let table = Table::open(path, &args.tables.xbase())?;
    let indexes = match args.indexes {
        named if !named.is_empty() => named,
        _ => match production_path(&table)? {
            Some(production) => vec![production],
            None => bail!("{location}: no production index next to it; name the index files"),
        },
    };
    let settings = indexes.iter().map(|index| args.keys.settings(index, &table));
    let settings: Vec<_> = settings.collect::<Result<_, _>>()?;
    drop(table);
    let options = EditOptions::new(CivilDate::today())
        .open(args.tables.xbase())
        .production_index(false);
    let mut editor = TableEditor::open(path, &options)?;
    let _changing = Changing::begin(Change {
        is_undone: true,
        advice: "verify the index, or run reindex again",
    });
    for (index, settings) in indexes.into_iter().zip(settings) {
        editor.reindex(&index, &settings)?;
        let made = Index::open(&index, &IndexOptions::new())?;
        let names: Vec<_> = made.tags().iter().map(|tag| tag.name.as_str()).collect();
        note!(
            "{}: {} rebuilt ({})",
            index.display(),
            counted(names.len() as u64, "index tag"),
            names.join(", ")
        );
    }
    Ok(Outcome::Done)
}
