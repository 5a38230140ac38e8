//! Skills: a folder with a `SKILL.md` whose frontmatter says its name and what it is for.

use super::{
    CatalogueFile, Column, EntryProblem, EntryProblemKind, EntryReading, frontmatter::Keys,
    markup::on_one_line,
};

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// Reads the `SKILL.md` of a folder. It is a skill if `name` is the folder's name and `description` has text.
pub fn read_skill(source: &CatalogueFile<'_>) -> EntryReading {
    let folder = source.path.parent();
    let folder = folder.as_ref().map_or("", |folder| folder.file_name());
    let told = |kind| EntryReading::failed(EntryProblem::of_file(source.path, kind));
    let keys = match Keys::of_frontmatter(source) {
        Ok(Some(keys)) => keys,
        Ok(None) => return told(EntryProblemKind::NoFrontmatter),
        Err(problem) => return EntryReading::failed(problem),
    };
    let Some(name) = keys.string(Column::Name.name()) else {
        return told(EntryProblemKind::KeyMissing { key: Column::Name.name() });
    };
    let Some(description) = keys.string(Column::Description.name()) else {
        return told(EntryProblemKind::KeyMissing { key: Column::Description.name() });
    };
    if name != folder {
        let (name, folder) = (name.to_owned(), folder.to_owned());
        return told(EntryProblemKind::NameDiffers { name, folder });
    }
    EntryReading::of(
        source
            .entry()
            .with(Column::CanonicalId, folder)
            .with(Column::Name, name)
            .with(Column::Description, on_one_line(description)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    fn read(text: &str) -> EntryReading {
        let path = ProjectPath::new(".claude/skills/tool-loan/SKILL.md").unwrap();
        let listed_path = "_bmad/shed/lend/tool-loan/SKILL.md";
        read_skill(&CatalogueFile { path: &path, bytes: text.as_bytes(), module: "shed", listed_path })
    }

    #[test]
    fn a_skill_is_called_as_its_folder_and_stands_where_it_was_installed() {
        let text = "---\r\nname: tool-loan\r\ndescription: >\r\n  Lends a \"tool\",\r\n  and more\r\n---\r\n";
        let read = read(text);
        assert_eq!(read.problem, None);
        let entry = read.entry.unwrap();
        assert_eq!(entry.get(Column::CanonicalId), "tool-loan");
        assert_eq!(entry.get(Column::Description), "Lends a \"tool\", and more");
        assert_eq!(entry.get(Column::Path), "_bmad/shed/lend/tool-loan/SKILL.md");
        assert_eq!(entry.get(Column::Module), "shed");
    }

    #[test]
    fn what_is_wrong_with_a_skill_is_told() {
        let missing = |key| EntryProblemKind::KeyMissing { key };
        for (text, expected) in [
            ("# No frontmatter\n", EntryProblemKind::NoFrontmatter),
            ("# Title\n---\nname: tool-loan\ndescription: x\n---\n", EntryProblemKind::NoFrontmatter),
            ("---\nname: tool-loan\n", EntryProblemKind::Unclosed),
            ("---\ndescription: x\n---\n", missing("name")),
            ("---\nname: 5\ndescription: x\n---\n", missing("name")),
            ("---\nname: tool-loan\ndescription: ''\n---\n", missing("description")),
            ("---\nname: tool-loan\ndescription: [x]\n---\n", missing("description")),
            (
                "---\nname: loan\ndescription: x\n---\n",
                EntryProblemKind::NameDiffers { name: "loan".to_owned(), folder: "tool-loan".to_owned() },
            ),
        ] {
            let read = read(text);
            assert_eq!((read.entry, read.problem.unwrap().kind), (None, expected), "{text:?}");
        }
        let broken = read("---\nname: tool-loan\ndescription: 'x' y\n---\n").problem.unwrap();
        assert!(matches!(broken.kind, EntryProblemKind::Frontmatter(_)));
        assert!(broken.to_string().starts_with(".claude/skills/tool-loan/SKILL.md:3: "), "{broken}");
    }
}
