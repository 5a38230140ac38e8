//! Slices of ASDD.

use super::value_span;
use crate::asdd::{Inconsistency, Record, SliceKind, drifted, inconsistencies};
use crate::check::{Finding, Fix, Loss, Safety, Subject, rule::Decision, rules::argument};
use crate::records::read_time;
use stepmark_frontmatter::{Edit, KeyPath, Span, Value};

fn slice<'s>(subject: &'s Subject<'_>) -> Option<&'s Record> {
    subject.slice().filter(|record| record.kind == SliceKind::Slice)
}

fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}

rules! { Asdd;
    pub(crate) SLICE_INCONSISTENT "SMA01" "slice-inconsistent" Error Decision::OfArtifact(check_slice_inconsistent);
    pub(crate) SLICE_DRIFTED "SMA02" "slice-drifted" Error Decision::OfArtifact(check_slice_drifted);
    pub(crate) AGENT_TWICE_IN_CHAIN "SMA03" "agent-twice-in-chain" Error Decision::OfArtifact(check_agent_twice_in_chain);
    pub(crate) CCS_WRONG "SMA04" "ccs-wrong" Warning Decision::OfArtifact(check_ccs_wrong);
    pub(crate) DONE_WITH_MISSING_FILE "SMA05" "done-with-missing-file" Error Decision::OfArtifact(check_done_with_missing_file);
    pub(crate) BELOW_THRESHOLD "SMA06" "below-threshold-not-blocked" Error Decision::OfArtifact(check_below_threshold);
    pub(crate) SLICE_NOT_EXPLAINED "SMA07" "slice-not-explained" Error Decision::OfArtifact(check_slice_not_explained);
    pub(crate) REVIEW_OPEN "SMA08" "review-open" Warning Decision::OfArtifact(check_review_open);
    pub(crate) HEARTBEAT_STALE "SMA09" "heartbeat-stale" Note Decision::OfArtifact(check_heartbeat_stale);
    pub(crate) FACTORS_MISSING "SMA10" "factors-missing" Warning Decision::OfArtifact(check_factors_missing);
    pub(crate) CHAIN_OUT_OF_ORDER "SMA11" "chain-out-of-order" Warning Decision::OfArtifact(check_chain_out_of_order);
}

fn check_slice_inconsistent(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for inconsistency in inconsistencies(slice, &facts.files) {
        let place = match &inconsistency {
            // Finished slices and chains have their own rules.
            Inconsistency::Missing { .. } if slice.status() == "DONE" => continue,
            Inconsistency::Twice { .. } => continue,
            Inconsistency::Missing { key, .. } => value_span(subject.artifact, &["phase_data", key]),
            _ => span(subject, "status"),
        };
        let message = format!("STATE_INCONSISTENCY: {inconsistency}");
        let help = "bring the files back, or let their agent propose what they are now";
        found.push(subject.finding(&SLICE_INCONSISTENT, place, message).with_help(help));
    }
}

fn check_slice_drifted(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for path in drifted(slice, &facts.state, &facts.files) {
        let message = format!("STATE_DRIFT: `{path}` changed since it was accepted");
        let (id, path) = (argument(&slice.id), argument(path));
        let help = format!("a tech lead accepts it with `stepmark asdd accept {id} {path} --reason TEXT`");
        found.push(subject.finding(&SLICE_DRIFTED, span(subject, "phase_data"), message).with_help(help));
    }
}

fn check_agent_twice_in_chain(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    if let Some(agent) = slice.twice_in_chain() {
        let message = format!("`{agent}` stands twice in the confidence chain");
        let help = "take the wrong entry out";
        found.push(
            subject
                .finding(&AGENT_TWICE_IN_CHAIN, span(subject, "confidence_chain"), message)
                .with_help(help),
        );
    }
}

