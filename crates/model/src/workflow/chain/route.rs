//! The way through a chain: what counts as progress, and in which order.

use crate::workflow::{EdgeKind, chain::graph::Graph};

/// The units of a chain in order, and where each step stands.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) units: Vec<RouteUnit>,
    /// For each step of the chain its place.
    pub(crate) places: Vec<RoutePosition>,
}

/// One unit of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteUnit {
    /// One step, or several of which one is done.
    pub(crate) members: Vec<usize>,
    /// True if some way passes this unit by.
    pub(crate) may_be_passed: bool,
}

/// The position of a step on the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoutePosition {
    /// In the unit of this index.
    Unit(usize),
    /// Beside the route: entered from the unit of this index, by an alternative.
    Aside(usize),
    /// It only takes a later session back into the workflow.
    Resume,
    /// Nothing leads to it.
    Unreachable,
}

impl RoutePosition {
    /// The distance along the route, comparable between units and asides; `None` off the route.
    pub(crate) fn rank(self) -> Option<usize> {
        match self {
            Self::Unit(unit) => Some(2 * unit),
            Self::Aside(unit) => Some(2 * unit + 1),
            Self::Resume | Self::Unreachable => None,
        }
    }
}

impl Route {
    /// Follows the regular successors from the start.
    ///
    /// Where several follow and none of them leads to another, they are one unit, a choice; the route goes on
    /// at the first step to which all of them lead. Where one of them leads to another (quick-dev's two
    /// modes), the longer way is the route, and what the shorter one leaves out may be passed.
    pub(crate) fn through(graph: &Graph) -> Self {
        let count = graph.edges.len();
        let mut places: Vec<RoutePosition> = graph
            .resume
            .iter()
            .map(|resume| if *resume { RoutePosition::Resume } else { RoutePosition::Unreachable })
            .collect();
        let mut units: Vec<RouteUnit> = Vec::new();
        let mut ahead = graph.nearest_of(graph.start.clone());
        // Onward edges are free of cycles, so every turn takes new steps; the bound only states it.
        while !ahead.is_empty() && units.len() < count {
            for step in &ahead {
                places[*step] = RoutePosition::Unit(units.len());
            }
            let next = match ahead.as_slice() {
                [step] => graph.nearest_of(graph.targets(*step, EdgeKind::Next).collect()),
                members => junction(graph, members).into_iter().collect(),
            };
            units.push(RouteUnit { members: ahead, may_be_passed: false });
            ahead = next;
        }
        let mut route = Self { units, places };
        route.explore_asides(graph);
        route
    }

    /// Places the steps beside the route, and marks the units which some way passes by.
    fn explore_asides(&mut self, graph: &Graph) {
        for unit in 0..self.units.len() {
            let mut open = self.units[unit].members.clone();
            let mut seen = vec![false; graph.edges.len()];
            let mut farthest = unit;
            while let Some(at) = open.pop() {
                for to in graph.onward(at) {
                    match self.places[to] {
                        RoutePosition::Unit(reached) => farthest = farthest.max(reached),
                        RoutePosition::Aside(_) | RoutePosition::Unreachable
                            if !std::mem::replace(&mut seen[to], true) =>
                        {
                            self.places[to] = RoutePosition::Aside(unit);
                            open.push(to);
                        }
                        RoutePosition::Aside(_) | RoutePosition::Unreachable | RoutePosition::Resume => {}
                    }
                }
            }
            for passed in unit + 1..farthest {
                self.units[passed].may_be_passed = true;
            }
        }
    }
}

/// The first step to which every one of `members` leads.
fn junction(graph: &Graph, members: &[usize]) -> Option<usize> {
    let reached: Vec<Vec<bool>> = members.iter().map(|member| graph.reachable_from(*member)).collect();
    let common = (0..graph.edges.len()).filter(|step| reached.iter().all(|from| from[*step])).collect();
    graph.nearest_of(common).into_iter().next()
}
