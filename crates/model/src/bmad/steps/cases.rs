//! Chains in the shapes of every release, and odd ones.

use proptest::prelude::*;

use crate::workflow::{
    ChainDiagnosis, EdgeKind, EdgeSource,
    sample::{SampleStep, chain, numbered, prd, units},
};

#[test]
fn keys_lead_through_letters_and_variables() {
    let chain = prd();
    assert_eq!(chain.units().len(), 14);
    assert!(units(&chain).starts_with("01-init 02-discovery 02b-vision 02c-executive-summary 03-success "));
    assert_eq!(chain.diagnoses(), []);
    let first = &chain.graph().edges[0][0];
    assert_eq!((chain.steps()[first.to].name(), first.kind), ("step-02-discovery", EdgeKind::Next));
    assert_eq!(first.source, EdgeSource::Key("nextStepFile".into()));
}

#[test]
fn finds_the_order_of_every_form() {
    let cases: [(&str, &[SampleStep<'_>], &str); 12] = [
        (
            "prose, with jumps ahead that only a resumed session takes (quick-spec)",
            &[
                (
                    "step-01-a",
                    "",
                    "[1] load `{project-root}/x/steps/step-02-b.md`, [1, 2] `x/steps/step-03-c.md`",
                ),
                ("step-02-b", "", "then `./step-03-c.md`; never back to step-01-a.md"),
                ("step-03-c", "", ""),
            ],
            "01-a 02-b 03-c",
        ),
        (
            "alternatives of one number (brainstorming)",
            &[
                ("step-01-setup", "", "`./step-02a-x.md` or `./step-02b-y.md` or `./step-01b-continue.md`"),
                ("step-01b-continue", "", "`./step-03-z.md`"),
                ("step-02a-x", "", "`./step-03-z.md`, or back to step-01-setup.md"),
                ("step-02b-y", "", "`./step-03-z.md`"),
                ("step-03-z", "", ""),
            ],
            "01-setup 02a-x|02b-y 03-z",
        ),
        (
            "two modes, one of which leaves a step out (quick-dev)",
            &[
                ("step-01-a", "nextStepFile_modeA: ./step-03-c.md; nextStepFile_modeB: ./step-02-b.md", ""),
                ("step-02-b", "nextStepFile: './step-03-c.md'", ""),
                ("step-03-c", "", ""),
            ],
            "01-a 02-b 03-c",
        ),
        (
            "an alternative beside the route (validation's parity check)",
            &[
                ("step-v-01-a", "nextStepFile: ./step-v-02-b.md", ""),
                ("step-v-02-b", "nextStepFile: ./step-v-03-c.md; altStepFile: ./step-v-02b-x.md", ""),
                ("step-v-02b-x", "nextStepFile: ./step-v-03-c.md", ""),
                ("step-v-03-c", "", ""),
            ],
            "v-01-a v-02-b v-03-c",
        ),
        (
            "only an alternative has a key (the edit track)",
            &[
                (
                    "step-e-01-a",
                    "altStepFile: ./step-e-01b-x.md",
                    "next (step-e-02-b.md), or step-e-01b-x.md",
                ),
                ("step-e-01b-x", "nextStepFile: ./step-e-02-b.md", ""),
                ("step-e-02-b", "", ""),
            ],
            "e-01-a e-02-b",
        ),
        (
            "letters in sequence without a plain number (the agent builder)",
            &[
                ("step-06-a", "", "step-06-gone.md"),
                ("step-07a-x", "nextStepFile: ./step-08a-m.md", ""),
                ("step-07b-y", "nextStepFile: ./step-08a-m.md", ""),
                ("step-08a-m", "nextStepFile: ./step-08b-n.md", ""),
                ("step-08b-n", "nextStepFileExpert: ./step-08c-o.md; nextStepFileSimple: ./step-09-p.md", ""),
                ("step-08c-o", "nextStepFile: ./step-09-p.md", ""),
                ("step-09-p", "", ""),
            ],
            "06-a 07a-x|07b-y 08a-m 08b-n 08c-o 09-p",
        ),
        (
            "keys that name the step itself or nothing (the quiz sample)",
            &[
                ("step-01-a", "nextStepFile: {workflow_path}/steps/step-01-a.md", ""),
                ("step-02-b", "nextStepFile: {workflow_path}/steps/results.md", ""),
                ("step-03-c", "", ""),
            ],
            "01-a 02-b 03-c",
        ),
        (
            "work handed to files that are no steps of the route (test architecture)",
            &[
                (
                    "step-04-a",
                    "nextStepFile: {skill-root}/steps/step-04c-z.md",
                    "`./step-04a-x.md`, `./step-04b-y.md`",
                ),
                ("step-04a-x", "", ""),
                ("step-04b-y", "", ""),
                ("step-04c-z", "nextStepFile: {skill-root}/steps/step-05-b.md", ""),
                ("step-05-b", "", ""),
            ],
            "04-a 04c-z 05-b",
        ),
        (
            "a menu to which sessions return (teach me testing)",
            &[
                ("step-03-menu", "", ""),
                ("step-04-session-01", "nextStepFile: ./step-03-menu.md", ""),
                ("step-04-session-02", "nextStepFile: ./step-03-menu.md", ""),
                ("step-05-end", "", ""),
            ],
            "03-menu 04-session-01|04-session-02 05-end",
        ),
        (
            "a step without a number (build)",
            &[
                ("step-01-a", "", "[[snapshot:step-02-b.md]] (or [[snapshot:step-oneshot.md]])"),
                ("step-02-b", "", ""),
                ("step-oneshot", "", "Go back to `[[snapshot:step-02-b.md]]`"),
            ],
            "01-a 02-b",
        ),
        (
            "a cycle",
            &[
                ("step-01-a", "nextStepFile: ./step-02-b.md", ""),
                ("step-02-b", "nextStepFile: ./step-03-c.md", ""),
                ("step-03-c", "nextStepFile: ./step-01-a.md", ""),
            ],
            "01-a 02-b 03-c",
        ),
        ("no steps", &[], ""),
    ];
    for (form, steps, expected) in cases {
        assert_eq!(units(&chain(steps)), expected, "{form}");
    }
}

#[test]
fn numbers_alone_make_sequences_and_choices() {
    for (stems, expected) in [
        (&["step-1-a", "step-2-b", "step-10-c"][..], "1-a 2-b 10-c"),
        (&["step-01-a", "step-02-b", "step-02b-c", "step-03-d"], "01-a 02-b 02b-c 03-d"),
        (&["step-01-a", "step-02a-b", "step-02b-c", "step-03-d"], "01-a 02a-b|02b-c 03-d"),
        (&["step-01a-a", "step-01b-b", "step-02-c"], "01a-a|01b-b 02-c"),
        (&["step-00-a", "step-05-b"], "00-a 05-b"),
        (&["step-only"], "only"),
    ] {
        assert_eq!(units(&numbered(stems)), expected);
    }
}

#[test]
fn oddities_are_told() {
    let chain = chain(&[
        ("step-01-a", "nextStepFile: {gone}/steps/step-02-b.md; altStepFile: ../other/step-02-b.md", ""),
        ("step-02-b", "nextStepFile: ./step-02-b.md", ""),
        ("step-03-c", "nextStepFile: ./step-09-z.md; continueStepFile: ./step-03b-back.md", ""),
        ("step-03b-back", "", ""),
        ("step-04-d", "nextStepFile: ./step-01-a.md", ""),
        ("step-02-x", "", ""),
    ]);
    let found: Vec<String> = chain.diagnoses().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "`nextStepFile` of `step-01-a` names `{gone}/steps/step-02-b.md`; taken as `step-02-b`, the step of that \
             file name",
            "`altStepFile` of `step-01-a` leads out of its steps, to `../other/step-02-b.md`",
            "`nextStepFile` of `step-02-b` names the step itself; the next step comes from its prose or number \
             instead",
            "`nextStepFile` of `step-03-c` names `./step-09-z.md`, which is no step of this workflow; the next step \
             comes from its prose or number instead",
            "`step-04-d` leads back to `step-01-a`",
            "nothing leads to `step-02-x` from the first step",
        ]
    );
    assert_eq!(units(&chain), "01-a 02-b 03-c 04-d");
}