fn check_ccs_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let (Some(product), Some(said)) = (slice.product_of_chain(), slice.values.get("ccs")) else { return };
    if said.as_f64().is_some_and(|said| (said - product).abs() < 0.0005) {
        return;
    }
    let edit = Edit::Set { path: KeyPath::key("ccs"), value: Value::from_json(&serde_json::json!(product)) };
    let fix = Fix::edit(Safety::Safe, format!("write `ccs: {product}`"), subject.artifact, &[edit]);
    let message = format!("`ccs` is {said}, and the product of the chain is {product}");
    let finding = subject.finding(&CCS_WRONG, span(subject, "ccs"), message);
    found.push(finding.with_help("`stepmark check --fix` writes the product").with_fix(fix));
}

fn check_done_with_missing_file(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    if slice.status() != "DONE" {
        return;
    }
    for inconsistency in inconsistencies(slice, &facts.files) {
        if let Inconsistency::Missing { key, path } = inconsistency {
            let message = format!("it is done, and `phase_data.{key}` names `{path}`, which is not there");
            let help = "bring the file back from git";
            found.push(
                subject
                    .finding(&DONE_WITH_MISSING_FILE, span(subject, "phase_data"), message)
                    .with_help(help),
            );
        }
    }
}

fn check_below_threshold(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    if slice.status() == "BLOCKED" {
        return;
    }
    for entry in slice.chain() {
        let threshold = facts.rules.thresholds.of(entry.agent);
        if entry.score < threshold {
            let (agent, score, status) = (entry.agent, entry.score, slice.status());
            let message =
                format!("the confidence of `{agent}` is {score} < {threshold}, and the slice is {status}");
            let help = format!(
                "`stepmark asdd fail {} --agent {agent} --score {score} --uncertainty TEXT` holds it up",
                slice.id
            );
            found.push(
                subject.finding(&BELOW_THRESHOLD, span(subject, "confidence_chain"), message).with_help(help),
            );
        }
    }
}

const PROPOSED: [&str; 3] = ["status", "confidence_chain", "ccs"];

fn check_slice_not_explained(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(base)) = (slice(subject), subject.base) else { return };
    let Ok(before) = base.artifact().state_value() else { return };
    for key in PROPOSED {
        let (Some(before), after) = (before.get(key), slice.values.get(key)) else { continue };
        if Some(before) != after && !base.accepts(Loss::Value { key }) {
            let message = format!("`{key}` was {before}, and nothing tells why it changed");
            let help = format!(
                "put it back, then `stepmark asdd begin {0}` and `stepmark asdd propose {0}`",
                slice.id
            );
            found.push(subject.finding(&SLICE_NOT_EXPLAINED, span(subject, key), message).with_help(help));
        }
    }
}

fn check_review_open(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let open = slice.needs_review();
    if !open.is_empty() {
        let message = format!("a tech lead has to look at {}", open.join(", "));
        let help = format!("`stepmark asdd review {} KEY=VALUE` says what is right", slice.id);
        let key =
            if slice.values.contains_key("needs_human_review") { "needs_human_review" } else { "status" };
        found.push(subject.finding(&REVIEW_OPEN, span(subject, key), message).with_help(help));
    }
}

fn check_heartbeat_stale(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for agent in facts.silent.get(&slice.id).into_iter().flatten() {
        let message = format!("`{agent}`, which works on it, is silent for too long");
        let help = "`stepmark asdd monitor` looks after it";
        found.push(subject.finding(&HEARTBEAT_STALE, span(subject, "status"), message).with_help(help));
    }
}

fn check_factors_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let is_failed = slice.status() == "BLOCKED" && slice.values.contains_key("rollback_timestamp");
    if is_failed && slice.texts("uncertainty_factors").is_empty() {
        let message = "it is blocked for lack of confidence, and names no `uncertainty_factors`";
        let help = "write what the agent was not sure of";
        found.push(
            subject.finding(&FACTORS_MISSING, span(subject, "rollback_timestamp"), message).with_help(help),
        );
    }
}

