//! Workflows, tasks and tools.

use super::{
    CatalogueFile, CatalogueKind, Column, EntryReading,
    frontmatter::Keys,
    frontmatter::{attribute, on_one_line, plain_element, tag_holds},
};

const YAML_FILE: &str = "workflow.yaml";

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

/// Reads a file of a module's `tasks` or `tools` folder. One with `internal="true"` is a part of the
/// machinery and no entry. A Markdown file whose frontmatter cannot be read is an entry called as its file,
/// and told.
pub fn read_task(kind: CatalogueKind, source: &CatalogueFile<'_>) -> EntryReading {
    let (text, file_name) = (source.text(), source.path.file_name());
    if text.contains("internal=\"true\"") {
        return EntryReading::default();
    }
    if let Some(stem) = file_name.strip_suffix(".md") {
        return of_markdown(source, stem);
    }
    let Some(stem) = file_name.strip_suffix(".xml") else { return EntryReading::default() };
    let description = attribute(&text, "description").or_else(|| plain_element(&text, "objective"));
    EntryReading::of(
        source
            .entry()
            .with(Column::Name, stem)
            .with(Column::DisplayName, attribute(&text, "name").unwrap_or(stem))
            .with(Column::Description, on_one_line(description.unwrap_or_default()))
            .with(Column::Standalone, (!tag_holds(&text, kind.noun(), "standalone=\"false\"")).to_string()),
    )
}

fn of_markdown(source: &CatalogueFile<'_>, stem: &str) -> EntryReading {
    let (keys, problem) = match Keys::of_frontmatter(source) {
        Ok(keys) => (keys.unwrap_or_default(), None),
        Err(problem) => (Keys::default(), Some(problem)),
    };
    let name = keys.text(Column::Name.name()).unwrap_or(stem);
    let entry = source
        .entry()
        .with(Column::Name, name)
        .with(Column::DisplayName, keys.text(Column::DisplayName.name()).unwrap_or(name))
        .with(Column::Description, on_one_line(keys.text(Column::Description.name()).unwrap_or_default()))
        .with(Column::Standalone, (!keys.is_false(Column::Standalone.name())).to_string());
    EntryReading { entry: Some(entry), problem }
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

    fn read_a_task(kind: CatalogueKind, file: &str, text: &str) -> Option<[String; 4]> {
        let path = ProjectPath::new(format!("_bmad/core/tasks/{file}")).unwrap();
        let listed_path = path.as_str();
        let source = CatalogueFile { path: &path, bytes: text.as_bytes(), module: "core", listed_path };
        let reading = read_task(kind, &source);
        assert_eq!(reading.problem.is_some(), text.contains("broken"), "{text}");
        let columns = [Column::Name, Column::DisplayName, Column::Description, Column::Standalone];
        reading.entry.map(|entry| columns.map(|column| entry.get(column).to_owned()))
    }

    #[test]
    fn tasks_are_read_as_the_installer_reads_them() {
        use CatalogueKind::{Task, Tool};
        for (kind, file, text, expected) in [
            (
                Task,
                "a.md",
                "---\nname: lend\ndescription: ' Lends\n  it '\n---\n",
                ["lend", "lend", "Lends it", "true"],
            ),
            (Task, "a.md", "---\ndisplayName: A\nstandalone: false\n---\n", ["a", "A", "", "false"]),
            (Task, "a.md", "---\nname: lend\nstandalone: 'false'\n---\n", ["lend", "lend", "", "false"]),
            (Task, "a.md", "no frontmatter", ["a", "a", "", "true"]),
            (Task, "a.md", "---\nname: 'x' broken\n---\n", ["a", "a", "", "true"]),
            (Task, "a.md", "---\nname: 7\n---\n", ["7", "7", "", "true"]),
            (Task, "a.xml", "<task name=\"Lend\" description=\"x  y\">", ["a", "Lend", "x y", "true"]),
            (
                Task,
                "a.xml",
                "<task standalone=\"false\"><objective> x </objective>",
                ["a", "a", "x", "false"],
            ),
            (Tool, "a.xml", "<task x standalone=\"false\">", ["a", "a", "", "true"]),
            (Tool, "a.xml", "<tool x standalone=\"false\">", ["a", "a", "", "false"]),
        ] {
            assert_eq!(
                read_a_task(kind, file, text).as_ref().map(|row| row.each_ref().map(String::as_str)),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(read_a_task(Task, "a.xml", "<task internal=\"true\">"), None);
        assert_eq!(read_a_task(Task, "a.txt", "x"), None);
    }
}
