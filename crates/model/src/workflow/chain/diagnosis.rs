//! Oddities of a workflow's step files.

/// One oddity of a chain. None of them stops the chain from being used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainDiagnosis {
    /// The frontmatter of a step file cannot be read.
    #[error(
        "the frontmatter of `{step}` cannot be read ({reason}); what follows it comes from its prose or number"
    )]
    Unreadable {
        /// The step.
        step: String,
        /// The problem with it.
        reason: String,
    },
    /// A successor key names a file that is not among the steps.
    #[error(
        "`{key}` of `{step}` names `{value}`, which is no step of this workflow; the next step comes from its prose or number instead"
    )]
    SuccessorMissing {
        /// The step that holds the key.
        step: String,
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// A successor key names the step that holds it.
    #[error(
        "`{key}` of `{step}` names the step itself; the next step comes from its prose or number instead"
    )]
    SuccessorIsItself {
        /// The step that holds the key.
        step: String,
        /// The key.
        key: String,
    },
    /// A successor key leads elsewhere or through an unknown variable; a step of that file name was taken.
    #[error("`{key}` of `{step}` names `{value}`; taken as `{found}`, the step of that file name")]
    SuccessorByName {
        /// The step that holds the key.
        step: String,
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// The step that was taken.
        found: String,
    },
    /// A successor key leads to a file of another folder.
    #[error("`{key}` of `{step}` leads out of its steps, to `{value}`")]
    SuccessorElsewhere {
        /// The step that holds the key.
        step: String,
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// A step leads back to one that leads to it. The chain's order leaves that edge out.
    #[error("`{from}` leads back to `{to}`")]
    Loop {
        /// The step that leads back.
        from: String,
        /// The step that it leads to.
        to: String,
    },
    /// No way leads to this step from the start: a second start, or a step that nothing loads.
    #[error("nothing leads to `{step}` from the first step")]
    Unreachable {
        /// The step.
        step: String,
    },
    /// The folder holds more steps than a workflow may have.
    #[error("{found} steps were found and the first {kept} are used")]
    TooManySteps {
        /// The total number.
        found: usize,
        /// The number that is used.
        kept: usize,
    },
}
