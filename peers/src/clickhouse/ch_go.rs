//! [ch-go](https://github.com/ClickHouse/ch-go), by a small program in Go that is built when it is asked for.
//!
//! ch-go 0.74 cannot talk to servers before revision 54420: it takes the information about the client, which they have
//! expected since 54032, for a part of what came with 54420. One condition is turned around in a copy of its source that is made
//! for the build; nothing else is changed.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds the program into `folder`. `None` where there is no Go.
///
/// # Errors
///
/// When it does not build, or the source is not what is expected.
pub fn build(folder: &Path) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("ch-go");
    let go = |arguments: &[&str]| Command::new("go").args(arguments).current_dir(&source).output();
    if go(&["version"]).is_err() {
        return Ok(None);
    }
    let fetched = go(&["mod", "download", "-json", MODULE])?;
    let json = String::from_utf8(fetched.stdout)?;
    let module = json.lines().find_map(|line| {
        let (_, path) = line.trim().split_once("\"Dir\": \"")?;
        Some(Path::new(path.strip_suffix("\",")?).to_owned())
    });
    let module = module.ok_or("ch-go could not be fetched")?;
    let copy = folder.join("ch-go-source");
    let copied = Command::new("cp")
        .args(["-r", "--no-preserve=mode"])
        .args([&module, &copy])
        .status()?;
    if !copied.success() {
        return Err("ch-go could not be copied".into());
    }
    let query = copy.join("proto/query.go");
    let text = fs::read_to_string(&query)?;
    let changed = text.replacen(CONDITION, "\tif true {\n\t\tq.Info", 1);
    if changed == text {
        return Err("ch-go's source is not as expected".into());
    }
    fs::write(&query, changed)?;

    let (manifest, program) = (folder.join("go.mod"), folder.join("ch-go"));
    let text = fs::read_to_string(source.join("go.mod"))?;
    fs::write(&manifest, format!("{text}\nreplace {MODULE} => {}\n", copy.display()))?;
    fs::copy(source.join("go.sum"), folder.join("go.sum"))?;
    let manifest = format!("-modfile={}", manifest.display());
    let built = go(&["build", &manifest, "-o", &program.display().to_string(), "."])?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into());
    }
    Ok(Some(program))
}

const MODULE: &str = "github.com/ClickHouse/ch-go";
const CONDITION: &str = "\tif FeatureClientWriteInfo.In(version) {\n\t\tq.Info";
