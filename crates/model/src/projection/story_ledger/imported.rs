//! A status that a person brings into a story's frontmatter.

use super::write_line;
use crate::artifact::{Artifact, Field, ProjectPath};
use stepmark_frontmatter::{
    Document, Edit, EditError, Frontmatter, KeyPath, LineEnding, Region, RegionError, Value, apply,
    replace_frontmatter,
};

/// The file at `path` with `status` in its frontmatter, which is made where there is none, and in its line
/// `Status:`. Nothing else differs; a body keeps every byte but that word.
///
/// # Errors
/// When the frontmatter cannot be edited faithfully, or stands below a heading, where no reader sees it.
pub fn with_status(path: &ProjectPath, bytes: &[u8], status: &str) -> Result<Vec<u8>, EditError> {
    let document = Document::scan(bytes);
    if document.misplaced_frontmatter().is_some() {
        return Err(RegionError::NoFrontmatter.into());
    }
    let edited = match document.frontmatter() {
        Frontmatter::Absent => {
            let line_end = LineEnding::first_of(bytes).unwrap_or(LineEnding::Lf);
            replace_frontmatter(bytes, &format!("status:{}", line_end.as_str())).bytes
        }
        Frontmatter::Present { .. } | Frontmatter::Unclosed { .. } => bytes.to_vec(),
    };
    let edit = Edit::Set { path: KeyPath::key("status"), value: Value::from(status) };
    let edited = apply(&edited, &Region::Frontmatter, &[edit])?.bytes;
    let artifact = Artifact::read(path.clone(), edited);
    let line = artifact.state().body_status.as_ref();
    let line_differs = line.is_some_and(|line| !line.text.eq_ignore_ascii_case(status));
    let said = artifact.state().status.as_ref().and_then(Field::filled).unwrap_or(status);
    let with_line = line_differs.then(|| write_line(path, artifact.bytes(), said)).flatten();
    Ok(with_line.unwrap_or_else(|| artifact.bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontmatter_is_made_and_the_body_stays() {
        let path = ProjectPath::new("1-1-a.md").unwrap();
        let write = |text: &str| {
            with_status(&path, text.as_bytes(), "review").map(|bytes| String::from_utf8(bytes).unwrap())
        };
        for (before, after) in [
            (
                "# Story 1.1\n\nStatus: done\n\n---\na: 1\n",
                "---\nstatus: review\n---\n# Story 1.1\n\nStatus: review\n\n---\na: 1\n",
            ),
            (
                "# Story 1.1\r\nStatus: Review\r\n",
                "---\r\nstatus: review\r\n---\r\n# Story 1.1\r\nStatus: Review\r\n",
            ),
            ("\u{feff}# Story\n", "\u{feff}---\nstatus: review\n---\n# Story\n"),
            ("---\nid: 7 # x\n---\n# Story\n", "---\nid: 7 # x\nstatus: review\n---\n# Story\n"),
            ("---\n---\n# Story\n", "---\nstatus: review\n---\n# Story\n"),
            (
                "---\nstatus: 'done' # y\n---\n# Story\n\nStatus: x",
                "---\nstatus: 'review' # y\n---\n# Story\n\nStatus: review",
            ),
        ] {
            assert_eq!(write(before).as_deref(), Ok(after));
            assert_eq!(write(after).as_deref(), Ok(after), "a second time nothing is written");
        }
        assert!(write("---\nstatus: a\nstatus: b\n---\n").is_err());
        assert!(write("---\nstatus: a\n# Story\n").is_err());
        assert!(write("# Story\n---\nstatus: a\n---\n").is_err(), "misplaced");
    }
}
