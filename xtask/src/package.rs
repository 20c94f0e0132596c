//! `cargo xtask package`: a Debian package and an archive of what users install, and a look whether they work; and the archive of the
//! sources with Homebrew's formula for it.
//!
//! Both have the command line with its man pages and completions, `libace.so` with its header and pkg-config file, the ADBC driver
//! with its manifest, and a systemd unit for `tidemill serve`. The package is made by Debian's own `dpkg-deb`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use crate::cargo::{cargo, host, run as run_command, show};
use crate::workspace::Workspace;

/// Where to.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// The folder that gets the files. Default: `package` in the target folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Where the files will be downloaded from, which the Homebrew formula names. Default: the folder itself, as file://
    #[arg(long, value_name = "URL")]
    source_url: Option<String>,
    /// The profile of the program and the driver: `release`, or `small`, which is half the size and takes an hour or more to build.
    #[arg(long, default_value = "release")]
    profile: String,
}

/// Makes both and tries them; true when they work.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    if host()? != "x86_64-unknown-linux-gnu" {
        bail!("packages are made on x86_64-unknown-linux-gnu");
    }
    let out = args.out.clone().unwrap_or_else(|| workspace.target.join("package"));
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    if !build(workspace, &args.profile)? {
        return Ok(false);
    }
    let root = tempfile::tempdir()?;
    lay_out(workspace, &args.profile, root.path())?;
    let version = workspace.version()?;
    let name = format!("tidemill-{version}-x86_64-linux");
    let archive = archive(root.path(), &out, &name)?;
    let package = package(root.path(), &out, version)?;
    try_archive(&archive, &name, version)?;
    try_package(&package, version)?;
    let sources = source_archive(&workspace.root, &out, version)?;
    let from = match &args.source_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("file://{}", out.canonicalize()?.display()),
    };
    write(&out.join("tidemill.rb"), &formula(&sources, &from, version)?)?;
    for file in [&archive, &package, &sources] {
        let size = fs::metadata(file)?.len();
        println!("{}: {:.1} MB", file.display(), size as f64 / 1e6);
    }
    Ok(true)
}

/// Where Debian has libraries of this processor.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

fn build(workspace: &Workspace, profile: &str) -> Result<bool> {
    let mut heavy = cargo(&workspace.root);
    heavy.args(["build", "--locked", "--profile", profile]);
    heavy.args(workspace.heavy().iter().flat_map(|name| ["-p", name]));
    let library = ["build", "--locked", "--profile", "libace", "-p", "tidemill-ace"];
    Ok(run_command(&mut heavy)? && run_command(cargo(&workspace.root).args(library))?)
}

/// Puts the files where Debian has them.
fn lay_out(workspace: &Workspace, profile: &str, root: &Path) -> Result<()> {
    let (built, version) = (workspace.target.join(profile), workspace.version()?);
    let program = root.join("usr/bin/tidemill");
    install(&built.join("tidemill"), &program, 0o755)?;
    let driver = root.join(LIBRARIES).join("libtidemill_adbc.so");
    install(&built.join("libtidemill_adbc.so"), &driver, 0o644)?;
    for file in [&program, &driver] {
        finish(Command::new("strip").arg(file))?;
    }
    let ace = root.join(LIBRARIES).join("libace.so");
    install(&workspace.target.join("libace/libace.so"), &ace, 0o644)?;
    let sources = workspace.root.join("crates/tidemill-ace");
    install(&sources.join("include/ace.h"), &root.join("usr/include/ace.h"), 0o644)?;
    let description = fs::read_to_string(sources.join("ace.pc.in"))?;
    let description = description
        .replace("@prefix@", "/usr")
        .replace("@version@", version)
        .replace("${exec_prefix}/lib", &format!("/{LIBRARIES}"));
    write(&root.join(LIBRARIES).join("pkgconfig/ace.pc"), &description)?;
    let manifest = MANIFEST.replace("@version@", version).replace("@libraries@", LIBRARIES);
    write(&root.join("etc/adbc/drivers/tidemill.toml"), &manifest)?;
    write(&root.join("usr/lib/systemd/system/tidemill.service"), UNIT)?;

    let pages = root.join("usr/share/man/man1");
    fs::create_dir_all(&pages)?;
    finish(Command::new(&program).arg("man").arg(&pages))?;
    for page in fs::read_dir(&pages)? {
        finish(Command::new("gzip").args(["--best", "--no-name"]).arg(page?.path()))?;
    }
    for (shell, file) in [
        ("bash", "usr/share/bash-completion/completions/tidemill"),
        ("zsh", "usr/share/zsh/vendor-completions/_tidemill"),
        ("fish", "usr/share/fish/vendor_completions.d/tidemill.fish"),
    ] {
        let script = output(Command::new(&program).args(["completions", shell]))?;
        write(&root.join(file), &script)?;
    }
    let documents = root.join("usr/share/doc/tidemill");
    write(&documents.join("copyright"), &format!("{COPYRIGHT}\n"))?;
    install(
        &workspace.root.join("CHANGELOG.md"),
        &documents.join("changelog"),
        0o644,
    )?;
    finish(
        Command::new("gzip")
            .args(["--best", "--no-name"])
            .arg(documents.join("changelog")),
    )
}