#[test]
fn a_folder_of_steps_beyond_the_limit_is_cut() {
    let stems: Vec<String> = (0..600).map(|number| format!("step-{number}-x")).collect();
    let chain = numbered(&stems.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(chain.units().len(), 512);
    assert!(matches!(chain.diagnoses(), [ChainDiagnosis::TooManySteps { found: 600, kept: 512 }]));
}

proptest! {
    /// Whatever the keys say, there is a route, it visits no step twice, and it starts with the lowest
    /// number.
    #[test]
    fn any_keys_give_a_route(edges in proptest::collection::vec((0usize..12, 0usize..12, 0usize..3), 0..40)) {
        let stems: Vec<String> = (0..12).map(|number| format!("step-{number:02}-x")).collect();
        let mut keys = vec![String::new(); 12];
        for (from, to, kind) in edges {
            let key = ["nextStepFile", "altStepFile", "continueStepFile"][kind];
            keys[from].push_str(&format!("{key}: ./{}.md;", stems[to]));
        }
        let steps: Vec<SampleStep<'_>> =
            stems.iter().zip(&keys).map(|(stem, keys)| (stem.as_str(), keys.as_str(), "")).collect();
        let chain = chain(&steps);
        let route = units(&chain);
        let mut visited: Vec<&str> = route.split([' ', '|']).filter(|name| !name.is_empty()).collect();
        let count = visited.len();
        visited.sort_unstable();
        visited.dedup();
        prop_assert_eq!(visited.len(), count);
        prop_assert!(chain.units().len() <= chain.steps().len());
    }
}
