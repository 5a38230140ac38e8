//! Whatever the fields hold, another reader of CSV (RFC 4180) reads the same back.

use proptest::prelude::*;

use super::*;
use crate::artifact::ProjectPath;

/// A reader of its own: quotes toggle, two of them inside are one, commas and line ends count outside only.
fn independent_reader(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut characters) = (false, text.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !is_quoted, "the last row ends with LF");
    rows
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\",\n\r a-c;'\\\\]{0,12}"]
}

proptest! {
    #[test]
    fn fields_survive(rows in prop::collection::vec((field(), field(), field()), 0..8)) {
        let columns = ["name", "path", "module"].map(str::to_owned);
        let entries: Vec<Entry> = rows
            .iter()
            .map(|(name, path, description)| {
                let entry = Entry::default().with("name", name).with("path", path);
                entry.with("module", description)
            })
            .collect();
        let bytes = write(&columns, &entries);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let expected: Vec<Vec<String>> =
            rows.iter().map(|(name, path, description)| vec![name.clone(), path.clone(), description.clone()]).collect();
        prop_assert_eq!(&independent_reader(&text)[1..], &expected[..]);
        let table = Table::read(&bytes).unwrap();
        let read: Vec<Vec<String>> =
            table.fields(columns.each_ref().map(String::as_str)).map(|row| row.map(str::to_owned).to_vec()).collect();
        prop_assert_eq!(&read, &expected);
    }

    #[test]
    fn whatever_a_file_holds_it_is_read_or_told(bytes in prop::collection::vec(any::<u8>(), 0..200), has_fence: bool) {
        let bytes = if has_fence { [b"---\nname: x\n", &bytes[..], b"\n---\n"].concat() } else { bytes };
        let path = ProjectPath::new("_bmad/m/workflows/x/workflow.md").unwrap();
        let source = CatalogueFile { path: &path, bytes: &bytes, module: "m", listed_path: path.as_str() };
        for kind in [CatalogueKind::Agent, CatalogueKind::Workflow, CatalogueKind::Task] {
            let _no_panic = source.read(kind, &mut Vec::new());
        }
        let path = ProjectPath::new("_bmad/m/x/SKILL.md").unwrap();
        let mut problems = Vec::new();
        let skill = CatalogueFile { path: &path, ..source }.read(CatalogueKind::Skill, &mut problems);
        prop_assert_eq!(skill.is_some(), problems.is_empty());
    }
}

#[test]
fn the_header_is_bare_and_every_field_quoted() {
    let columns = ["name", "odd, one", "path"].map(str::to_owned);
    let entries =
        [Entry::default().with("name", "say \"so\", friend").with("path", "a b/ü.md"), Entry::default()];
    let text = String::from_utf8(write(&columns, &entries)).unwrap();
    assert_eq!(
        text,
        "name,\"odd, one\",path\n\"say \"\"so\"\", friend\",\"\",\"a b/ü.md\"\n\"\",\"\",\"\"\n"
    );
    assert_eq!(write(&columns[..1], &[]), b"name\n");
}

#[test]
fn columns_are_read_by_their_header() {
    let table =
        Table::read(b"\xEF\xBB\xBFmodule,install,path,name\r\n\"m\",\"x\",\"p\",\"n\"\r\nonly\r\n").unwrap();
    assert_eq!(table.fields(["name", "icon"]).collect::<Vec<_>>(), [["n", ""], ["", ""]]);
    assert_eq!(table.columns, ["module", "install", "path", "name"]);
    for other in [&b""[..], b"type,name,hash\n", b"no table at all"] {
        assert!(Table::read(other).is_err());
    }
    assert!(Table::read(b"name,module,path\n\xFF,a,b\n").is_err());
}

fn entry(module: &str, name: &str, path: &str) -> Entry {
    Entry::default().with("module", module).with("name", name).with("path", path)
}

fn paths(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.get("path")).collect()
}

#[test]
fn core_comes_first_then_the_installers_order_then_folders() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let order = module_order(&names(&["tea", "core", "bmm"]), &names(&["zoo", "bmm", "art"]));
    assert_eq!(order, ["core", "tea", "bmm", "art", "zoo"]);
    assert_eq!(module_order(&[], &[]), ["core"]);
}

#[test]
fn entries_stand_as_a_walk_comes_past_them() {
    let modules = ["core".to_owned(), "bmm".to_owned()];
    let entries = ["bmm/b", "bmm/a-b/c", "bmm/a/z", "bmm/B", "zoo/x", "core/z", "ant/x"]
        .map(|path| entry(path.split('/').next().unwrap(), path, path));
    assert_eq!(
        paths(&in_walk_order(entries.to_vec(), &modules)),
        ["core/z", "bmm/B", "bmm/a/z", "bmm/a-b/c", "bmm/b", "ant/x", "zoo/x"]
    );
}

#[test]
fn of_two_with_one_name_the_later_stands_at_the_earlier_place() {
    let entries =
        vec![entry("m", "x", "1"), entry("m", "y", "2"), entry("m", "x", "3"), entry("n", "x", "4")];
    assert_eq!(paths(&distinct(entries)), ["3", "2", "4"]);
}
