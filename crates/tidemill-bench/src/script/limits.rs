//! What one call of a script may use.

/// The limits of one call. A script that goes beyond them is stopped with its line number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Instructions. Default: 100 million, a second or two.
    pub instructions: usize,
    /// Bytes that its values hold. Default: 256 MiB.
    pub memory: usize,
    /// Whether it may read any file, not only those in its folder and those that a parameter names. Default: no.
    pub any_file: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instructions: 100_000_000,
            memory: 256 << 20,
            any_file: false,
        }
    }
}