/// An archive whose files are the same each time that it is made of the same files.
fn archive(root: &Path, out: &Path, name: &str) -> Result<PathBuf> {
    let file = out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--gzip",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
    ]);
    tar.args(["--mtime=2000-01-01 00:00Z", "--directory"]).arg(root);
    tar.arg(format!("--transform=s,^\\.,{name},"))
        .arg("--file")
        .arg(&file)
        .arg(".");
    finish(&mut tar)?;
    Ok(file)
}

fn package(root: &Path, out: &Path, version: &str) -> Result<PathBuf> {
    let mut newest = Vec::new();
    for file in [
        "usr/bin/tidemill",
        &format!("{LIBRARIES}/libtidemill_adbc.so"),
        &format!("{LIBRARIES}/libace.so"),
    ] {
        newest.extend(glibc_of(&fs::read(root.join(file))?));
    }
    let (major, minor) = newest.into_iter().max().context("no version of glibc is asked for")?;
    let size: u64 = output(Command::new("du").args(["--summarize", "--block-size=1024"]).arg(root))?
        .split_whitespace()
        .next()
        .and_then(|size| size.parse().ok())
        .context("du tells no size")?;
    let control = CONTROL
        .replace("@version@", version)
        .replace("@size@", &size.to_string())
        .replace("@glibc@", &format!("{major}.{minor}"));
    let folder = tempfile::tempdir()?;
    let staged = folder.path().join("root");
    finish(Command::new("cp").args(["--archive"]).arg(root).arg(&staged))?;
    fs::set_permissions(&staged, fs::Permissions::from_mode(0o755))?;
    write(&staged.join("DEBIAN/control"), &control)?;
    write(&staged.join("DEBIAN/conffiles"), "/etc/adbc/drivers/tidemill.toml\n")?;
    let triggers = "activate-noawait ldconfig\n";
    write(&staged.join("DEBIAN/triggers"), triggers)?;
    let file = out.join(format!("tidemill_{version}_amd64.deb"));
    finish(
        Command::new("dpkg-deb")
            .args(["--build", "--root-owner-group", "-Zzstd"])
            .arg(&staged)
            .arg(&file),
    )?;
    Ok(file)
}

/// The files of the last commit, for those who build from source.
fn source_archive(root: &Path, out: &Path, version: &str) -> Result<PathBuf> {
    let file = out.join(format!("tidemill-{version}.tar.gz"));
    let prefix = format!("--prefix=tidemill-{version}/");
    let mut archive = Command::new("git");
    archive
        .current_dir(root)
        .args(["archive", "--format=tar.gz", &prefix, "--output"]);
    finish(archive.arg(std::path::absolute(&file)?).arg("HEAD"))?;
    let listed = output(Command::new("tar").arg("--list").arg("--file").arg(&file))?;
    let lock = format!("tidemill-{version}/Cargo.lock");
    if !listed.lines().any(|name| name == lock) {
        bail!("{}: {lock} is not in it", file.display());
    }
    Ok(file)
}

