//! Whatever the fields hold, another reader of CSV (RFC 4180) reads the same back.

use proptest::prelude::*;

use super::*;

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
        let columns = ["name", "path", "description"].map(str::to_owned);
        let entries: Vec<Entry> = rows
            .iter()
            .map(|(name, path, description)| {
                let entry = Entry::default().with(Column::Name, name).with(Column::Path, path);
                entry.with(Column::Description, description)
            })
            .collect();
        let bytes = write(&columns, &entries).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let expected: Vec<Vec<String>> =
            rows.iter().map(|(name, path, description)| vec![name.clone(), path.clone(), description.clone()]).collect();
        prop_assert_eq!(&independent_reader(&text)[1..], &expected[..]);
        let table = Table::read(&bytes).unwrap();
        prop_assert_eq!(table.rows(), &expected[..]);
        prop_assert_eq!(table.columns(), &columns[..]);
        prop_assert_eq!(write(&columns, &entries).unwrap(), bytes);
    }

    #[test]
    fn whatever_a_file_holds_it_is_read_or_told(bytes in prop::collection::vec(any::<u8>(), 0..200), has_fence: bool) {
        let bytes = if has_fence { [b"---\nname: x\n", &bytes[..], b"\n---\n"].concat() } else { bytes };
        let path = ProjectPath::new("_bmad/m/workflows/x/workflow.md").unwrap();
        let source = CatalogueFile { path: &path, bytes: &bytes, module: "m", listed_path: path.as_str() };
        let _no_panic = (read_agent(&source), read_workflow(&source), read_task(CatalogueKind::Task, &source));
        let skill = read_skill(&source);
        prop_assert_eq!(skill.entry.is_some(), skill.problem.is_none());
    }
}
