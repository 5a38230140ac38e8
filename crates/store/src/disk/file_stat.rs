//! What the file system says about a file without reading it.

use std::fs::Metadata;

/// The properties of a file that change when its bytes do. Two equal ones mean the same bytes, except within the
/// instant that [`FileStat::may_hide_a_change`] describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// Size in bytes.
    pub(crate) size: u64,
    /// Last change of the bytes, in nanoseconds since 1970.
    pub(crate) modified: i64,
    /// Last change of the bytes or of a property, in nanoseconds since 1970; no program can set it. 0 where the
    /// system has no such time.
    pub(crate) changed: i64,
    /// The file's number, which a replacement by another file changes. 0 where the system has none.
    pub(crate) inode: u64,
}

/// File systems take their times from a clock that ticks every 1 to 10 ms.
const TICK: i64 = 20_000_000;
/// FAT counts in steps of 2 s, HFS+ and ext3 of 1 s.
const COARSE_STEP: i64 = 2_000_000_000;
const SECOND: i64 = 1_000_000_000;

impl FileStat {
    /// The stat of no file.
    pub(crate) const NONE: Self =
        Self { size: u64::MAX, modified: i64::MAX, changed: i64::MAX, inode: u64::MAX };

    /// The stat that the standard library has.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            size: metadata.len(),
            modified: Self::moment(metadata.mtime(), metadata.mtime_nsec()),
            changed: Self::moment(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// The stat that the standard library has.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let nanoseconds = |time: std::io::Result<std::time::SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
        };
        Self { size: metadata.len(), modified: nanoseconds(metadata.modified()), changed: 0, inode: 0 }
    }

    /// Whether the file may have been changed at or after the moment `hashing_began` (same clock, nanoseconds since
    /// 1970) without a trace in its stat: then a hash taken at that time proves nothing (git calls such an entry
    /// "racily clean"). True for a file that changed so shortly before that a second change could bear the same time.
    pub(crate) fn may_hide_a_change(&self, hashing_began: i64) -> bool {
        let newest = self.modified.max(self.changed);
        let coarse = self.modified % SECOND == 0 && self.changed % SECOND == 0;
        newest.saturating_add(if coarse { COARSE_STEP } else { TICK }) >= hashing_began
    }

    /// The moment `seconds` and `nanoseconds` after 1970, as it stands in a stat.
    pub(crate) fn moment(seconds: i64, nanoseconds: i64) -> i64 {
        seconds.saturating_mul(SECOND).saturating_add(nanoseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_as_new_as_the_hashing_may_hide_a_change() {
        let began = 1_000 * SECOND + 500_000_000;
        for (modified, changed, hides) in [
            (began, began, true),
            (began - 1, began - 1, true),
            (began - TICK + 1, 1, true),
            (1, began - 5, true),
            (began - TICK - 1, 7, false),
            (began + SECOND, 7, true),
            (999 * SECOND, 999 * SECOND, true),
            (999 * SECOND, 0, true),
            (998 * SECOND, 998 * SECOND, false),
            (i64::MAX, 0, true),
        ] {
            let stat = FileStat { size: 1, modified, changed, inode: 1 };
            assert_eq!(stat.may_hide_a_change(began), hides, "{modified} {changed}");
        }
    }
}
