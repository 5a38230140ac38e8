//! Reading a flow file of autodev: the tables of it and the blocks that it shows, never its prose.

use super::{Flow, FlowStep};

/// Reads the flow called `name` from its file: the steps of the table under `Step Reference Table`, and the
/// session boundaries of the one under `Auto-Chain Rules`; a fenced block below the heading of a step that
/// says `DECISION REQUIRED` is shown at its end. `None` where there is no such table, or it numbers no steps.
///
/// ```
/// use stepmark_model::autodev::read_flow_file;
///
/// let file = "## Step Reference Table\n\n| Step | Name | Sub-Skill |\n|---|---|---|\n| 1 | Plan | plan/SKILL.md |\n\
///             | 2 | UI Design | ui | \n\n## Auto-Chain Rules\n\n| Completed Step | Next Action |\n|---|---|\n\
///             | Plan (1) | **Session boundary** before UI Design |\n";
/// let flow = read_flow_file("greenfield", file).ok_or("no table")?;
/// assert_eq!(flow.steps[1].name, "UI Design");
/// assert!(flow.steps[0].ends_session && !flow.steps[1].ends_session);
/// # Ok::<(), &str>(())
/// ```
pub fn read_flow_file(name: &str, text: &str) -> Option<Flow> {
    let mut rows = rows_under(text, "Step Reference Table");
    let head = rows.next()?;
    let column =
        |wanted: &[&str]| head.iter().position(|cell| wanted.contains(&cell.to_lowercase().as_str()));
    let (number, title) = (column(&["step", "#"])?, column(&["name", "step name"])?);
    let skill = column(&["sub-skill", "skill"]);
    let mut steps = Vec::new();
    for row in rows {
        // A row that numbers no step, as a fractional one of a later release, is none that can be stored.
        let Some(Ok(step)) = row.get(number).map(|cell| cell.parse::<u16>()) else { continue };
        let Some(name) = row.get(title).filter(|name| !name.is_empty()) else { continue };
        let skill = skill
            .and_then(|column| row.get(column))
            .filter(|skill| !matches!(skill.as_str(), "" | "-" | "—"));
        let optional = name.to_lowercase().contains("(optional)");
        let name = name.replace("(optional)", "").replace("(Optional)", "").trim().to_owned();
        steps.push(FlowStep {
            step,
            name,
            skill: skill.cloned(),
            optional,
            ends_session: false,
            returns_to: None,
            due: Vec::new(),
            choose_block: None,
        });
    }
    for row in rows_under(text, "Auto-Chain Rules").skip(1) {
        if let [completed, .., action] = row.as_slice()
            && action.to_lowercase().contains("session boundary")
        {
            let is_it = |step: &&mut FlowStep| names_step(completed, step);
            steps.iter_mut().filter(is_it).for_each(|step| step.ends_session = true);
        }
    }
    for (heading, block) in choose_blocks(text) {
        let is_it = |step: &&mut FlowStep| names_step(heading, step);
        steps.iter_mut().filter(is_it).for_each(|step| step.choose_block = Some(block.join("\n")));
    }
    (!steps.is_empty()).then(|| Flow { flow: name.to_owned(), when: Vec::new(), steps })
}

/// `Plan (3)`, `Step 3`, `3`, `Plan`, `Plan (3, completed or skipped)`.
fn names_step(text: &str, step: &FlowStep) -> bool {
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    match numbers.next() {
        Some(number) => number.parse() == Ok(step.step),
        None => text.trim().eq_ignore_ascii_case(&step.name),
    }
}

/// The fenced blocks that ask for a decision, each with the heading that it stands below.
fn choose_blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut heading, mut blocks) = ("", Vec::new());
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (&mut open, line.trim_start().starts_with("```")) {
            (None, true) => open = Some(Vec::new()),
            (None, false) if line.starts_with('#') => heading = line.trim_start_matches('#').trim(),
            (None, false) => {}
            (Some(lines), false) => lines.push(line),
            (Some(_), true) => blocks.extend(open.take().map(|lines| (heading, lines))),
        }
    }
    blocks.retain(|(_, lines)| lines.iter().any(|line| line.contains("DECISION REQUIRED")));
    blocks
}

/// The rows of the first table below the heading `title`, without the line of dashes, up to the next heading.
fn rows_under<'t>(text: &'t str, title: &str) -> impl Iterator<Item = Vec<String>> + use<'t> {
    let is_heading = |line: &&str| line.starts_with('#');
    let title = title.to_lowercase();
    let mut lines = text.lines();
    lines.find(|line| is_heading(line) && line.to_lowercase().contains(&title));
    let section = lines.take_while(|line| !line.starts_with('#'));
    section.filter_map(|line| {
        let row = line.trim().strip_prefix('|')?;
        let row = row.strip_suffix('|').unwrap_or(row);
        let is_rule = row.chars().all(|letter| matches!(letter, '-' | ':' | '|' | ' '));
        let cell = |cell: &str| cell.trim().trim_matches(['*', '`']).trim().to_owned();
        (!is_rule).then(|| row.split('|').map(cell).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_the_table_is_no_flow() {
        for text in [
            "",
            "# Flow\n",
            "## Step Reference Table\n",
            "## Step Reference Table\n\n| A | B |\n|---|---|\n| 1 | 2 |\n",
        ] {
            assert!(read_flow_file("x", text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn rows_that_number_no_step_are_passed_over() {
        let text = "## Step Reference Table\n| Step | Name |\n|:--|--:|\n| 1 | **Plan** |\n| 1.5 | Half |\n| 2 | Audit (optional) |\n\n\
                    ## Auto-Chain Rules\n| Completed | Next |\n|--|--|\n| Audit | Session boundary |\n| Plan (1) | Auto-chain → Audit (2) |\n";
        let steps = read_flow_file("x", text).unwrap().steps;
        let told: Vec<_> = steps
            .iter()
            .map(|step| (step.step, step.name.as_str(), step.optional, step.ends_session))
            .collect();
        assert_eq!(told, [(1, "Plan", false, false), (2, "Audit", true, true)]);
    }

    #[test]
    fn a_block_that_asks_for_a_decision_belongs_to_the_step_that_it_stands_below() {
        let text = "## Step Reference Table\n| Step | Name |\n|--|--|\n| 1 | Plan |\n| 2 | Review |\n\n\
                    ## Step 2 — Review\n```\n# no heading\n DECISION REQUIRED: read it\n```\n```sh\nls\n```\n\
                    ## Template\n```\n DECISION REQUIRED: start?\n```\n## Plan\n```\nopen DECISION REQUIRED\n";
        let steps = read_flow_file("x", text).unwrap().steps;
        let blocks: Vec<_> = steps.iter().map(|step| step.choose_block.as_deref()).collect();
        assert_eq!(blocks, [None, Some("# no heading\n DECISION REQUIRED: read it")]);
    }
}
