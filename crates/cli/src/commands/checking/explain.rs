//! `stepmark explain`

use clap::Args;
use stepmark_model::check::{RULES, Rule, rule_of};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
};

/// Print what a rule of `check` finds, why that matters, and how to fix it
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The id or the name of a rule: `SM106`, `key-twice`; without it all rules are listed
    rule: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

impl Explain {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let Some(name) = &self.rule else {
            list(&self.list, output)?;
            return Ok(Exit::Fine);
        };
        let rule = rule_of(name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no rule `{name}`"))
                .with_help("`stepmark explain` lists them")
        })?;
        output.json_or(
            "stepmark.explain/1",
            || {
                let mut wire = wire(rule);
                wire["page"] = rule.page().into();
                wire
            },
            || output.line(rule.page().trim_end()),
        );
        Ok(Exit::Fine)
    }
}

fn list(list: &ListArguments, output: &Output) -> Result<(), Failure> {
    let answer = (output, "stepmark.rules/1", "rules");
    list.answer(
        answer,
        RULES.iter().collect(),
        |rule| wire(rule),
        |rules| {
            let rows = rules.iter().map(|rule| {
                [rule.id, rule.name, rule.severity.as_str(), rule.summary()].map(str::to_owned).to_vec()
            });
            output.line(table(&["ID", "NAME", "SEVERITY", "FINDS"], rows));
        },
    )
}

fn wire(rule: &Rule) -> serde_json::Value {
    serde_json::json!({
        "id": rule.id,
        "name": rule.name,
        "group": rule.group.title(),
        "severity": rule.severity.as_str(),
        "summary": rule.summary(),
    })
}
