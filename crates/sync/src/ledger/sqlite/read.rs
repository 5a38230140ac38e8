//! Reading the tables.

use crate::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, Scope},
    ledger::{Intent, Lease, LedgerReader, LedgerWriter, Link, TrackerRecord},
    moment,
    pace::Pace,
    retry::Delivery,
    ticket::{Marker, Ticket},
};
use rusqlite::{ErrorCode, OptionalExtension as _, Row, ToSql, Transaction};
use serde::{Serialize, de::DeserializeOwned};
use stepmark_store::disk::par_map;

pub(super) struct SqliteTransaction<'l> {
    pub(super) inner: Transaction<'l>,
}

impl SqliteTransaction<'_> {
    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let ask = || {
            let mut statement = self.inner.prepare_cached(sql)?;
            let rows = statement.query_map(parameters, read)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        ask().map_err(failed("be read"))
    }

    pub(super) fn owner(&self, tracker: &TrackerName, id: &str) -> Result<Option<Marker>> {
        let sql = "SELECT marker FROM links WHERE tracker = ?1 AND remote_id = ?2";
        let owner: Option<String> = self.row(sql, &[&tracker.as_str(), &id], |row| row.get(0))?;
        owner.map(|owner| owner.parse().map_err(corrupt("marker"))).transpose()
    }

    fn row<T>(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let ask = || self.inner.prepare_cached(sql)?.query_row(parameters, read).optional();
        ask().map_err(failed("be read"))
    }

    fn state<T: DeserializeOwned>(
        &self,
        what: &'static str,
        sql: &str,
        parameters: &[&dyn ToSql],
    ) -> Result<Option<T>> {
        let text: Option<Option<String>> = self.row(sql, parameters, |row| row.get(0))?;
        text.flatten().map(|text| serde_json::from_str(&text).map_err(corrupt(what))).transpose()
    }
}

struct LinkRow {
    marker: String,
    remote: String,
    digest: Option<String>,
    linked_at: i64,
}

impl LinkRow {
    const COLUMNS: &str = "marker, remote, digest, linked_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { marker: row.get(0)?, remote: row.get(1)?, digest: row.get(2)?, linked_at: row.get(3)? })
    }

    fn link(&self, tracker: &TrackerName) -> Result<Link> {
        let digest =
            self.digest.as_ref().map(|digest| digest.parse().map_err(corrupt("digest"))).transpose()?;
        Ok(Link {
            tracker: tracker.clone(),
            marker: self.marker.parse().map_err(corrupt("marker"))?,
            remote: serde_json::from_str(&self.remote).map_err(corrupt("ticket"))?,
            digest,
            linked_at: moment::at(self.linked_at),
        })
    }
}

struct IntentRow {
    marker: String,
    action: String,
    digest: String,
    lease_number: u64,
    begun_at: i64,
}

impl IntentRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            marker: row.get(0)?,
            action: row.get(1)?,
            digest: row.get(2)?,
            lease_number: row.get(3)?,
            begun_at: row.get(4)?,
        })
    }

    fn intent(self, tracker: &TrackerName) -> Result<Intent> {
        Ok(Intent {
            tracker: tracker.clone(),
            marker: self.marker.parse().map_err(corrupt("marker"))?,
            action: self.action.parse().map_err(corrupt("action"))?,
            digest: self.digest.parse().map_err(corrupt("digest"))?,
            lease_number: self.lease_number,
            begun_at: moment::at(self.begun_at),
        })
    }
}

