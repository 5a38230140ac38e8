//! Writing the tables.

use rusqlite::ToSql;
use serde::Serialize;

use super::read::{SqliteTransaction, corrupt, failed};
use crate::{
    TrackerName,
    breaker::{Breaker, Scope},
    ledger::{Intent, Lease, LedgerError, LedgerWriter, Link, TrackerRecord},
    pace::Pace,
    retry::Delivery,
    ticket::{Marker, Ticket},
};

impl SqliteTransaction<'_> {
    fn execute(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<(), LedgerError> {
        let run = || self.inner.prepare_cached(sql)?.execute(parameters);
        run().map(drop).map_err(failed("be written"))
    }
}

fn json(what: &'static str, value: &impl Serialize) -> Result<String, LedgerError> {
    serde_json::to_string(value).map_err(corrupt(what))
}

impl LedgerWriter for SqliteTransaction<'_> {
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<(), LedgerError> {
        let owner = self.owner(&link.tracker, &link.remote.id)?.filter(|owner| *owner != link.marker);
        if let Some(owner) = owner {
            let (key, marker) = (link.remote.key.clone(), link.marker.clone());
            return Err(LedgerError::LinkedElsewhere { key, marker, owner });
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

    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError> {
        let sql = "DELETE FROM links WHERE tracker = ?1 AND marker = ?2";
        self.execute(sql, &[&tracker.as_str(), &marker.to_string()])
    }

    fn put_intent(&mut self, intent: &Intent) -> Result<(), LedgerError> {
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

    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError> {
        let sql = "DELETE FROM intents WHERE tracker = ?1 AND marker = ?2";
        self.execute(sql, &[&tracker.as_str(), &marker.to_string()])
    }

    fn put_delivery(
        &mut self,
        tracker: &TrackerName,
        marker: &Marker,
        delivery: &Delivery,
    ) -> Result<(), LedgerError> {
        let (tracker, marker) = (tracker.as_str(), marker.to_string());
        if *delivery == Delivery::Due {
            let sql = "DELETE FROM deliveries WHERE tracker = ?1 AND marker = ?2";
            return self.execute(sql, &[&tracker, &marker]);
        }
        let sql = "INSERT OR REPLACE INTO deliveries (tracker, marker, state) VALUES (?1, ?2, ?3)";
        self.execute(sql, &[&tracker, &marker, &json("delivery", delivery)?])
    }

    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<(), LedgerError> {
        let sql = "INSERT OR REPLACE INTO trackers (tracker, state) VALUES (?1, ?2)";
        self.execute(sql, &[&tracker.as_str(), &json("tracker", record)?])
    }

    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<(), LedgerError> {
        // No tracker is called so: a name has no `@`.
        let aside = |target: &str| format!("{tracker}@{target}");
        for table in ["links", "intents", "deliveries", "trackers"] {
            let sql = format!("UPDATE OR REPLACE {table} SET tracker = ?2 WHERE tracker = ?1");
            self.execute(&sql, &[&tracker.as_str(), &aside(from)])?;
            self.execute(&sql, &[&aside(to), &tracker.as_str()])?;
        }
        Ok(())
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<(), LedgerError> {
        let sql = "INSERT OR REPLACE INTO leases (name, holder, number, until) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, &[&lease.name, &lease.holder, &lease.number, &lease.until.as_millisecond()])
    }

    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<(), LedgerError> {
        if breaker.is_pristine() {
            return self.execute("DELETE FROM breakers WHERE scope = ?1", &[&scope.to_string()]);
        }
        let sql = "INSERT OR REPLACE INTO breakers (scope, state) VALUES (?1, ?2)";
        self.execute(sql, &[&scope.to_string(), &json("breaker", breaker)?])
    }

    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<(), LedgerError> {
        if *pace == Pace::default() {
            return self.execute("DELETE FROM paces WHERE scope = ?1", &[&scope.to_string()]);
        }
        let sql = "INSERT OR REPLACE INTO paces (scope, state) VALUES (?1, ?2)";
        self.execute(sql, &[&scope.to_string(), &json("pace", pace)?])
    }

    fn commit(self: Box<Self>) -> Result<(), LedgerError> {
        self.inner.commit().map_err(failed("be written"))
    }
}
