//! Skills, and agents, which since 6.12 are skills.

use super::{
    CatalogueFile, Column, Entry, EntryProblem, EntryProblemKind, EntryReading,
    frontmatter::Keys,
    frontmatter::{attribute, element, on_one_line, plain_element},
};

/// The sources of a column in an agent's file: an attribute or an element of its markup, else a key of its
/// frontmatter.
const TOLD: [(Column, Place); 8] = [
    (Column::DisplayName, Place::Attribute("name")),
    (Column::Title, Place::Attribute("title")),
    (Column::Icon, Place::Attribute("icon")),
    (Column::Capabilities, Place::AttributeOnOneLine("capabilities")),
    (Column::Role, Place::PlainElement("role")),
    (Column::Identity, Place::Element("identity")),
    (Column::CommunicationStyle, Place::Element("communication_style")),
    (Column::Principles, Place::Element("principles")),
];

/// The official installer's way to find a value in markup.
#[derive(Clone, Copy, Debug)]
enum Place {
    Attribute(&'static str),
    AttributeOnOneLine(&'static str),
    PlainElement(&'static str),
    Element(&'static str),
}

impl Place {
    fn find(self, text: &str) -> Option<String> {
        match self {
            Self::Attribute(name) => attribute(text, name).map(str::to_owned),
            Self::AttributeOnOneLine(name) => attribute(text, name).map(on_one_line),
            Self::PlainElement(name) => plain_element(text, name).map(on_one_line),
            Self::Element(name) => element(text, name).map(on_one_line),
        }
    }
}

/// Reads a file of a module's `agents` folder. A Markdown file without an `<agent` in it is none, and neither
/// is one that is only for the web (`localskip="true"`) or called `README.md`.
pub fn read_agent(source: &CatalogueFile<'_>) -> EntryReading {
    let (text, file_name) = (source.text(), source.path.file_name());
    let is_agent = file_name.ends_with(".md")
        && !file_name.eq_ignore_ascii_case("readme.md")
        && text.contains("<agent")
        && !text.contains("localskip=\"true\"");
    if !is_agent {
        return EntryReading::default();
    }
    let (keys, problem) = match Keys::of_frontmatter(source) {
        Ok(keys) => (keys.unwrap_or_default(), None),
        // Its markup says what it is all the same.
        Err(problem) => (Keys::default(), Some(problem)),
    };
    let name = file_name.replacen(".md", "", 1);
    let mut entry = source.entry().with(Column::Name, &name);
    for (column, place) in TOLD {
        let told = place.find(&text).or_else(|| keys.text(column.name()).map(on_one_line));
        let usual = if column == Column::DisplayName { name.as_str() } else { "" };
        entry = entry.with(column, told.unwrap_or_else(|| usual.to_owned()));
    }
    EntryReading { entry: Some(entry), problem }
}

/// Returns whether a skill is an agent: it was installed below the `agents` folder of its module, where
/// agents of all releases stand. `listed_path` is the path in the catalogue, such as
/// `_bmad/bmm/agents/NAME/SKILL.md`.
pub fn is_agent_skill(listed_path: &str) -> bool {
    let parts: Vec<&str> = listed_path.split('/').collect();
    parts.len() > 4 && parts[2] == "agents"
}

pub fn agent_of_skill(source: &CatalogueFile<'_>, skill: &Entry) -> Entry {
    // The skill was read from the same frontmatter.
    let keys = Keys::of_frontmatter(source).ok().flatten().unwrap_or_default();
    let name = skill.get(Column::Name);
    let mut entry = source
        .entry()
        .with(Column::Name, name)
        .with(Column::CanonicalId, skill.get(Column::CanonicalId))
        .with(Column::DisplayName, name);
    for (column, _) in TOLD {
        if let Some(told) = keys.text(column.name()) {
            entry = entry.with(column, on_one_line(told));
        }
    }
    entry
}

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

    fn read(path: &str, text: &str) -> EntryReading {
        let path = ProjectPath::new(path).unwrap();
        read_agent(&CatalogueFile {
            path: &path,
            bytes: text.as_bytes(),
            module: "bmm",
            listed_path: path.as_str(),
        })
    }

    const KEEPER: &str = "---\nname: \"keeper\"\ntitle: From frontmatter\nrole: Also from there\n---\n\n```xml\n\
        <agent id=\"k\" name=\"Kim\" icon=\"🧰\" capabilities=\"lending,\n  fixing\">\n<persona>\n\
        <identity>Keeps tools.\n  <i>All</i> of them.</identity>\n<communication_style>&quot;Short&quot;</communication_style>\n";

    #[test]
    fn what_an_agent_is_stands_in_its_markup_then_in_its_frontmatter() {
        let read = read("_bmad/bmm/agents/keeper.md", KEEPER);
        assert_eq!(read.problem, None);
        let entry = read.entry.unwrap();
        for (column, expected) in [
            (Column::Name, "keeper"),
            (Column::DisplayName, "Kim"),
            (Column::Title, "From frontmatter"),
            (Column::Icon, "🧰"),
            (Column::Capabilities, "lending, fixing"),
            (Column::Role, "Also from there"),
            (Column::Identity, "Keeps tools. <i>All</i> of them."),
            (Column::CommunicationStyle, "&quot;Short&quot;"),
            (Column::Principles, ""),
            (Column::Module, "bmm"),
            (Column::Path, "_bmad/bmm/agents/keeper.md"),
        ] {
            assert_eq!(entry.get(column), expected, "{column:?}");
        }
    }

    #[test]
    fn what_is_no_agent_is_left_out() {
        for (path, text) in [
            ("_bmad/bmm/agents/notes.md", "---\nname: notes\n---\n"),
            ("_bmad/bmm/agents/README.md", KEEPER),
            ("_bmad/bmm/agents/keeper.yaml", KEEPER),
            ("_bmad/bmm/agents/web.md", "<agent name=\"Web\" localskip=\"true\">"),
        ] {
            assert_eq!(read(path, text).entry, None, "{path}");
        }
    }

    #[test]
    fn an_agent_whose_frontmatter_is_broken_is_listed_and_told() {
        let read = read("_bmad/bmm/agents/keeper.md", "---\nname: \"keeper\" x\n---\n<agent title=\"T\">");
        let entry = read.entry.unwrap();
        assert_eq!((entry.get(Column::DisplayName), entry.get(Column::Title)), ("keeper", "T"));
        assert_eq!(read.problem.unwrap().line, Some(2));
    }

    #[test]
    fn a_skill_is_an_agent_by_the_folder_it_was_installed_from() {
        for (path, expected) in [
            ("_bmad/bmm/agents/x/SKILL.md", true),
            ("_bmad/bmm/plan/x/SKILL.md", false),
            ("_bmad/bmm/agents/SKILL.md", false),
            (".claude/skills/agents/SKILL.md", false),
        ] {
            assert_eq!(is_agent_skill(path), expected, "{path}");
        }
    }

    fn read_a_skill(text: &str) -> EntryReading {
        let path = ProjectPath::new(".claude/skills/tool-loan/SKILL.md").unwrap();
        let listed_path = "_bmad/shed/lend/tool-loan/SKILL.md";
        read_skill(&CatalogueFile { path: &path, bytes: text.as_bytes(), module: "shed", listed_path })
    }

    #[test]
    fn a_skill_is_called_as_its_folder_and_stands_where_it_was_installed() {
        let text = "---\r\nname: tool-loan\r\ndescription: >\r\n  Lends a \"tool\",\r\n  and more\r\n---\r\n";
        let read = read_a_skill(text);
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
            let read = read_a_skill(text);
            assert_eq!((read.entry, read.problem.unwrap().kind), (None, expected), "{text:?}");
        }
        let broken = read_a_skill("---\nname: tool-loan\ndescription: 'x' y\n---\n").problem.unwrap();
        assert!(matches!(broken.kind, EntryProblemKind::Frontmatter(_)));
        assert!(broken.to_string().starts_with(".claude/skills/tool-loan/SKILL.md:3: "), "{broken}");
    }
}