impl LedgerReader for SqliteTransaction<'_> {
    fn link(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Link>> {
        let sql = format!("SELECT {} FROM links WHERE tracker = ?1 AND marker = ?2", LinkRow::COLUMNS);
        let row = self.row(&sql, &[&tracker.as_str(), &marker.to_string()], LinkRow::read)?;
        row.map(|row| row.link(tracker)).transpose()
    }

    fn links(&self, tracker: &TrackerName) -> Result<Vec<Link>> {
        let sql = format!("SELECT {} FROM links WHERE tracker = ?1", LinkRow::COLUMNS);
        let rows = self.rows(&sql, &[&tracker.as_str()], LinkRow::read)?;
        let links = par_map(&rows, |row| row.link(tracker));
        sorted_by_marker(links.into_iter().collect(), |link| &link.marker)
    }

    fn projected(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Ticket>> {
        let sql = "SELECT projected FROM links WHERE tracker = ?1 AND marker = ?2";
        self.state("projected ticket", sql, &[&tracker.as_str(), &marker.to_string()])
    }

    fn intents(&self, tracker: &TrackerName) -> Result<Vec<Intent>> {
        let sql = "SELECT marker, action, digest, lease_number, begun_at FROM intents WHERE tracker = ?1";
        let rows = self.rows(sql, &[&tracker.as_str()], IntentRow::read)?;
        let intents: Result<Vec<Intent>> = rows.into_iter().map(|row| row.intent(tracker)).collect();
        sorted_by_marker(intents, |intent| &intent.marker)
    }

    fn delivery(&self, tracker: &TrackerName, marker: &Marker) -> Result<Delivery> {
        let sql = "SELECT state FROM deliveries WHERE tracker = ?1 AND marker = ?2";
        let delivery = self.state("delivery", sql, &[&tracker.as_str(), &marker.to_string()])?;
        Ok(delivery.unwrap_or_default())
    }

    fn deliveries(&self, tracker: &TrackerName) -> Result<Vec<(Marker, Delivery)>> {
        let sql = "SELECT marker, state FROM deliveries WHERE tracker = ?1";
        let rows = self.rows(sql, &[&tracker.as_str()], texts)?;
        let deliveries = rows.into_iter().map(|(marker, state)| {
            let delivery = serde_json::from_str(&state).map_err(corrupt("delivery"))?;
            Ok((marker.parse().map_err(corrupt("marker"))?, delivery))
        });
        sorted_by_marker(deliveries.collect(), |(marker, _)| marker)
    }

    fn record(&self, tracker: &TrackerName) -> Result<TrackerRecord> {
        let sql = "SELECT state FROM trackers WHERE tracker = ?1";
        Ok(self.state("tracker", sql, &[&tracker.as_str()])?.unwrap_or_default())
    }

    fn lease(&self, name: &str) -> Result<Option<Lease>> {
        self.row("SELECT holder, number, until FROM leases WHERE name = ?1", &[&name], |row| {
            Ok(Lease {
                name: name.to_owned(),
                holder: row.get(0)?,
                number: row.get(1)?,
                until: moment::at(row.get(2)?),
            })
        })
    }

    fn breaker(&self, scope: &Scope) -> Result<Option<Breaker>> {
        self.state("breaker", "SELECT state FROM breakers WHERE scope = ?1", &[&scope.to_string()])
    }

    fn breakers(&self) -> Result<Vec<(Scope, Breaker)>> {
        let rows = self.rows("SELECT scope, state FROM breakers ORDER BY scope", &[], texts)?;
        let breakers = rows.into_iter().map(|(scope, state)| {
            let breaker = serde_json::from_str(&state).map_err(corrupt("breaker"))?;
            Ok((scope.parse().map_err(corrupt("scope"))?, breaker))
        });
        breakers.collect()
    }

    fn pace(&self, scope: &Scope) -> Result<Option<Pace>> {
        self.state("pace", "SELECT state FROM paces WHERE scope = ?1", &[&scope.to_string()])
    }

    fn paces(&self) -> Result<Vec<(Scope, Pace)>> {
        let rows = self.rows("SELECT scope, state FROM paces ORDER BY scope", &[], texts)?;
        let paces = rows.into_iter().map(|(scope, state)| {
            let pace = serde_json::from_str(&state).map_err(corrupt("pace"))?;
            Ok((scope.parse().map_err(corrupt("scope"))?, pace))
        });
        paces.collect()
    }
}

fn texts(row: &Row<'_>) -> rusqlite::Result<(String, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Markers as text have another order than markers.
fn sorted_by_marker<T>(items: Result<Vec<T>>, marker: impl Fn(&T) -> &Marker) -> Result<Vec<T>> {
    let mut items = items?;
    items.sort_by(|one, other| marker(one).cmp(marker(other)));
    Ok(items)
}

pub(super) fn storage(intent: &str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Io, format!("the ledger of sync could not {intent}")).because(source)
}

pub(super) fn failed(intent: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::new(
            ErrorKind::Busy,
            "the ledger of sync is busy: another process holds it; try again when that has ended",
        ),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => corrupt("file")(error),
        _ => storage(intent, error),
    }
}

