//! References from one step file to another.

use crate::artifact::ProjectPath;

/// A reference before it is looked up among the steps of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: Option<ProjectPath>,
    /// The folder that directly holds the file, as written; `None` where the reference names none.
    pub(crate) folder: Option<String>,
    pub(crate) file_name: String,
}

/// The folders against which a reference is read.
pub(crate) struct ReferenceBase<'base> {
    pub(crate) own_folder: Option<ProjectPath>,
    /// The folder of the workflow: what `{workflow_path}`, `{installed_path}` and `{skill-root}` stand for.
    pub(crate) workflow_folder: &'base ProjectPath,
}

/// Reads `text`, the value of a successor key or a link in prose; `None` where it names no Markdown file.
///
/// The variables are those of docs/formats.md, "Step files". A value that a step file itself gives to
/// `workflow_path` is not followed: it says where the file was when it was written, and installers move
/// folders.
pub(crate) fn read(text: &str, base: &ReferenceBase<'_>) -> Option<Reference> {
    let text = text.trim().trim_matches(['`', '\'', '"']);
    let (holder, file_name) =
        text.rsplit_once('/').map_or((None, text), |(holder, name)| (Some(holder), name));
    let stem = file_name.strip_suffix(".md")?;
    if stem.is_empty() || file_name.contains(['{', '}']) {
        return None;
    }
    let folder = holder
        .and_then(|holder| holder.rsplit('/').next())
        .filter(|part| !part.is_empty() && !matches!(*part, "." | "..") && !part.contains(['{', '}']))
        .map(str::to_owned);
    Some(Reference { path: path(text, base), folder, file_name: file_name.to_owned() })
}

/// The file that `text` names; `None` where a variable is not known or the path leads out of the project.
pub(crate) fn path(text: &str, base: &ReferenceBase<'_>) -> Option<ProjectPath> {
    if let Some(rest) = text.strip_prefix('{') {
        let (variable, rest) = rest.split_once('}')?;
        let rest = rest.strip_prefix('/')?;
        if rest.contains('{') {
            return None;
        }
        return match variable {
            "project-root" | "project_root" => ProjectPath::new(rest).ok(),
            "workflow_path" | "workflow-path" | "installed_path" | "skill-root" | "skill_root" => {
                base.workflow_folder.join(rest).ok()
            }
            _ => None,
        };
    }
    if text.contains('{') {
        return None;
    }
    match &base.own_folder {
        Some(folder) => folder.join(text).ok(),
        None => ProjectPath::new(text).ok(),
    }
}

/// Every Markdown file that running text names, in the order of the text: `` `./step-02-x.md` ``,
/// `{project-root}/_bmad/…/step-02-x.md`, `[[bmad-snapshot:step-02-x.md]]`.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(".md").filter_map(|(dot, extension)| {
        let end = dot + extension.len();
        if text[end..].starts_with(|next: char| next.is_alphanumeric() || matches!(next, '-' | '_')) {
            return None;
        }
        let before = &text[..dot];
        let start = before
            .rfind(|letter: char| !is_path_letter(letter))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        (start < dot).then(|| &text[start..end])
    })
}

fn is_path_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str) -> ProjectPath {
        ProjectPath::new(path).unwrap()
    }

    #[test]
    fn resolves_the_variables_of_every_release() {
        let workflow = folder("_bmad/prd");
        let base = ReferenceBase { own_folder: Some(folder("_bmad/prd/steps")), workflow_folder: &workflow };
        for (text, path, holder) in [
            ("./step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("../steps-v/step-v-01.md", Some("_bmad/prd/steps-v/step-v-01.md"), Some("steps-v")),
            ("{workflow_path}/steps/step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), Some("steps")),
            ("{installed_path}/step-02-x.md", Some("_bmad/prd/step-02-x.md"), None),
            ("{skill-root}/steps-c/step-02-x.md", Some("_bmad/prd/steps-c/step-02-x.md"), Some("steps-c")),
            ("{project-root}/_bmad/a/steps/step-02-x.md", Some("_bmad/a/steps/step-02-x.md"), Some("steps")),
            ("{elsewhere}/steps/step-02-x.md", None, Some("steps")),
            ("`./step-02-x.md`", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("../../../../step-02-x.md", None, None),
        ] {
            let reference = read(text, &base).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(reference.path.as_ref().map(ProjectPath::as_str), path, "{text}");
            assert_eq!(reference.folder.as_deref(), holder, "{text}");
        }
        for text in ["", "./", "step-02-x", "./step-{{n}}-x.md", ".md", "no step file: none"] {
            assert_eq!(read(text, &base), None, "{text:?}");
        }
    }

    #[test]
    fn finds_links_in_prose() {
        let text = "Load `./step-02-a.md`, or [[snapshot:step-03-b.md]] (see {x}/steps/step-é.md) not a.mdx .md\n\
                    then steps/step-04.md.";
        assert_eq!(
            links(text).collect::<Vec<_>>(),
            ["./step-02-a.md", "step-03-b.md", "{x}/steps/step-é.md", "steps/step-04.md"]
        );
    }
}
