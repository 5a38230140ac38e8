//! The bodies that the fuzz targets (`fuzz/`) and the seeded loops of the tests share.

use stepmark_frontmatter::{Document, Frontmatter, Region, Value, Yaml};

use crate::{Choices, LIBYAML, Random, Verdict, Wrong, edit_for, judge, judge::has_place, paths};

/// Reads `bytes` as a file with frontmatter and as a file of YAML: the parts of a file make up the file,
/// errors have a place, values are read or refused.
///
/// # Errors
/// With the first promise that is broken.
pub fn parse(bytes: &[u8]) -> Result<(), Wrong> {
    let document = Document::scan(bytes);
    if let Frontmatter::Present { content, body } = document.frontmatter() {
        let parts = [&bytes[..content.start], &bytes[content.range()], &bytes[content.end..body.start]];
        if [parts.concat(), bytes[body.range()].to_vec()].concat() != bytes {
            return Err(Wrong {
                promise: "the parts of a file make up the file",
                found: format!("{document:?}"),
            });
        }
    }
    document.misplaced_frontmatter();
    document.has_mixed_line_ends();
    for region in [Region::Frontmatter, Region::WholeFile] {
        let Ok(span) = region.find(&document) else { continue };
        match Yaml::parse(bytes, span) {
            Ok(yaml) => {
                yaml.duplicate_keys();
                yaml.unresolved_aliases();
                if let Some(Ok(value)) = yaml.root().map(|root| Value::of(&yaml, root)) {
                    value.to_json();
                }
            }
            Err(error) if has_place(&error, bytes) => {}
            Err(error) => {
                return Err(Wrong { promise: "an error lies in the file", found: format!("{error:?}") });
            }
        }
    }
    Ok(())
}

/// Makes a few edits in a file, each judged, each in the result of the one before. The decisions stand behind
/// the last NUL byte of `bytes`; without one they follow from the bytes, so that a plain file is an input
/// too.
///
/// # Errors
/// With the first promise that is broken.
pub fn edit(bytes: &[u8]) -> Result<Vec<Verdict>, Wrong> {
    let (file, decisions) = match bytes.iter().rposition(|byte| *byte == 0) {
        Some(at) => (&bytes[..at], bytes[at + 1..].to_vec()),
        None => (bytes, Random::new(digest(bytes)).bytes(64)),
    };
    let mut choices = Choices::new(&decisions);
    let has_frontmatter = matches!(Document::scan(file).frontmatter(), Frontmatter::Present { .. });
    let region = if has_frontmatter { Region::Frontmatter } else { Region::WholeFile };
    let mut file = file.to_vec();
    let mut verdicts = Vec::new();
    for _ in 0..4 {
        let edit = {
            let span = region.find(&Document::scan(&file)).unwrap_or_default();
            let yaml = Yaml::parse(&file, span).ok();
            let value = yaml.as_ref().and_then(|yaml| Value::of(yaml, yaml.root()?).ok());
            edit_for(&mut choices, &paths(&value.unwrap_or(Value::Null)))
        };
        let verdict = judge(&file, &region, &edit, &[LIBYAML]).map_err(|wrong| Wrong {
            found: format!("{edit:?} of {:?}: {}", String::from_utf8_lossy(&file), wrong.found),
            ..wrong
        })?;
        if let Verdict::Changed(edited) = &verdict {
            file.clone_from(&edited.bytes);
        }
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

/// FNV-1a of `bytes`.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}
