//! Faults of an existing memory.

use std::collections::BTreeSet;

use crate::{Memory, MemoryError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Secret { id: String, secret: String },
    SupersededByMissing { old: String, new: String },
}

impl Memory {
    pub fn faults(&self) -> Result<Vec<Fault>, MemoryError> {
        let records = self.records()?;
        let known: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let mut superseded = BTreeSet::new();
        let mut faults = Vec::new();
        for (old, new) in self.supersessions()? {
            if known.contains(old.as_str()) && !known.contains(new.as_str()) {
                faults.push(Fault::SupersededByMissing { old: old.clone(), new });
            }
            superseded.insert(old);
        }
        for record in records.iter().filter(|record| !superseded.contains(&record.id)) {
            let secret = record.secret();
            faults.extend(secret.map(|secret| Fault::Secret { id: record.id.clone(), secret }));
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;
    use crate::{
        MemoryKind,
        store::cases::{memory_of, superseded, told},
    };

    #[test]
    fn secrets_and_lost_records_are_found() {
        let key = format!("the key is {}{}", "AKIA", "IOSFODNN7EXAMPLE");
        let one = |text: &str, at| told(text, MemoryKind::Learning, "s1", at);
        let (leaked, old, lost, new) = (one(&key, 0), one("old", 1), one("lost", 2), one("new", 3));
        let gone = superseded(&old, &lost, 4);
        let memory = memory_of(&[vec![leaked.clone(), old.clone(), gone, new.clone()]]);
        let secret = Fault::Secret { id: leaked.id.to_string(), secret: "aws_access_key".to_owned() };
        let missing = Fault::SupersededByMissing { old: old.id.to_string(), new: lost.id.to_string() };
        assert_eq!(memory.faults().unwrap(), [missing, secret]);
        let mended = [superseded(&leaked, &new, 5), lost, leaked, old, new];
        assert!(memory_of(&[mended.to_vec()]).faults().unwrap().is_empty());
    }
}
