//! The sealed segments that no other one names yet.

use std::collections::{BTreeSet, HashSet};

use rusqlite::Connection;

use super::{
    super::{SegmentHead, SegmentName},
    History, HistoryError, segment_files,
};
use crate::document::FileHash;

/// Writes down which segments the seal of a segment names.
pub(super) fn remember(connection: &Connection, segment: i64, heads: &[SegmentHead]) -> rusqlite::Result<()> {
    let names: Vec<&str> = heads.iter().map(|head| head.segment.as_str()).collect();
    let mut statement = connection.prepare_cached("UPDATE segments SET named = ? WHERE id = ?")?;
    // No name of a segment has a blank.
    statement.execute((names.join(" "), segment)).map(|_| ())
}

impl History {
    /// The heads of the sealed segments that stand among the files of the project and that no other of them names, `most` of them at most.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn tips(&self, most: usize) -> Result<Vec<SegmentHead>, HistoryError> {
        let names = segment_files::list_sealed(self.root())?.into_keys().collect();
        self.tips_among(&names, most)
    }

    /// The heads of the segments `names` that no other of them names, `most` of them at most: first those that name others themselves.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn tips_among(
        &self,
        names: &BTreeSet<SegmentName>,
        most: usize,
    ) -> Result<Vec<SegmentHead>, HistoryError> {
        self.ask(|index| {
            let mut statement = index
                .connection
                .prepare_cached("SELECT name, last, named FROM segments WHERE is_known ORDER BY name")?;
            let mut rows = statement.query([])?;
            let (mut heads, mut named) = (Vec::new(), HashSet::new());
            while let Some(row) = rows.next()? {
                let (name, last, follows): (String, [u8; 32], Option<String>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let Some(segment) = SegmentName::new(&name).filter(|name| names.contains(name)) else {
                    continue;
                };
                heads.push((follows.is_none(), SegmentHead { segment, last: FileHash::from_digest(last) }));
                named.extend(follows.iter().flat_map(|names| names.split(' ')).map(str::to_owned));
            }
            heads.retain(|(_, head)| !named.contains(head.segment.as_str()));
            heads.sort();
            Ok(heads.into_iter().map(|(_, head)| head).take(most).collect())
        })
    }
}
