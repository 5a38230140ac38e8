//! Records for tests: samples, and any that other programs may write.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{Record, RecordKind, State};

pub(super) fn record(kind: RecordKind, id: &str, values: Json) -> Record {
    let Json::Object(values) = values else { panic!("{values}") };
    Record::new(kind, id, values)
}

pub(super) fn task(id: &str, values: Json) -> Record {
    record(RecordKind::Task, id, values)
}

pub(super) fn agent(id: &str, values: Json) -> Record {
    record(RecordKind::Agent, id, values)
}

pub(super) fn state(tasks: Vec<Record>, agents: Vec<Record>) -> State {
    let placed = |mut records: Vec<Record>| {
        for (place, record) in records.iter_mut().enumerate() {
            record.order = i64::try_from(place).ok();
        }
        records
    };
    State {
        root: record(RecordKind::Coordination, "coordination", json!({})),
        tasks: placed(tasks),
        agents: placed(agents),
        discoveries: Vec::new(),
        places: Default::default(),
    }
}

pub(super) fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(Json::from),
        any_text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((any_text(), inner), 0..4)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,4}", "\\PC{0,8}", "[ -~\\n\\t\\r]{0,8}", Just("2026-11-24T10:00:00".to_owned())]
}

pub(super) fn any_values(keys: &'static [&'static str]) -> impl Strategy<Value = Map<String, Json>> {
    let key = prop_oneof![
        6 => prop::sample::select(keys).prop_map(str::to_owned),
        1 => prop::sample::select(&["stepmark_kind", "stepmark_id", "stepmark_order", "delegation", "foreign"][..])
            .prop_map(str::to_owned),
        1 => any_text(),
    ];
    prop::collection::vec((key, any_json()), 0..6).prop_map(|entries| entries.into_iter().collect())
}
