//! Tasks and tools: Markdown with frontmatter, or XML.

use super::{
    CatalogueFile, CatalogueKind, Column, EntryReading,
    frontmatter::Keys,
    markup::on_one_line,
    markup::{attribute, plain_element, tag_holds},
};

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

    fn read(kind: CatalogueKind, file: &str, text: &str) -> Option<[String; 4]> {
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
                read(kind, file, text).as_ref().map(|row| row.each_ref().map(String::as_str)),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(read(Task, "a.xml", "<task internal=\"true\">"), None);
        assert_eq!(read(Task, "a.txt", "x"), None);
    }
}
