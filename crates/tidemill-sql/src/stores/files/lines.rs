//! Lines of JSON without end: the reader holds a whole line, more than once.

use std::io::{self, BufRead};

use memchr::{memchr, memrchr};
use tidemill_riegeli::SharedSource;

/// A line may be this long, and is taken for longer when it covers a whole window of this length, counted from the file's beginning.
const WINDOW: u64 = 32 << 20;

/// The window of a file that has no end of a line. Of other windows only the first bytes are read.
///
/// # Errors
/// The source's.
pub(super) fn window_without_end(source: &SharedSource) -> io::Result<Option<u64>> {
    let size = source.size()?;
    let mut buffer = vec![0; 4096];
    let mut window = 0;
    while window + WINDOW <= size {
        let mut at = window;
        while at < window + WINDOW {
            let left = usize::try_from(window + WINDOW - at).unwrap_or(usize::MAX);
            let wanted = buffer.len().min(left);
            let read = source.read_at(at, &mut buffer[..wanted])?;
            if read == 0 || memchr(b'\n', &buffer[..read]).is_some() {
                break;
            }
            at += read as u64;
            // A long line is read in larger pieces.
            buffer.resize(1 << 20, 0);
        }
        if at >= window + WINDOW {
            return Ok(Some(window));
        }
        window += WINDOW;
    }
    Ok(None)
}

/// Where the first longer line begins in text that comes, through a buffer smaller than a window.
///
/// # Errors
/// The text's.
pub(super) fn window_without_end_of(text: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let (mut at, mut ends) = (0_u64, 0);
    loop {
        let bytes = text.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Some(last) = memrchr(b'\n', bytes) {
            ends = at + last as u64 + 1;
        }
        at += bytes.len() as u64;
        let length = bytes.len();
        text.consume(length);
        if at - ends > WINDOW {
            return Ok(Some(ends));
        }
    }
}

/// How long a line may be, in words.
pub(super) const LIMIT: &str = "32 MiB";

#[cfg(test)]
mod tests {
    use std::io::BufReader;
    use std::sync::Arc;

    use tidemill_riegeli::BytesSource;

    use super::*;

    #[test]
    fn long_lines_are_found() {
        let long = usize::try_from(WINDOW).expect("a length") + 20_000;
        for (before, length, expected) in [
            ("", long, Some(0)),
            ("{}\n", 2 * long, Some(WINDOW)),
            ("{}\n", long, None),
        ] {
            let text = [before.as_bytes(), &vec![b'x'; length], b"\n{}\n"].concat();
            let coming = window_without_end_of(&mut BufReader::new(text.as_slice())).expect("memory");
            assert_eq!(coming, Some(before.len() as u64), "{length} bytes behind {before:?}");
            let source: SharedSource = Arc::new(BytesSource(text));
            let window = window_without_end(&source).expect("memory");
            assert_eq!(window, expected, "{length} bytes behind {before:?}");
        }
    }
}
