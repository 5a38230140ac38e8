//! Workflows: `workflow.md` with frontmatter, and `workflow.yaml`.

use super::{CatalogueFile, Column, EntryReading, frontmatter::Keys, markup::on_one_line};

const YAML_FILE: &str = "workflow.yaml";

/// Returns whether a file below a module's `workflows` folder may be a workflow.
pub fn is_workflow_file(file_name: &str) -> bool {
    matches!(file_name, YAML_FILE | "workflow.md")
        || (file_name.starts_with("workflow-") && file_name.ends_with(".md"))
}

/// Reads a file that [may be a workflow](is_workflow_file). None is one without frontmatter, without `name`
/// or `description`, with a name that is still a template (`{…}`), or with `standalone: false`: a part of
/// another.
pub fn read_workflow(source: &CatalogueFile<'_>) -> EntryReading {
    let keys = match source.path.file_name() {
        YAML_FILE => Keys::of_yaml(source).map(Some),
        _ => Keys::of_frontmatter(source),
    };
    let keys = match keys {
        Ok(Some(keys)) => keys,
        Ok(None) => return EntryReading::default(),
        Err(problem) => return EntryReading::failed(problem),
    };
    let name = keys.text(Column::Name.name());
    let Some((name, description)) = name.zip(keys.text(Column::Description.name())) else {
        return EntryReading::default();
    };
    let is_template = name.contains('{') && name.contains('}');
    if is_template || keys.is_false(Column::Standalone.name()) {
        return EntryReading::default();
    }
    EntryReading::of(
        source
            .entry()
            .with(Column::Name, name)
            .with(Column::Description, on_one_line(description))
            .with(Column::Standalone, "true"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    fn read(file: &str, text: &str) -> EntryReading {
        let path = ProjectPath::new(format!("_bmad/bmm/workflows/{file}")).unwrap();
        let listed_path = path.as_str();
        read_workflow(&CatalogueFile { path: &path, bytes: text.as_bytes(), module: "bmm", listed_path })
    }

    #[test]
    fn a_workflow_has_a_name_and_a_description() {
        for (file, text) in [
            ("a/workflow.md", "---\nname: lend\ndescription: 'Lends\n\n  a tool'\nstandalone: true\n---\n"),
            ("a/workflow.yaml", "# The whole file\nname: lend\ndescription: Lends a tool\nsteps: [1]\n"),
        ] {
            let entry = read(file, text).entry.unwrap();
            assert_eq!((entry.get(Column::Name), entry.get(Column::Description)), ("lend", "Lends a tool"));
        }
    }

    #[test]
    fn what_is_no_workflow_of_its_own_is_left_out() {
        for text in [
            "# No frontmatter\n",
            "---\nname: lend\n---\n",
            "---\nname: ''\ndescription: x\n---\n",
            "---\nname: '{workflow}'\ndescription: x\n---\n",
            "---\nname: lend\ndescription: x\nstandalone: false\n---\n",
        ] {
            let read = read("a/workflow.md", text);
            assert_eq!((read.entry, read.problem), (None, None), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let problem = read("a/workflow.yaml", "name: x\ndescription: 'a' b\n").problem.unwrap();
        assert_eq!(problem.line, Some(2));
        assert!(read("a/workflow.md", "---\nname: x\n").problem.is_some());
    }

    #[test]
    fn workflow_files_are_known_by_their_names() {
        for (name, expected) in [
            ("workflow.md", true),
            ("workflow.yaml", true),
            ("workflow-domain-research.md", true),
            ("workflow-x.yaml", false),
            ("my-workflow.md", false),
        ] {
            assert_eq!(is_workflow_file(name), expected, "{name}");
        }
    }
}
