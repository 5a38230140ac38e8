//! Several values at once: planned on one reading of the file, and proven by one more.

use std::collections::BTreeMap;

use super::{
    Change, Context, Splice,
    prove::{Meaning, prove_replaced},
    set, splice,
};
use crate::document::{Document, KeyPath, LineEnding, Region, Value, Yaml, parse::Comments};

/// The bytes of `file` with each of `values` in the place of what stands at its path in `region`: what one [`Edit::Set`](super::Edit::Set)
/// after the other leads to, in a fraction of the time where they are many. `None` where one of them is not there yet or cannot be set
/// faithfully; the edits one by one tell which, and why.
pub fn set_together(file: &[u8], region: &Region, values: &[(KeyPath, Value)]) -> Option<Vec<u8>> {
    let span = region.find(&Document::scan(file)).ok()?;
    let yaml = Yaml::parse_with(file, span, Comments::Keep).ok().filter(|yaml| yaml.documents() <= 1)?;
    let line_ending = LineEnding::first_of(&file[span.range()]).or_else(|| LineEnding::first_of(file));
    let context = Context { file, yaml: &yaml, line_ending: line_ending.unwrap_or(LineEnding::Lf) };
    let (mut splices, mut replaced) = (Vec::<Splice>::new(), BTreeMap::new());
    for (path, value) in values {
        let Some(Change { splices: planned, meaning }) = set::plan(&context, path, value).ok()? else {
            continue;
        };
        let Meaning::Replaced { place, value } = meaning else { return None };
        // Of two values for one place, the order says which one counts.
        if replaced.insert(place, value).is_some() {
            return None;
        }
        splices.extend(planned);
    }
    splices.sort_by_key(|splice| splice.span.start);
    let bytes = splice(file, &splices)?;
    let span = region.find(&Document::scan(&bytes)).ok()?;
    let after = Yaml::parse_with(&bytes, span, Comments::Keep).ok()?;
    prove_replaced(&yaml, &after, &replaced).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Edit, apply};

    const LEDGER: &str = "a: 1 # one\ns:\n  x: 'b' # two\n  y: c\n  z:\n  f: {g: h, i: j}\n  l:\n    - k # three\n  t: |\n    long\nu: &v w\no: *v\n";

    fn values(said: &[(&str, &str)]) -> Vec<(KeyPath, Value)> {
        said.iter().map(|(path, value)| (path.parse().unwrap(), Value::from(*value))).collect()
    }

    #[test]
    fn what_one_edit_after_the_other_leads_to() {
        for said in [
            &[("s.x", "done"), ("s.y", "done"), ("a", "x")][..],
            &[("s.f.g", "m"), ("s.f.i", "n"), ("s.l[0]", "p"), ("s.x", "a: b")],
            &[("s.z", "new"), ("s.y", "c"), ("s.t", "short")],
            &[("s.y", "c")],
            &[],
        ] {
            let values = values(said);
            let set =
                |(path, value): &(KeyPath, Value)| Edit::Set { path: path.clone(), value: value.clone() };
            let edits: Vec<Edit> = values.iter().map(set).collect();
            for text in [LEDGER.to_owned(), LEDGER.replace('\n', "\r\n")] {
                let expected = apply(text.as_bytes(), &Region::WholeFile, &edits).unwrap().bytes;
                let together = set_together(text.as_bytes(), &Region::WholeFile, &values).unwrap();
                assert_eq!(String::from_utf8(together), String::from_utf8(expected), "{said:?}");
            }
        }
    }

    #[test]
    fn nothing_is_set_where_one_cannot_be() {
        for said in [
            &[("s.x", "done"), ("s.new", "x")][..],
            &[("s.x", "done"), ("u", "x")],
            &[("s.x", "done"), ("o", "x")],
            &[("s.x", "done"), ("s.x", "review")],
            &[("s.f", "m"), ("s.f.g", "n")],
            &[("s.x.y", "done")],
        ] {
            assert_eq!(set_together(LEDGER.as_bytes(), &Region::WholeFile, &values(said)), None, "{said:?}");
        }
        let twice = b"a: 1\nb: 2\na: 3\n";
        assert_eq!(set_together(twice, &Region::WholeFile, &values(&[("b", "x"), ("a", "y")])), None);
        assert_eq!(set_together(b"a: b: c", &Region::WholeFile, &values(&[("a", "y")])), None);
    }
}
