//! Making a plan.

use std::collections::BTreeMap;

use stepmark_model::artifact::ProjectPath;

use super::{
    Action, ActionKind, Compared, Comparison, Outcome, Plan, PlanInputs, Remark,
    claim::{Claim, Remembered, Survey, by_marker, copies},
};
use crate::{
    Result,
    breaker::Reason,
    configuration::{Drift, Prune, Target},
    ledger::{IntentAction, Link},
    retry::Delivery,
    ticket::{
        CloseReason, FieldDifference, Hangs, Marker, Observed, RemoteTicket, SnapshotEntry, Stamp,
        StoredTicket, Ticket, TicketState, Withheld,
    },
};

/// More are pruned without a question only up to a tenth of all.
const MOST_PRUNED: usize = 20;

const FEW_PRUNED: usize = 3;

struct Making<'g, 'a> {
    grounds: &'g PlanInputs<'a>,
    remembered: Remembered,
    found: Option<BTreeMap<&'a Marker, Vec<&'a Observed>>>,
    plan: Plan,
    crowded: BTreeMap<&'a ProjectPath, usize>,
}

impl Plan {
    /// Pure but for asking the ledger; where nothing differs, it asks only for the links.
    pub fn make(grounds: &PlanInputs<'_>) -> Result<Self> {
        let name = &grounds.settings.name;
        let remembered = Remembered::read(grounds)?;
        let survey = grounds.survey.as_ref();
        let found = survey.map(|survey| by_marker(survey.tickets.iter(), remembered.links.values()));
        let mut plan = Self::empty(name.clone());
        let record = grounds.ledger.record(name)?;
        plan.needs_survey = found.is_none() && record.listed_at.is_none();
        if let Some(from) = record.elsewhere(&grounds.settings.target.address()) {
            plan.remarks.push(Remark::Moved { from: from.to_owned() });
        }
        let mut making = Making { grounds, remembered, found, plan, crowded: BTreeMap::new() };
        for compared in making.compared() {
            let named = match making.named(compared.marker, compared.entry) {
                Ok(named) => named,
                Err(reason) => {
                    let path = compared.entry.stored.as_ref().map(|own| own.leaf.to_string());
                    let path = path.unwrap_or_default();
                    making.plan.remarks.push(Remark::LeftOut { path, reason, is_problem: true });
                    continue;
                }
            };
            match compared.outcome {
                Outcome::Same => making.plan.unchanged += 1,
                // The next plan sees the outcome.
                Outcome::Gone => {}
                Outcome::Desired(desired, withheld) => {
                    making.consider(compared.marker, (compared.entry, named), (*desired, withheld))?;
                }
            }
        }
        making.consider_links_without_artifact()?;
        making.tell_left_out();
        making.tell_copies();
        making.leave_aside();
        Ok(making.finish())
    }
}