pub(super) fn corrupt<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Error {
    move |error| {
        let message = format!(
            "the ledger of sync holds a {what} that cannot be read: {error}; it can be deleted, since tickets are found again by \
             their markers (`stepmark sync adopt`), and stores of memory are asked what they hold"
        );
        Error::new(ErrorKind::Corrupt, message)
    }
}

impl SqliteTransaction<'_> {
    fn execute(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<()> {
        let run = || self.inner.prepare_cached(sql)?.execute(parameters);
        run().map(drop).map_err(failed("be written"))
    }
}

fn json(what: &'static str, value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(corrupt(what))
}

impl LedgerWriter for SqliteTransaction<'_> {
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<()> {
        let owner = self.owner(&link.tracker, &link.remote.id)?.filter(|owner| *owner != link.marker);
        if let Some(owner) = owner {
            let key = link.remote.key.clone();
            let message = format!("{key} is the ticket of another artifact");
            return Err(Error::new(ErrorKind::LinkedElsewhere { key, owner: owner.to_string() }, message));
        }
        let projected = projected.map(|ticket| json("projected ticket", &ticket.stored())).transpose()?;
        self.execute(
            "INSERT OR REPLACE INTO links (tracker, marker, remote_id, remote, digest, projected, linked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                &link.tracker.as_str(),
                &link.marker.to_string(),
                &link.remote.id,
                &json("ticket", &link.remote)?,
                &link.digest.map(|digest| digest.to_string()),
                &projected,
                &link.linked_at.as_millisecond(),
            ],
        )
    }

    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()> {
        let sql = "DELETE FROM links WHERE tracker = ?1 AND marker = ?2";
        self.execute(sql, &[&tracker.as_str(), &marker.to_string()])
    }

    fn put_intent(&mut self, intent: &Intent) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO intents (tracker, marker, action, digest, lease_number, begun_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[
                &intent.tracker.as_str(),
                &intent.marker.to_string(),
                &intent.action.to_string(),
                &intent.digest.to_string(),
                &intent.lease_number,
                &intent.begun_at.as_millisecond(),
            ],
        )
    }

    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()> {
        let sql = "DELETE FROM intents WHERE tracker = ?1 AND marker = ?2";
        self.execute(sql, &[&tracker.as_str(), &marker.to_string()])
    }

    fn put_delivery(&mut self, tracker: &TrackerName, marker: &Marker, delivery: &Delivery) -> Result<()> {
        let (tracker, marker) = (tracker.as_str(), marker.to_string());
        if *delivery == Delivery::Due {
            let sql = "DELETE FROM deliveries WHERE tracker = ?1 AND marker = ?2";
            return self.execute(sql, &[&tracker, &marker]);
        }
        let sql = "INSERT OR REPLACE INTO deliveries (tracker, marker, state) VALUES (?1, ?2, ?3)";
        self.execute(sql, &[&tracker, &marker, &json("delivery", delivery)?])
    }

    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO trackers (tracker, state) VALUES (?1, ?2)";
        self.execute(sql, &[&tracker.as_str(), &json("tracker", record)?])
    }

    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<()> {
        // No name of a tracker has an `@`.
        let aside = |target: &str| format!("{tracker}@{target}");
        for table in ["links", "intents", "deliveries", "trackers"] {
            let sql = format!("UPDATE OR REPLACE {table} SET tracker = ?2 WHERE tracker = ?1");
            self.execute(&sql, &[&tracker.as_str(), &aside(from)])?;
            self.execute(&sql, &[&aside(to), &tracker.as_str()])?;
        }
        Ok(())
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO leases (name, holder, number, until) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, &[&lease.name, &lease.holder, &lease.number, &lease.until.as_millisecond()])
    }

    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<()> {
        if breaker.is_pristine() {
            return self.execute("DELETE FROM breakers WHERE scope = ?1", &[&scope.to_string()]);
        }
        let sql = "INSERT OR REPLACE INTO breakers (scope, state) VALUES (?1, ?2)";
        self.execute(sql, &[&scope.to_string(), &json("breaker", breaker)?])
    }

    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<()> {
        if *pace == Pace::default() {
            return self.execute("DELETE FROM paces WHERE scope = ?1", &[&scope.to_string()]);
        }
        let sql = "INSERT OR REPLACE INTO paces (scope, state) VALUES (?1, ?2)";
        self.execute(sql, &[&scope.to_string(), &json("pace", pace)?])
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.inner.commit().map_err(failed("be written"))
    }
}
