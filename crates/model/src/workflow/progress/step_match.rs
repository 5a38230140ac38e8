//! Matching of a spelling with the steps of a chain.

use crate::workflow::{Chain, Step, StepForm, StepId, StepNumber, chain::route::RoutePosition, same_step};

/// The step that a spelling means in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepMatch<'chain> {
    /// One step.
    Step {
        /// The step.
        step: &'chain Step,
        /// By which rule.
        by: MatchedBy,
    },
    /// Every step of one number: `2` where there are only 02a–02d. Which of them was done is not said.
    Number(Vec<&'chain Step>),
    /// Several steps fit equally well.
    Ambiguous(Vec<&'chain Step>),
    /// No step fits.
    None,
}

/// The rule by which a spelling was matched, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchedBy {
    /// Number, track and slug are the same: `step-01-init`, `1-init.md`.
    Name,
    /// Only one step has this slug: it was renumbered between releases. The alpha PRD ends with
    /// `step-11-complete`, the one of 6.0.4 with `step-12-complete`, and 6.0.4 still looks for the former
    /// (docs/formats.md, "Resumption").
    Slug,
    /// The number, with its letter and track, is the step's; the spelling has no slug: `4`, `02b`,
    /// `Step 4: Title`. Numbers are those of the file names, not positions: upstream writes `[1, 2, …, 8]`
    /// for files 01 to 08, and `2` means 02, not 02b.
    Number,
    /// The number is the step's but the slug is not: the step was renamed between releases.
    NumberOfOtherName,
}

impl Chain {
    /// Finds what `id` means in this chain, by the rules of [`MatchedBy`] in their order.
    ///
    /// A number that several steps have means those that the route visits; resume steps are found by name
    /// only.
    pub fn find(&self, id: &StepId) -> StepMatch<'_> {
        if let Some(step) = self.steps().iter().find(|step| same_name(&step.id, id)) {
            return StepMatch::Step { step, by: MatchedBy::Name };
        }
        if let Some(step) = self.by_slug(id) {
            return StepMatch::Step { step, by: MatchedBy::Slug };
        }
        id.number().map_or(StepMatch::None, |number| self.by_number(id, number))
    }

    fn by_slug(&self, id: &StepId) -> Option<&Step> {
        let slug = id.slug().filter(|_| is_file_like(id))?;
        let mut fitting = self
            .steps()
            .iter()
            .filter(|step| step.id.slug() == Some(slug) && self.fits_track(step, id) && !id.is_resume());
        let step = fitting.next()?;
        fitting.next().is_none().then_some(step)
    }

    fn by_number(&self, id: &StepId, number: StepNumber) -> StepMatch<'_> {
        let fitting = |wanted: &dyn Fn(StepNumber) -> bool| -> Vec<usize> {
            let fits = |step: &Step| step.id.number().is_some_and(wanted) && self.fits_track(step, id);
            let places = &self.route().places;
            (0..self.steps().len())
                .filter(|at| places[*at] != RoutePosition::Resume && fits(&self.steps()[*at]))
                .collect()
        };
        let mut found = fitting(&|own| own == number);
        if found.is_empty() && number.letter.is_none() {
            // Only lettered steps have this number, so it means all of them.
            found = fitting(&|own| same_step(own, number));
        }
        let visited: Vec<usize> =
            found.iter().copied().filter(|at| self.route().places[*at].rank().is_some()).collect();
        let found = if visited.is_empty() { found } else { visited };
        let steps = |found: &[usize]| found.iter().map(|at| &self.steps()[*at]).collect();
        match found.as_slice() {
            [] => StepMatch::None,
            [at] => {
                let step = &self.steps()[*at];
                let renamed = is_file_like(id) && id.slug().is_some() && step.id.slug().is_some();
                let by = if renamed { MatchedBy::NumberOfOtherName } else { MatchedBy::Number };
                StepMatch::Step { step, by }
            }
            // A slug speaks of one step, which this chain does not have under that name.
            several if is_file_like(id) && id.slug().is_some() => StepMatch::Ambiguous(steps(several)),
            several => StepMatch::Number(steps(several)),
        }
    }

    /// A marker in the spelling must be the step's own marker, or else the chain's track.
    fn fits_track(&self, step: &Step, id: &StepId) -> bool {
        id.track().is_none_or(|track| step.id.track().unwrap_or(self.track()) == track)
    }
}

/// A declared step may have any words for a name; these are compared as they stand.
fn same_name(step: &StepId, id: &StepId) -> bool {
    match step.form() {
        StepForm::Words => step.spelling().trim().eq_ignore_ascii_case(id.spelling().trim()),
        form => form == id.form(),
    }
}

/// Returns whether the words after the number are a slug out of a file's name, not a title that someone made
/// up.
fn is_file_like(id: &StepId) -> bool {
    !id.spelling().contains(|letter: char| letter.is_whitespace() || letter == ':')
}
