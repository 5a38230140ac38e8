//! Requests by REST.

use std::sync::atomic::Ordering;

use reqwest::Method;
use serde::Deserialize;

use super::{
    GitHubTracker,
    issue::{IssueFields, RestIssue, creation, moved, no_room, not_ours, patches, stamped},
    parent_missing,
    request::{Asked, next_page},
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, RemoteTicket, Ticket},
    tracker::{
        Change, Cursor, Delivered, Outcome, Page, Tracker as _,
        http::{HttpRequest, Refused},
    },
};

/// GitHub's OpenAPI, schema `full-repository`.
#[derive(Debug, Deserialize)]
struct RestRepository {
    id: u64,
    #[serde(default)]
    permissions: Option<Permissions>,
}

/// All false for an app, which reads by rights of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Permissions {
    pull: bool,
    triage: bool,
    push: bool,
}

impl GitHubTracker {
    /// Never a closed or a sub-issue: the answer says what is missing.
    pub(super) async fn create_issue(&self, ticket: &Ticket) -> Outcome<Delivered> {
        if !self.may_label.load(Ordering::Relaxed) {
            let detail = format!(
                "it may not set labels in {}, and tickets are found again by `{}`: `triage` or `write` access is wanted",
                self.settings.repository,
                ticket.marker.label()
            );
            return Outcome::Failed(Failure::new(Reason::Forbidden, &detail));
        }
        let mut body = match creation(ticket) {
            Ok(body) => body,
            Err(failure) => return Outcome::Failed(failure),
        };
        match self.field_values(ticket, None, &IssueFields::default()).await {
            Ok(values) => values.into_iter().for_each(|(name, value)| body[name] = value),
            Err(refused) => return refused.outcome(),
        }
        let request = HttpRequest::write(Method::POST, self.addresses().issues(), body);
        let made = self.ask::<RestIssue>(request, Asked::Repository).await;
        match made {
            Err(refused) => refused.outcome(),
            Ok((issue, _)) => {
                let current = issue.observed(ticket.marker.clone());
                // It was made; its next change reports what is wrong.
                let compared = self.compare(ticket, None, &current);
                let missing = compared.unwrap_or_else(|_| ticket.differences(None));
                Outcome::Done(Delivered { remote: current.remote, missing, is_overwritten: false })
            }
        }
    }

    /// Reads it first; sends nothing if nothing differs.
    pub(super) async fn update_issue(&self, change: &Change) -> Outcome<Delivered> {
        match self.changed_issue(change).await {
            Err(refused) => refused.outcome(),
            Ok(current) => self.delivered(change, current),
        }
    }

    async fn changed_issue(&self, change: &Change) -> Result<Observed, Refused> {
        let (desired, before) = (&change.desired, change.before.as_ref());
        let number = number_of(&change.remote).map_err(Refused::Failed)?;
        let issue = self.get_issue(number).await?;
        if !issue.is_issue() {
            let detail = format!("#{number} is a pull request");
            return Err(Refused::Failed(Failure::new(Reason::Gone, &detail)));
        }
        let fields = issue.fields.clone();
        let mut current = issue.observed(desired.marker.clone());
        if let Some(failure) = not_ours(change, &current) {
            return Err(Refused::Failed(failure));
        }
        let compared = self.compare(desired, before, &current);
        let compared = compared.and_then(|differences| stamped(differences, desired, &current));
        let differences = compared.map_err(|error| Refused::Failed(no_room(&error)))?;
        let mut has_written = false;
        let values = self.field_values(desired, before, &fields).await?;
        let mut patches = patches(&differences, current.state, desired.state);
        match patches.last_mut() {
            Some(last) => values.into_iter().for_each(|(name, value)| last[name] = value),
            None if values.is_empty() => {}
            None => patches.push(values.into()),
        }
        for patch in patches {
            let request = HttpRequest::write(Method::PATCH, self.addresses().issue(number), patch);
            let changed = self.ask::<RestIssue>(request, Asked::Issue).await;
            let (issue, _) =
                changed.map_err(|refused| if has_written { refused.after_a_write() } else { refused })?;
            current = issue.observed(desired.marker.clone());
            has_written = true;
        }
        let settled = self.settle_parent(change, &mut current).await;
        settled.map_err(|refused| if has_written { refused.after_a_write() } else { refused })?;
        Ok(current)
    }

