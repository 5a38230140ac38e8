//! Tickets of which the same is to be told: once, however many they are.

use jiff::Timestamp;

use crate::output::spinner;

const NAMED: usize = 3;

/// The words about a ticket, and about several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The words before all else.
    pub(super) head: String,
    pub(super) noun: &'static str,
    /// The words behind the name of one; they may say more than is true of all.
    pub(super) of_one: String,
    pub(super) of_several: String,
}

impl Told {
    pub(super) fn of_tickets(head: String, said: String) -> Self {
        Self { head, noun: "ticket", of_one: said.clone(), of_several: said }
    }
}

#[derive(Debug)]
struct Group {
    told: Told,
    names: Vec<String>,
    until: Option<Timestamp>,
}

/// All that is told, in the order in which it was met.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// One more, which waits until a moment where one is given.
    pub(super) fn add(&mut self, told: Told, name: String, until: Option<Timestamp>) {
        let is_same = |group: &&mut Group| {
            let own = &group.told;
            (&own.head, own.noun, &own.of_several) == (&told.head, told.noun, &told.of_several)
        };
        match self.0.iter_mut().find(is_same) {
            Some(group) => {
                group.names.push(name);
                group.until = [group.until, until].into_iter().flatten().min();
            }
            None => self.0.push(Group { told, names: vec![name], until }),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Group::line)
    }
}

impl Group {
    fn line(&self) -> String {
        let Told { head, noun, of_one, of_several } = &self.told;
        let until = self.until.map(|until| format!(" until {until:.0}")).unwrap_or_default();
        match self.names.as_slice() {
            [name] => format!("{head}{name}{until}{of_one}"),
            names => {
                let count = spinner::count(names.len(), noun);
                format!("{head}{count}{until}{of_several} ({})", named(names))
            }
        }
    }
}

pub(super) fn named(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cause: &str) -> Told {
        Told::of_tickets("parked ".to_owned(), format!(": {cause}"))
    }

    #[test]
    fn one_cause_is_one_line() {
        let mut groups = Groups::default();
        let late = Some(Timestamp::from_second(90).unwrap());
        for number in 0..33 {
            groups.add(told("no type `Tale`"), format!("{number}.md"), late);
        }
        groups.add(told("another"), "a.md".to_owned(), None);
        groups.add(told("no type `Tale`"), "b.md".to_owned(), Some(Timestamp::UNIX_EPOCH));
        groups.add(Told { head: "waiting ".to_owned(), ..told("another") }, "c.md".to_owned(), late);
        assert_eq!(
            groups.lines().collect::<Vec<_>>(),
            [
                "parked 34 tickets until 1970-01-01T00:00:00Z: no type `Tale` (0.md, 1.md, 2.md and 31 more)",
                "parked a.md: another",
                "waiting c.md until 1970-01-01T00:01:30Z: another",
            ]
        );
    }

    #[test]
    fn what_differs_between_two_is_not_said_of_both() {
        let mut groups = Groups::default();
        for key in ["#1", "#2"] {
            let of_one = format!(": no marker in {key}");
            groups.add(Told { of_one, ..told("no marker") }, key.to_owned(), None);
        }
        assert_eq!(groups.lines().collect::<Vec<_>>(), ["parked 2 tickets: no marker (#1, #2)"]);
    }
}