/// Homebrew's formula for a source archive that will be found below a URL.
fn formula(sources: &Path, url: &str, version: &str) -> Result<String> {
    let sum = output(Command::new("sha256sum").arg(sources))?;
    let sum = sum.split_whitespace().next().context("sha256sum prints no checksum")?;
    let formula = include_str!("../../packaging/tidemill.rb")
        .replace("@url@", url)
        .replace("@version@", version)
        .replace("@sha256@", sum);
    if formula.contains('@') {
        bail!("packaging/tidemill.rb: a placeholder is left:\n{formula}");
    }
    Ok(formula)
}

/// The newest version of glibc whose symbols a file asks for, from the names of versions in it.
fn glibc_of(bytes: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let places = bytes.windows(NAME.len()).enumerate().filter(|(_, name)| *name == NAME);
    let versions = places.filter_map(|(place, _)| {
        let behind = bytes.get(place + NAME.len()..)?;
        let end = behind.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let text = std::str::from_utf8(behind.get(..end)?).ok()?;
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

/// Unpacks the archive and asks the program something.
fn try_archive(archive: &Path, name: &str, version: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    finish(
        Command::new("tar")
            .args(["--extract", "--file"])
            .arg(archive)
            .arg("--directory")
            .arg(folder.path()),
    )?;
    try_files(&folder.path().join(name), version)
}

/// Installs the package into an empty system, tries its files, and removes it: nothing may be left but what dpkg has of its own.
fn try_package(package: &Path, version: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for made in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
        fs::create_dir_all(root.join(made))?;
    }
    for made in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        write(&root.join(made), "")?;
    }
    // The empty system has no glibc, and no right to more than a folder is needed.
    let dpkg = || {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", root.display()));
        dpkg.args([
            "--force-depends",
            "--force-not-root",
            "--force-script-chrootless",
            "--log=/dev/null",
        ]);
        dpkg
    };
    finish(dpkg().arg("--install").arg(package))?;
    try_files(root, version)?;
    finish(dpkg().args(["--purge", "tidemill"]))?;
    let left: Vec<PathBuf> = [
        "usr/bin/tidemill",
        "usr/include/ace.h",
        "etc/adbc/drivers/tidemill.toml",
    ]
    .iter()
    .map(|file| root.join(file))
    .filter(|file| file.exists())
    .collect();
    match left.is_empty() {
        true => Ok(()),
        false => bail!("left behind by the package: {left:?}"),
    }
}

/// Whether what is installed below a folder works there.
fn try_files(root: &Path, version: &str) -> Result<()> {
    let program = root.join("usr/bin/tidemill");
    let says = output(Command::new(&program).arg("--version"))?;
    if !says.starts_with(&format!("tidemill {version} (")) {
        bail!("{}: --version says {says}", program.display());
    }
    let work = tempfile::tempdir()?;
    write(&work.path().join("t.csv"), "a,b\n1,x\n2,y\n")?;
    let answer = |args: &[&str]| output(Command::new(&program).args(args).current_dir(work.path()));
    answer(&["copy", "t.csv", "t.dbf"])?;
    let sum = answer(&["sql", "SELECT SUM(a) AS s FROM 't.dbf'", "--format", "csv"])?;
    if sum != "s\n3\n" {
        bail!("{}: a sum is {sum}", program.display());
    }
    answer(&["self-check"])?;
    let page = output(Command::new("zcat").arg(root.join("usr/share/man/man1/tidemill-copy.1.gz")))?;
    if !page.contains(".SH SYNOPSIS") {
        bail!("tidemill-copy.1 has no synopsis");
    }
    // A program that is linked by pkg-config, as a C programmer would.
    let source = work.path().join("version.c");
    write(&source, PROGRAM)?;
    let libraries = root.join(LIBRARIES);
    let flags = output(
        Command::new("pkg-config")
            .args(["--cflags", "--libs", "ace"])
            .env("PKG_CONFIG_LIBDIR", libraries.join("pkgconfig"))
            .env("PKG_CONFIG_SYSROOT_DIR", root)
            .env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1")
            .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1"),
    )?;
    let linked = work.path().join("version");
    finish(
        Command::new("cc")
            .arg(&source)
            .args(flags.split_whitespace())
            .arg("-o")
            .arg(&linked),
    )?;
    finish(Command::new(&linked).env("LD_LIBRARY_PATH", &libraries))?;
    let manifest = fs::read_to_string(root.join("etc/adbc/drivers/tidemill.toml"))?;
    let named = manifest.lines().find_map(|line| line.strip_prefix("linux_amd64 = \""));
    let named = named
        .and_then(|rest| rest.strip_suffix('"'))
        .context("the manifest names no library")?;
    let driver = root.join(named.trim_start_matches('/'));
    match driver.is_file() {
        true => Ok(()),
        false => bail!("{}: the manifest names it", driver.display()),
    }
}

fn install(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let folder = to.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(mode))?)
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    let mut made = fs::File::create(file).with_context(|| file.display().to_string())?;
    Ok(made.write_all(text.as_bytes())?)
}

