//! The next step.

use crate::workflow::{Chain, EdgeKind, EdgeSource, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'chain> {
    Step {
        step: &'chain Step,
        alternatives: Vec<&'chain Step>,
    },
    /// One of these, at the person's choice.
    Choice(Vec<&'chain Step>),
    /// Nothing: the end is reached.
    Finished,
    Unknown(UnknownNext),
}

/// The reason why it cannot be told what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UnknownNext {
    #[error("the workflow has no steps")]
    NoSteps,
    #[error("no listed step is one of the workflow")]
    NothingMatches,
}

pub(in crate::workflow) struct Position<'reading, 'chain> {
    pub(in crate::workflow) chain: &'chain Chain,
    pub(in crate::workflow) done: &'reading [bool],
    /// The furthest done step; several where a number stands for alternatives.
    pub(in crate::workflow) furthest: Option<&'reading Vec<usize>>,
}

impl<'chain> Position<'_, 'chain> {
    pub(in crate::workflow) fn next(&self) -> Next<'chain> {
        let route = self.chain.route();
        let Some(last) = route.units.last() else { return Next::Unknown(UnknownNext::NoSteps) };
        if last.members.iter().any(|step| self.done[*step]) {
            return Next::Finished;
        }
        let Some(from) = self.furthest else { return self.offer(route.units[0].members.clone(), Vec::new()) };
        let mut from = from.clone();
        // What follows may be done already where a side way joins the route; each turn goes on to new steps.
        for _ in 0..=self.done.len() {
            let (ahead, alternatives) = self.following(&from);
            if ahead.is_empty() {
                return Next::Finished;
            }
            if ahead.iter().all(|step| !self.done[*step]) {
                return self.offer(ahead, alternatives);
            }
            from = ahead.into_iter().filter(|step| self.done[*step]).collect();
        }
        Next::Finished
    }

    /// The steps that follow `from`, and those that may follow instead. A successor that a key names counts
    /// even where it leads back (a menu that every session returns to), unless that step is done.
    fn following(&self, from: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let graph = self.chain.graph();
        let back = |step: usize| {
            graph.edges[step]
                .iter()
                .filter(|edge| edge.kind == EdgeKind::Loop && matches!(edge.source, EdgeSource::Key(_)))
                .map(|edge| edge.to)
                .filter(|to| !self.done[*to])
        };
        let back: Vec<usize> = from.iter().flat_map(|step| back(*step)).collect();
        let regular: Vec<usize> = from
            .iter()
            .flat_map(|step| graph.targets(*step, EdgeKind::Next))
            .filter(|to| !from.contains(to))
            .collect();
        let ahead = graph.nearest_of(if back.is_empty() { regular.clone() } else { back });
        let mut alternatives: Vec<usize> =
            from.iter().flat_map(|step| graph.targets(*step, EdgeKind::Alternative)).chain(regular).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        alternatives.retain(|step| !ahead.contains(step) && !from.contains(step) && !self.done[*step]);
        (ahead, alternatives)
    }

    fn offer(&self, ahead: Vec<usize>, alternatives: Vec<usize>) -> Next<'chain> {
        let steps = |indices: Vec<usize>| indices.into_iter().map(|at| &self.chain.steps()[at]).collect();
        match ahead.as_slice() {
            [step] => Next::Step { step: &self.chain.steps()[*step], alternatives: steps(alternatives) },
            _ => Next::Choice(steps(ahead)),
        }
    }
}