    pub(super) async fn read_issue(&self, ticket: &RemoteTicket) -> Outcome<Option<Observed>> {
        let number = match number_of(ticket) {
            Ok(number) => number,
            Err(failure) => return Outcome::Failed(failure),
        };
        match self.get_issue(number).await {
            Err(refused) => refused.outcome(),
            Ok(issue) => {
                let marker = issue.marker();
                let observed = marker.map(|marker| issue.observed(marker));
                match observed.as_ref().and_then(|observed| moved(number, observed)) {
                    Some(moved) => Outcome::Failed(moved),
                    None => Outcome::Done(observed),
                }
            }
        }
    }

    pub(super) async fn get_issue(&self, number: u64) -> Result<RestIssue, Refused> {
        let request = HttpRequest::get(self.addresses().issue(number));
        self.ask(request, Asked::Issue).await.map(|(issue, _)| issue)
    }

    /// The id stays when the repository is renamed or transferred.
    pub(super) async fn repository_id(&self) -> Result<String, Failure> {
        let request = HttpRequest::get(self.addresses().repository());
        let asked = self.ask::<RestRepository>(request, Asked::Repository);
        let (repository, _) = asked.await?;
        let Permissions { pull, triage, push } = repository.permissions.unwrap_or_default();
        self.may_label.store(triage || push || !pull, Ordering::Relaxed);
        Ok(format!("github {} {}", self.settings.base_url.host(), repository.id))
    }

    pub(super) async fn list_page(
        &self,
        project: &str,
        from: Option<&Cursor>,
        label: Option<&str>,
    ) -> Result<Page, Failure> {
        let elsewhere = || Failure::new(Reason::Unreadable, "the next page of the list is on another host");
        let url = match from {
            None => self.addresses().listed(label),
            Some(Cursor(url)) => self.http.own_url(url).ok_or_else(elsewhere)?,
        };
        let request = HttpRequest::get(url.clone());
        let asked = self.ask::<Vec<RestIssue>>(request, Asked::Repository);
        let (issues, reply) = asked.await?;
        let (mut tickets, mut unmarked) = (Vec::new(), Vec::new());
        for issue in issues.into_iter().filter(RestIssue::is_issue) {
            match issue.marker() {
                Some(marker) if marker.project() == project => tickets.push(issue.observed(marker)),
                None if label.is_some() => unmarked.push(issue.titled()),
                _ => {}
            }
        }
        let next = match reply.header("link").and_then(next_page) {
            None => None,
            Some(next) => {
                let next = self.http.on_own_host(next).ok_or_else(elsewhere)?;
                if next == url {
                    return Err(Failure::new(Reason::Unreadable, "a page of the list is its own next one"));
                }
                Some(Cursor(next.into()))
            }
        };
        Ok(Page { tickets, unmarked, next, budget: None })
    }

    pub(super) fn delivered(&self, change: &Change, current: Observed) -> Outcome<Delivered> {
        match self.compare(&change.desired, change.before.as_ref(), &current) {
            Ok(mut missing) => {
                missing.retain(|missing| missing.field != "parent");
                if self.has_sub_issues.load(Ordering::Relaxed) {
                    missing.extend(parent_missing(change, &current));
                }
                Outcome::Done(Delivered { remote: current.remote, missing, is_overwritten: false })
            }
            Err(error) => Outcome::Failed(no_room(&error)),
        }
    }
}

pub(super) fn number_of(ticket: &RemoteTicket) -> Result<u64, Failure> {
    let detail = || format!("`{}` is no number of an issue", ticket.id);
    ticket.id.parse().map_err(|_| Failure::new(Reason::Invalid, &detail()))
}