/// Runs a program that must end well.
fn finish(command: &mut Command) -> Result<()> {
    show(command);
    let status = command.stdout(Stdio::null()).status();
    let name = command.get_program().to_string_lossy().into_owned();
    match status.with_context(|| format!("{name} does not start"))?.success() {
        true => Ok(()),
        false => bail!("{name} fails"),
    }
}

/// What a program prints that must end well.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("{name} does not start"))?;
    if !output.status.success() {
        bail!("{name} fails");
    }
    String::from_utf8(output.stdout).with_context(|| format!("{name} prints no UTF-8"))
}

const CONTROL: &str = "Package: tidemill
Version: @version@
Architecture: amd64
Maintainer: The Tidemill authors <maintainers@tidemill.invalid>
Installed-Size: @size@
Depends: libc6 (>= @glibc@), libgcc-s1
Section: database
Priority: optional
Description: query, convert and check data in legacy formats
 Tidemill reads and writes dBASE, FoxPro, Clipper and Advantage tables, Riegeli
 record files, CSV, Excel and Parquet, and copies them to and from ClickHouse,
 Cassandra, PostgreSQL, SQLite and DuckDB, with one SQL over all of them.
 .
 The package has the command line, libace.so (a drop-in Advantage Client
 Engine), the ADBC driver, and a service that answers PostgreSQL clients.
";

/// ADBC, "Driver Manager and Manifests".
const MANIFEST: &str = "manifest_version = 1

name = \"Tidemill\"
version = \"@version@\"
publisher = \"The Tidemill authors\"
license = \"Apache-2.0\"

[ADBC]
version = \"1.1.0\"

[Driver]
entrypoint = \"AdbcTidemillInit\"

[Driver.shared]
linux_amd64 = \"/@libraries@/libtidemill_adbc.so\"
";

const UNIT: &str = "[Unit]
Description=Tables of /var/lib/tidemill over PostgreSQL's protocol
Documentation=man:tidemill-serve(1)
After=network.target

[Service]
ExecStart=/usr/bin/tidemill serve /var/lib/tidemill
DynamicUser=yes
StateDirectory=tidemill
Restart=on-failure
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
";

const COPYRIGHT: &str = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tidemill

Files: *
Copyright: The Tidemill authors
License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.";

/// Asks the library for its version.
const PROGRAM: &str = "#include <stdio.h>
#include \"ace.h\"

int main(void)
{
    UNSIGNED32 major, minor;
    UNSIGNED8 letter, text[64];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 failed = AdsGetVersion(&major, &minor, &letter, text, &length);
    return failed || major == 0;
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found() {
        let bytes = b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0GLIBC_PRIVATE\0GLIBC_ABI_DT_RELR\0";
        assert_eq!(glibc_of(bytes), Some((2, 34)));
        assert_eq!(glibc_of(b"nothing"), None);
    }
}
