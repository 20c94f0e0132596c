//! Whether a file is on a local file system, which shows changes of other programs at once.
//!
//! Network file systems cache attributes for some seconds, and ask the server again when a lock is taken. File systems in user space may do
//! the same. Only file systems that are known to be local count.

use std::path::Path;

/// Whether a path is on such a file system. `false` if that is unknown, and on systems other than Linux.
#[cfg(target_os = "linux")]
pub(crate) fn has(path: &Path) -> bool {
    use nix::sys::statfs::statfs;
    statfs(path).is_ok_and(|found| is_local(found.filesystem_type()))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has(_path: &Path) -> bool {
    false
}

/// ext2 to ext4 have one number.
#[cfg(target_os = "linux")]
fn is_local(kind: nix::sys::statfs::FsType) -> bool {
    use nix::sys::statfs::{BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC};
    [
        EXT4_SUPER_MAGIC,
        XFS_SUPER_MAGIC,
        BTRFS_SUPER_MAGIC,
        F2FS_SUPER_MAGIC,
        TMPFS_MAGIC,
    ]
    .contains(&kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::sys::statfs::{EXT2_SUPER_MAGIC, FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC};

    use super::*;

    #[test]
    fn only_file_systems_that_are_known_to_be_local_count() {
        assert!(is_local(EXT2_SUPER_MAGIC));
        for kind in [FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC] {
            assert!(!is_local(kind), "{kind:?}");
        }
        assert!(!has(Path::new("/proc/self/stat")));
        assert!(!has(Path::new("/no such file")));
    }
}