impl<'a> Making<'_, 'a> {
    fn compared(&self) -> Vec<Compared<'a>> {
        let PlanInputs { snapshot, settings, .. } = self.grounds;
        let artifacts = snapshot.artifacts();
        let concerned: Vec<_> = artifacts.filter(|(_, entry)| settings.concerns(&entry.path)).collect();
        let kept = snapshot.kept_digests(&settings.name);
        let comparison = Comparison { snapshot, settings: &settings.ticket, kept: &kept };
        let (Remembered { links, intents }, is_surveyed) = (&self.remembered, self.found.is_some());
        let compared = comparison.of_all(&concerned, |marker| {
            // A change in doubt may have been made: then the ticket differs from what is stored.
            let is_certain = !is_surveyed && !intents.contains_key(marker);
            links.get(marker).filter(|_| is_certain)?.digest
        });
        let digests = compared.iter().filter_map(|compared| compared.kept).collect();
        snapshot.keep_digests(&settings.name, &kept, &digests);
        compared
    }

    fn consider(
        &mut self,
        marker: &Marker,
        (entry, named): (&SnapshotEntry, Option<RemoteTicket>),
        (desired, withheld): (Ticket, Withheld),
    ) -> Result<()> {
        let action = self.next_action(marker, named, desired)?;
        match action {
            Some(action) => {
                let settings = &self.grounds.settings.ticket;
                if let Hangs::Beside(_, path) = self.grounds.snapshot.hangs(marker, settings) {
                    *self.crowded.entry(path).or_default() += 1;
                }
                if !withheld.is_empty() {
                    self.plan.remarks.push(Remark::withheld(marker, &entry.path, &withheld));
                }
                self.plan.actions.push(Action { path: Some(entry.path.clone()), ..action });
            }
            None => self.plan.unchanged += 1,
        }
        Ok(())
    }

    fn named(&mut self, marker: &Marker, entry: &SnapshotEntry) -> Result<Option<RemoteTicket>, String> {
        let (target, link) = (&self.grounds.settings.target, self.remembered.links.get(marker));
        let is_here = |own: &&StoredTicket| !own.tracker_id.is_empty() && own.store == target.kind();
        let Some(own) = entry.stored.as_ref().filter(is_here) else { return Ok(None) };
        let (id, url) = (&own.tracker_id, &own.remote);
        let is_number = |id: &str| id.len() <= 18 && id.bytes().all(|digit| digit.is_ascii_digit());
        let (is_issue, path, key, place) = match target {
            Target::Github { repository, .. } => {
                let place = repository.to_string();
                (is_number(id), format!("/{place}/issues/{id}"), format!("#{id}"), place)
            }
            Target::Jira { project, .. } => {
                let of_project =
                    |(own, number): (&str, &str)| own.eq_ignore_ascii_case(project) && is_number(number);
                let is_issue = id.rsplit_once('-').is_some_and(of_project);
                (is_issue, format!("/browse/{id}"), id.to_uppercase(), project.clone())
            }
            _ => return Ok(None),
        };
        if !is_issue || !url.is_empty() && !url.to_lowercase().ends_with(&path.to_lowercase()) {
            let remote = if url.is_empty() { String::new() } else { format!(" and its `remote` `{url}`") };
            return Err(format!(
                "its `tracker_id` is `{id}`{remote}, which is no issue of {place}: correct that, or take it out, so that one is made"
            ));
        }
        let url = url.clone();
        if let Some(link) = link.filter(|link| link.remote.key != key && link.digest.is_some()) {
            let (artifact, remote) = (entry.path.to_string(), link.remote.clone());
            self.plan.remarks.push(Remark::OtherNamed { artifact, remote, named: key });
            return Ok(None);
        }
        // Jira finds an issue by its key, too; the answer has its id.
        let id = if matches!(target, Target::Jira { .. }) { key.clone() } else { id.clone() };
        Ok(Some(RemoteTicket { id, key, url, other_ids: BTreeMap::new() }))
    }

    /// A ticket that BMAD names is taken over.
    fn next_action(
        &mut self,
        marker: &Marker,
        named: Option<RemoteTicket>,
        desired: Ticket,
    ) -> Result<Option<Action>> {
        let is_begun = self.remembered.intents.contains_key(marker);
        let adoption =
            |named, desired| Ok(Some(Action { remote: Some(named), ..action(ActionKind::Adopt, desired) }));
        match (self.remembered.links.get(marker).cloned(), named) {
            (None, Some(named)) if !is_begun && self.same(marker).is_empty() => adoption(named, desired),
            (None, _) => Ok(Some(self.first(marker, desired))),
            (Some(link), Some(named)) if named.key == link.remote.key => {
                self.plan.named.insert(marker.clone());
                self.update(&link, desired)
            }
            (Some(link), Some(named)) if self.is_gone(&link)? => adoption(named, desired),
            (Some(link), _) => match self.superseded(&link, &desired) {
                Some(action) => Ok(Some(action)),
                None => self.update(&link, desired),
            },
        }
    }

    fn is_gone(&self, link: &Link) -> Result<bool> {
        let delivery = self.grounds.ledger.delivery(&link.tracker, &link.marker)?;
        Ok(matches!(delivery, Delivery::Parked { last, .. } if last.reason == Reason::Gone))
    }

    fn first(&mut self, marker: &Marker, desired: Ticket) -> Action {
        let same = self.same(marker);
        if let Some(oldest) = same.first() {
            self.consider_duplicates(&same, &oldest.remote, None);
            let differences = self.drift(&desired, None, oldest);
            return Action {
                remote: Some(oldest.remote.clone()),
                differences,
                ..action(ActionKind::Adopt, desired)
            };
        }
        let is_begun =
            self.remembered.intents.get(marker).is_some_and(|intent| intent.action == IntentAction::Create);
        // A survey does not settle it: the tracker's list may lag.
        let kind = if is_begun { ActionKind::LookUp } else { ActionKind::Create };
        let differences = desired.differences(None);
        Action { differences, ..action(kind, desired) }
    }

    /// Gives up the linked ticket if the survey has another one that counts.
    fn superseded(&mut self, link: &Link, desired: &Ticket) -> Option<Action> {
        let same = self.same(&link.marker);
        let oldest = Claim { same: &same, is_late: false }.instead_of(link)?;
        self.consider_duplicates(&same, &oldest.remote, Some(&link.remote.id));
        Some(Action {
            remote: Some(oldest.remote.clone()),
            base: link.digest,
            differences: self.drift(desired, None, oldest),
            ..action(ActionKind::Adopt, desired.clone())
        })
    }

    fn same(&self, marker: &Marker) -> Vec<&'a Observed> {
        self.found.as_ref().and_then(|found| found.get(marker)).cloned().unwrap_or_default()
    }

    fn update(&mut self, link: &Link, desired: Ticket) -> Result<Option<Action>> {
        let ticket = self.grounds.ledger;
        // An update in doubt may have been made: the ticket's content is unknown then.
        let is_in_doubt = self.remembered.intents.contains_key(&link.marker);
        let is_current = link.digest == Some(desired.digest()) && !is_in_doubt;
        let seen = self.seen(link);
        if is_current && seen.is_none() {
            return Ok(None);
        }
        let before = ticket.projected(&link.tracker, &link.marker)?;
        let drift = seen.map(|seen| self.drift(&desired, before.as_ref(), seen)).unwrap_or_default();
        if is_current && drift.is_empty() {
            return Ok(None);
        }
        if is_current && self.grounds.settings.drift == Drift::Report {
            let (marker, remote) = (link.marker.clone(), link.remote.clone());
            let artifact = self.name(&marker, None);
            self.plan.remarks.push(Remark::Drift { marker, artifact, remote, differences: drift });
            return Ok(None);
        }
        let (known, is_own) = match (seen, &before) {
            (Some(seen), before) => {
                (Some(&seen.stamp), before.as_ref().is_some_and(|own| own.stamp.commit == seen.stamp.commit))
            }
            (None, before) => (before.as_ref().map(|before| &before.stamp), true),
        };
        if let Some(reason) = known.and_then(|known| desired.stamp.refusal(known, is_own)) {
            let (marker, remote) = (link.marker.clone(), link.remote.clone());
            let artifact = self.name(&marker, None);
            self.plan.remarks.push(Remark::Newer { marker, artifact, remote, reason });
            return Ok(None);
        }
        let differences = if seen.is_some() { drift } else { desired.differences(before.as_ref()) };
        let was_open = seen.map(|seen| seen.state).or(before.map(|before| before.state));
        let closes = !desired.state.is_open() && was_open.is_some_and(TicketState::is_open);
        let kind = if closes { ActionKind::Close } else { ActionKind::Update };
        Ok(Some(Action {
            remote: Some(link.remote.clone()),
            base: link.digest,
            differences,
            ..action(kind, desired)
        }))
    }

    fn seen(&mut self, link: &Link) -> Option<&'a Observed> {
        self.found.as_ref()?;
        let same = self.same(&link.marker);
        self.consider_duplicates(&same, &link.remote, None);
        let own = same.into_iter().find(|ticket| ticket.remote.id == link.remote.id);
        if own.is_none() {
            let (marker, remote) = (link.marker.clone(), link.remote.clone());
            let artifact = self.name(&marker, None);
            self.plan.remarks.push(Remark::Missing { marker, artifact, remote });
        }
        own
    }

    fn drift(&self, desired: &Ticket, before: Option<&Ticket>, seen: &Observed) -> Vec<FieldDifference> {
        let survey = self.grounds.survey.as_ref();
        survey.map(|Survey { compare, .. }| compare(desired, before, seen)).unwrap_or_default()
    }

    /// Other tickets of an artifact than `kept`; `own` is this ledger's. Closed ones are done.
    fn consider_duplicates(&mut self, same: &[&Observed], kept: &RemoteTicket, own: Option<&str>) {
        let claim = Claim { same, is_late: false };
        let closed = claim.to_close(&kept.id, own, self.grounds.settings.duplicates);
        self.plan.actions.extend(closed.iter().map(|observed| Action::close_duplicate(observed, kept)));
        let is_left = |other: &&&Observed| {
            let is_closed = closed.iter().any(|closed| closed.remote.id == other.remote.id);
            other.remote.id != kept.id && other.state.is_open() && !is_closed
        };
        let left: Vec<&&Observed> = same.iter().filter(is_left).collect();
        if let Some(other) = left.first() {
            let (marker, kept) = (other.marker.clone(), kept.clone());
            let others = left.iter().map(|other| other.remote.clone()).collect();
            let artifact = self.name(&marker, None);
            self.plan.remarks.push(Remark::Duplicates { marker, artifact, kept, others });
        }
    }

    fn consider_links_without_artifact(&mut self) -> Result<()> {
        let PlanInputs { snapshot, settings, .. } = self.grounds;
        let (mut gone, mut excluded, mut unseen) = (Vec::new(), Vec::new(), Vec::new());
        for link in self.remembered.links.values() {
            match snapshot.get(&link.marker) {
                Some(facts) if !settings.concerns(&facts.path) => excluded.push(link.clone()),
                None if snapshot.lacks(&link.marker) => gone.push(link.clone()),
                None => unseen.push(link.clone()),
                _ => {}
            }
        }
        // A pattern may be mistyped: it closes no ticket.
        for link in excluded {
            let artifact = self.name(&link.marker, None);
            self.plan.remarks.push(Remark::Excluded { marker: link.marker, artifact, remote: link.remote });
        }
        gone.iter().try_for_each(|link| self.orphan(link))?;
        for link in unseen {
            let before = self.grounds.ledger.projected(&link.tracker, &link.marker)?;
            self.tell_stateless(before.as_ref());
        }
        self.refuse_mass_pruning();
        Ok(())
    }

    fn refuse_mass_pruning(&mut self) {
        let count = self.plan.actions.iter().filter(|action| action.kind == ActionKind::Prune).count();
        let tickets = self.remembered.links.len();
        let is_most = count >= FEW_PRUNED && count * 2 > tickets;
        let is_many = is_most || count > MOST_PRUNED.max(tickets / 10);
        if is_many && !self.grounds.settings.prunes_many {
            self.plan.actions.retain(|action| action.kind != ActionKind::Prune);
            self.plan.remarks.push(Remark::ManyGone { gone: count, tickets });
        }
    }

    fn orphan(&mut self, link: &Link) -> Result<()> {
        let before = self.grounds.ledger.projected(&link.tracker, &link.marker)?;
        let remote = link.remote.clone();
        // A change in doubt may have reopened it.
        let is_in_doubt = self.remembered.intents.contains_key(&link.marker);
        if !is_in_doubt && before.as_ref().is_some_and(|before| !before.state.is_open()) {
            self.plan.unchanged += 1;
            return Ok(());
        }
        // A ticket only found, of an artifact unknown to history, is of other people's branches.
        let is_of_others = before.is_none() && !self.grounds.snapshot.may_have_held(&link.marker);
        if self.grounds.settings.prune == Prune::Keep || is_of_others {
            if self.tell_stateless(before.as_ref()) {
                return Ok(());
            }
            let artifact = self.name(&link.marker, before.as_ref());
            self.plan.remarks.push(Remark::Orphan { marker: link.marker.clone(), artifact, remote });
            return Ok(());
        }
        let commit = self.grounds.snapshot.checkout().commit().map(|commit| commit.id.clone());
        let checkout = self.grounds.snapshot.checkout().clone();
        let stamp = Stamp { commit, checkout, ..Stamp::default() };
        let ended = before.as_ref().and_then(|before| {
            let facts = self.grounds.snapshot.remembered(before.marker.artifact())?;
            facts.ended(before, &self.grounds.settings.ticket)
        });
        let kind = if ended.is_some() { ActionKind::Close } else { ActionKind::Prune };
        let not_planned = TicketState::Closed(CloseReason::NotPlanned);
        let gone = || before.clone().map(|before| Ticket { state: not_planned, ..before });
        let closed = ended.or_else(gone).map(|closed| Ticket { stamp, ..closed });
        let differences = closed.as_ref().map(|closed| closed.differences(before.as_ref()));
        self.plan.actions.push(Action {
            kind,
            marker: link.marker.clone(),
            path: None,
            remote: Some(remote),
            base: link.digest,
            digest: closed.as_ref().map(Ticket::digest),
            differences: differences.unwrap_or_default(),
            ticket: closed,
        });
        Ok(())
    }

    /// An open ticket whose file exists without frontmatter: somebody deleted that. True if it is one.
    fn tell_stateless(&mut self, last: Option<&Ticket>) -> bool {
        let open = last.filter(|last| last.state.is_open()).map(|last| last.file.shown());
        let Some(path) = open.filter(|path| self.grounds.snapshot.has_stateless(path)) else { return false };
        let reason =
            "its frontmatter is gone: put it back, as git has it; until then its ticket stays as it is";
        let (path, reason) = (path.to_owned(), reason.to_owned());
        self.plan.remarks.push(Remark::LeftOut { path, reason, is_problem: true });
        true
    }

    fn name(&self, marker: &Marker, last: Option<&Ticket>) -> String {
        let facts = self.grounds.snapshot.get(marker);
        let title = || last.map(|last| format!("\"{}\"", last.title));
        facts.map(|facts| facts.path.to_string()).or_else(title).unwrap_or_else(|| format!("`{marker}`"))
    }

    fn tell_left_out(&mut self) {
        let settings = self.grounds.settings;
        let left_out = self.grounds.snapshot.left_out().iter().filter(|left| settings.concerns(&left.path));
        let remarks = left_out.map(|left| Remark::LeftOut {
            path: left.path.to_string(),
            reason: left.reason.clone(),
            is_problem: left.is_problem,
        });
        self.plan.remarks.extend(remarks);
    }

    fn tell_copies(&mut self) {
        let survey = self.grounds.survey.as_ref();
        let copies = survey.map(|survey| copies(survey.tickets.iter())).unwrap_or_default();
        self.plan.remarks.extend(
            copies
                .into_iter()
                .map(|copy| Remark::Copy { marker: copy.marker.clone(), remote: copy.remote.clone() }),
        );
    }

    fn leave_aside(&mut self) {
        let aside = || self.grounds.snapshot.checkout().commit()?.aside.clone();
        if let Some((branch, follows)) =
            Some(()).filter(|()| !self.plan.actions.is_empty()).and_then(|()| aside())
        {
            self.plan.actions.clear();
            self.plan.remarks.push(Remark::Aside { branch, follows });
        }
    }

    /// Parents before children; else paths give the order, and so the numbers.
    fn finish(mut self) -> Plan {
        let crowded = |(artifact, tickets): (&ProjectPath, usize)| Remark::Crowded {
            artifact: artifact.to_string(),
            tickets,
        };
        self.plan.remarks.extend(self.crowded.into_iter().map(crowded));
        let snapshot = self.grounds.snapshot;
        self.plan.actions.sort_by_cached_key(|action| {
            (snapshot.depth(&action.marker), action.kind, action.path.clone(), action.marker.clone())
        });
        self.plan
    }
}

fn action(kind: ActionKind, desired: Ticket) -> Action {
    Action {
        kind,
        marker: desired.marker.clone(),
        path: None,
        remote: None,
        base: None,
        digest: Some(desired.digest()),
        ticket: Some(desired),
        differences: Vec::new(),
    }
}
