//! `tidemill sample`.

use arrow_array::RecordBatch;
use arrow_select::interleave::interleave_record_batch;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tidemill_sql::{Answer, Session, source_is_query};

use crate::Outcome;
use crate::args::SampleArgs;
use crate::output::{RowWriter, Screen, default_format, report_damage};

pub(crate) async fn run(args: SampleArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let answer = match source_is_query(&args.table) {
        true => session.rows_of(&args.table).await?,
        false => {
            let table = session.locate(&args.table).await?;
            args.tables.check(&table)?;
            session.read(&table, None).await?
        }
    };
    let schema = answer.schema();
    let sample = taken(answer, args.limit, args.seed.unwrap_or_else(rand::random)).await?;
    let mut writer = RowWriter::new(
        args.answer.format.unwrap_or_else(default_format),
        &schema,
        Screen::of(args.answer.screen),
    )?;
    if let Some(sample) = sample {
        let _ = writer.write(&sample)?;
    }
    writer.finish()?;
    report_damage(&session);
    Ok(Outcome::Done)
}

/// Rows of a result, each with the same probability, in their order (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
async fn taken(mut answer: Answer, wanted: usize, seed: u64) -> anyhow::Result<Option<RecordBatch>> {
    let mut kept: Vec<(u64, RecordBatch)> = Vec::new();
    let mut random = StdRng::seed_from_u64(seed);
    let mut rows = 0_u64;
    while let Some(batch) = answer.next().await? {
        for row in 0..batch.num_rows() {
            rows += 1;
            let place = match kept.len() < wanted {
                true => None,
                false => match usize::try_from(random.random_range(0..rows)) {
                    Ok(place) if place < wanted => Some(place),
                    _ => continue,
                },
            };
            // A copy, so that the row does not keep its batch in memory.
            let alone = interleave_record_batch(&[&batch], &[(0, row)])?;
            match place.and_then(|place| kept.get_mut(place)) {
                Some(known) => *known = (rows, alone),
                None => kept.push((rows, alone)),
            }
        }
    }
    kept.sort_by_key(|(row, _)| *row);
    let batches: Vec<&RecordBatch> = kept.iter().map(|(_, batch)| batch).collect();
    let places: Vec<_> = (0..batches.len()).map(|batch| (batch, 0)).collect();
    Ok(match batches.is_empty() {
        true => None,
        false => Some(interleave_record_batch(&batches, &places)?),
    })
}
