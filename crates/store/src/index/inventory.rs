//! The inventory, from the CSV catalogues and from nothing else.

use std::io;

use crate::disk::own_file;
use crate::index::{error::Fault, error::RefreshError};
use crate::index_db::{Catalogue, Contents, Part, catalogue_rows};
use crate::workspace::Workspace;
use stepmark_model::artifact::{FileHash, READ_LIMIT};

/// Takes in the catalogues, if one of them has other bytes than the last time. One that is not there has no
/// rows.
pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let mut read = Vec::new();
    let mut text = String::new();
    for catalogue in Catalogue::ALL {
        let bytes = match own_file::read(workspace.root().path(), catalogue.path.as_ref(), READ_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => {
                return Err(RefreshError::Read { path: catalogue.path.to_owned(), source }.into());
            }
        };
        text.push_str(&FileHash::of(&bytes).to_string());
        read.push((catalogue, bytes));
    }
    let stamp = FileHash::of(text.as_bytes());
    if contents.stamp(Part::Inventory)? == Some(stamp) {
        return Ok(());
    }
    for (catalogue, bytes) in read {
        contents.replace_named(catalogue.table, catalogue_rows(catalogue, &bytes))?;
    }
    contents.set_stamp(Part::Inventory, Some(stamp))?;
    Ok(())
}