fn check_chain_out_of_order(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let chain = slice.chain();
    let timed: Vec<_> =
        chain.iter().filter_map(|entry| Some((entry.agent, read_time(entry.timestamp?)?))).collect();
    if let Some([(before, _), (agent, _)]) = timed.windows(2).find(|pair| pair[0].1 > pair[1].1) {
        let message =
            format!("`{agent}` stands behind `{before}` in the confidence chain, and its time is earlier");
        let help = "write the times that are right";
        found.push(
            subject.finding(&CHAIN_OUT_OF_ORDER, span(subject, "confidence_chain"), message).with_help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Artifact, ProjectPath};
    use crate::check::rules::sample::{fixed, found, found_in, path_of};
    use crate::check::{AcceptedLosses, BaseVersion, Loss, Subject};
    use crate::tracked_artifact::{Membership, TrackedArtifact};

    #[test]
    fn files_and_phase_agree() {
        assert_eq!(
            found(&SLICE_INCONSISTENT, SLICE_INCONSISTENT.bad()),
            [
                "6:22 SMA01 STATE_INCONSISTENCY: `phase_data.intent` names `.asdd/specs/auth/intent.md`, which is not there"
            ]
        );
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        assert!(
            found_in(
                &SLICE_INCONSISTENT,
                &[(path_of(&SLICE_INCONSISTENT), SLICE_INCONSISTENT.bad()), intent]
            )
            .is_empty()
        );
        let later = (".asdd/specs/auth/design.md", "# Design");
        let found_later = found_in(
            &SLICE_INCONSISTENT,
            &[(path_of(&SLICE_INCONSISTENT), SLICE_INCONSISTENT.bad()), intent, later],
        );
        let expected =
            "STATE_INCONSISTENCY: `.asdd/specs/auth/design.md` is there, and the slice is still in SPEC";
        assert!(found_later.len() == 1 && found_later[0].contains(expected), "{found_later:?}");
        let unknown = SLICE_INCONSISTENT.good().replace("DISCOVERY", "THINKING");
        assert_eq!(
            found(&SLICE_INCONSISTENT, &unknown),
            ["5:9 SMA01 STATE_INCONSISTENCY: `THINKING` is no status of a slice"]
        );
    }

    #[test]
    fn a_file_is_as_it_was_accepted() {
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        let found = found_in(&SLICE_DRIFTED, &[(path_of(&SLICE_DRIFTED), SLICE_DRIFTED.bad()), intent]);
        assert!(found.len() == 1 && found[0].contains("SMA02 STATE_DRIFT"), "{found:?}");
        assert!(
            found_in(&SLICE_DRIFTED, &[(path_of(&SLICE_DRIFTED), SLICE_DRIFTED.good()), intent]).is_empty(),
            "never accepted"
        );
        let hash = crate::artifact::FileHash::of(b"# Intent").to_string();
        let accepted = SLICE_DRIFTED.bad().replace(&"f".repeat(64), &hash);
        assert!(found_in(&SLICE_DRIFTED, &[(path_of(&SLICE_DRIFTED), &accepted), intent]).is_empty());
    }

    #[test]
    fn an_agent_stands_once() {
        let expected = ["6:19 SMA03 `discovery_agent` stands twice in the confidence chain"];
        assert_eq!(found(&AGENT_TWICE_IN_CHAIN, AGENT_TWICE_IN_CHAIN.bad()), expected);
        assert!(found(&AGENT_TWICE_IN_CHAIN, AGENT_TWICE_IN_CHAIN.good()).is_empty());
    }

    #[test]
    fn the_product_is_written() {
        let expected = ["7:6 SMA04 `ccs` is 0.95, and the product of the chain is 0.9"];
        assert_eq!(found(&CCS_WRONG, CCS_WRONG.bad()), expected);
        assert_eq!(fixed(&CCS_WRONG, CCS_WRONG.bad()).as_deref(), Some(CCS_WRONG.good()));
    }

    #[test]
    fn three_decimals_count() {
        let chain = "[{agent: discovery, score: 0.91}, {agent: spec, score: 0.88}, {agent: validation, score: 0.92}, {agent: design, score: 0.83}]";
        let slice = |ccs: &str| {
            CCS_WRONG.bad().replace("[{agent: discovery, score: 0.9}]", chain).replace("0.95", ccs)
        };
        assert!(found(&CCS_WRONG, &slice("0.611")).is_empty());
        assert_eq!(
            found(&CCS_WRONG, &slice("0.614")),
            ["7:6 SMA04 `ccs` is 0.614, and the product of the chain is 0.611"]
        );
    }

    #[test]
    fn a_finished_slice_has_its_files() {
        let found = found_in(
            &DONE_WITH_MISSING_FILE,
            &[(path_of(&DONE_WITH_MISSING_FILE), DONE_WITH_MISSING_FILE.bad())],
        );
        assert!(found.len() == 1 && found[0].contains("SMA05 it is done"), "{found:?}");
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        assert!(
            found_in(
                &DONE_WITH_MISSING_FILE,
                &[(path_of(&DONE_WITH_MISSING_FILE), DONE_WITH_MISSING_FILE.bad()), intent]
            )
            .is_empty()
        );
    }

    #[test]
    fn who_is_not_sure_holds_the_slice_up() {
        let expected =
            ["6:19 SMA06 the confidence of `implementation` is 0.71 < 0.75, and the slice is CI_CD"];
        assert_eq!(found(&BELOW_THRESHOLD, BELOW_THRESHOLD.bad()), expected);
        assert!(found(&BELOW_THRESHOLD, BELOW_THRESHOLD.good()).is_empty());
        assert!(found(&BELOW_THRESHOLD, &BELOW_THRESHOLD.bad().replace("0.71", "0.75")).is_empty());
    }

    struct All(bool);

    impl AcceptedLosses for All {
        fn accepts(&self, _: &Loss<'_>) -> bool {
            self.0
        }
    }

    #[test]
    fn a_change_has_an_event() {
        let tracked = |text: &str| {
            let path = ProjectPath::new(".asdd/slices/SLICE-001.md").unwrap();
            let artifact = Artifact::read(path, text.as_bytes().to_vec());
            TrackedArtifact::new(artifact, Membership::None, std::sync::Arc::default())
        };
        let (before, after) = (tracked(SLICE_NOT_EXPLAINED.good()), tracked(SLICE_NOT_EXPLAINED.bad()));
        for (is_told, expected) in [(false, 1), (true, 0)] {
            let accepted = All(is_told);
            let base = BaseVersion { tracked: &before, accepted: Some(&accepted) };
            let mut found = Vec::new();
            SLICE_NOT_EXPLAINED.look_at(&Subject::of(&after).since(base), &mut found);
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }

    #[test]
    fn what_is_not_sure_waits() {
        assert_eq!(
            found(&REVIEW_OPEN, REVIEW_OPEN.bad()),
            ["6:21 SMA08 a tech lead has to look at status, confidence_chain"]
        );
        assert!(found(&REVIEW_OPEN, REVIEW_OPEN.good()).is_empty());
        let unknown = REVIEW_OPEN.good().replace("DESIGN", "NEEDS_HUMAN_REVIEW");
        assert_eq!(found(&REVIEW_OPEN, &unknown), ["5:9 SMA08 a tech lead has to look at status"]);
    }

    #[test]
    fn a_silent_agent_is_told_of() {
        let expected = ["5:9 SMA09 `implementation_agent`, which works on it, is silent for too long"];
        assert_eq!(found(&HEARTBEAT_STALE, HEARTBEAT_STALE.bad()), expected);
        assert!(found(&HEARTBEAT_STALE, HEARTBEAT_STALE.good()).is_empty());
    }

    #[test]
    fn what_was_not_sure_is_said() {
        let expected =
            ["7:21 SMA10 it is blocked for lack of confidence, and names no `uncertainty_factors`"];
        assert_eq!(found(&FACTORS_MISSING, FACTORS_MISSING.bad()), expected);
        assert!(found(&FACTORS_MISSING, FACTORS_MISSING.good()).is_empty());
    }

    #[test]
    fn times_ascend() {
        let expected =
            ["6:19 SMA11 `spec` stands behind `discovery` in the confidence chain, and its time is earlier"];
        assert_eq!(found(&CHAIN_OUT_OF_ORDER, CHAIN_OUT_OF_ORDER.bad()), expected);
        assert!(found(&CHAIN_OUT_OF_ORDER, CHAIN_OUT_OF_ORDER.good()).is_empty());
    }
}
