//! The machine that the program runs on, and who runs it.

use std::os::unix::fs::MetadataExt;

/// The name of this machine.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "localhost".to_owned());
    name.trim().to_owned()
}

/// The name that the user of this process has in the system; the number where no file says the name.
pub fn login_name() -> String {
    let own = std::fs::metadata("/proc/self").map_or_else(|_| String::new(), |about| about.uid().to_string());
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == own).then(|| name.to_owned())
    });
    name.unwrap_or(own)
}
