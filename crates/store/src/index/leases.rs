//! Leases, from their files.

use std::io;

use crate::Error;
use crate::disk::{local_state::LocalState, local_state::StateFolder, names_in, own_file};
use crate::index::error::Fault;
use crate::index_db::{Cell, Contents, IntoCell as _, Row};
use crate::{leases::LIMIT, workspace::Workspace};
use stepmark_model::lease::Lease;

pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let state = workspace.root().state();
    let mut rows = read_all(state).map_err(|source| {
        let path = state.path(StateFolder::Leases);
        Error::io(format!("cannot read `{}`", path.to_string_lossy()), source)
    })?;
    rows.sort_by_key(|row| format!("{row:?}"));
    contents.replace_named("leases", rows)?;
    Ok(())
}

fn read_all(state: &LocalState) -> io::Result<Vec<Row>> {
    let folder = state.folder(StateFolder::Leases)?;
    let mut rows = Vec::new();
    for name in names_in(&folder)? {
        // Other files are being written.
        if !name.ends_with(".json") {
            continue;
        }
        match own_file::read(&folder, name.as_ref(), LIMIT) {
            Ok(bytes) => rows.push(Lease::read(&bytes).map_or_else(
                || problem(&name, "it is no lease that this version can read".to_owned()),
                |lease| row(&lease),
            )),
            // Gone since its name was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => rows.push(problem(&name, error.to_string())),
        }
    }
    Ok(rows)
}

fn row(lease: &Lease) -> Row {
    let tenure = lease.tenure.as_ref();
    vec![
        lease.path.as_str().cell(),
        lease.artifact.as_str().cell(),
        lease.fence.cell(),
        tenure.map(|tenure| tenure.holder.to_string()).cell(),
        tenure.and_then(|tenure| tenure.session.clone()).cell(),
        tenure.map(|tenure| tenure.taken_at.to_string()).cell(),
        tenure.map(|tenure| tenure.expires_at.to_string()).cell(),
        Cell::Null,
    ]
}

fn problem(name: &str, reason: String) -> Row {
    let mut row = vec![format!("leases/{name}").cell(), "".cell()];
    row.extend(vec![Cell::Null; 5]);
    row.push(reason.cell());
    row
}
