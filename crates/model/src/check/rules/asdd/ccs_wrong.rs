//! SMA04: the `ccs` of a slice is not the product of its chain.

use super::{slice, span};
use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};
use stepmark_frontmatter::{Edit, KeyPath, Value};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA04",
    name: "ccs-wrong",
    group: Group::Asdd,
    severity: Severity::Warning,
    summary: "The `ccs` of a slice is not the product of its confidence chain.",
    why: "It is computed, with three decimals, whenever a proposal is committed. A number that somebody wrote by hand hides how sure the agents are.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9}]\nccs: 0.95\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9}]\nccs: 0.9\n---\n",
    fix: "`stepmark check --fix` writes the product.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let (Some(product), Some(said)) = (slice.product_of_chain(), slice.values.get("ccs")) else { return };
    if said.as_f64().is_some_and(|said| (said - product).abs() < 0.0005) {
        return;
    }
    let edit = Edit::Set { path: KeyPath::key("ccs"), value: Value::from_json(&serde_json::json!(product)) };
    let fix = Fix::edit(Safety::Safe, format!("write `ccs: {product}`"), subject.artifact, &[edit]);
    let message = format!("`ccs` is {said}, and the product of the chain is {product}");
    let finding = subject.finding(&RULE, span(subject, "ccs"), message);
    found.push(finding.with_help("`stepmark check --fix` writes the product").with_fix(fix));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_product_is_written() {
        let expected = ["7:6 SMA04 `ccs` is 0.95, and the product of the chain is 0.9"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert_eq!(fixed(&RULE, RULE.bad).as_deref(), Some(RULE.good));
    }

    #[test]
    fn three_decimals_count() {
        let chain = "[{agent: discovery, score: 0.91}, {agent: spec, score: 0.88}, {agent: validation, score: 0.92}, {agent: design, score: 0.83}]";
        let slice =
            |ccs: &str| RULE.bad.replace("[{agent: discovery, score: 0.9}]", chain).replace("0.95", ccs);
        assert!(found(&RULE, &slice("0.611")).is_empty());
        assert_eq!(
            found(&RULE, &slice("0.614")),
            ["7:6 SMA04 `ccs` is 0.614, and the product of the chain is 0.611"]
        );
    }
}
