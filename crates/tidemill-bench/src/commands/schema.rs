//! `schema`: drops and creates the tables of a workload.

use tidemill_trust::printable;

use crate::args::{ConnectionArgs, SchemaArgs, WorkloadArgs};
use crate::error::{Error, Result};
use crate::run::Stage;
use crate::script::{Program, find_workload};
use crate::target::AnyTarget;

/// Calls the script's function `schema`.
///
/// # Errors
/// When there is none, or it fails.
pub(crate) fn schema(args: &SchemaArgs) -> Result<()> {
    let connection = ConnectionArgs {
        creates: true,
        ..args.connection.clone()
    };
    let (target, stage) = open(&args.workload, &connection)?;
    if !stage.has("schema") {
        return Err(Error::Misuse("the script has no function schema".to_owned()));
    }
    eprintln!("info: Creating schema...");
    stage.call("schema")?;
    if target.is_ephemeral() {
        eprintln!("warning: What is in memory ends here; run and load make it for themselves");
    }
    eprintln!("info: Schema created");
    Ok(())
}

/// Compiles a workload and connects to its target.
pub(super) fn open(workload: &WorkloadArgs, connection: &ConnectionArgs) -> Result<(AnyTarget, Stage)> {
    let target = AnyTarget::open(connection)?;
    let path = find_workload(&workload.workload);
    eprintln!(
        "info: Loading workload script {}...",
        printable(&path.to_string_lossy())
    );
    let program = Program::load(&path, &workload.params, target.name(), workload.limits())?;
    eprintln!("info: Connecting to {}...", printable(&connection.shown_addresses()));
    let stage = Stage::new(&target, &program, connection.policy())?;
    let about = stage.about();
    eprintln!(
        "info: Connected to {} {}",
        printable(&about.name),
        printable(&about.version)
    );
    Ok((target, stage))
}
