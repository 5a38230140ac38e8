//! The law of the pace.

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*};

use super::{Budget, Cost, Counted, Pace, PaceSettings, RateLimit};
use crate::moment;

fn at(ms: i64) -> Timestamp {
    moment::at(1_700_000_000_000 + ms)
}

fn ms(moment: Timestamp) -> i64 {
    moment.as_millisecond() - at(0).as_millisecond()
}

/// Makes requests as fast as allowed; gives the moment of each.
fn drive(cost: Cost, settings: &PaceSettings, count: usize) -> Vec<i64> {
    let (mut pace, mut now) = (Pace::default(), at(0));
    let mut moments = Vec::new();
    while moments.len() < count {
        match pace.admit(&cost, now, settings) {
            Ok(next) => {
                pace = next;
                moments.push(ms(now));
            }
            Err(until) => {
                assert!(until > now, "a wait that does not wait");
                now = until;
            }
        }
    }
    moments
}

#[test]
fn writes_keep_their_distance_and_reads_do_not_wait() {
    let settings = PaceSettings { write_interval_ms: 1000, limits: Vec::new() };
    assert_eq!(drive(Cost::WRITE, &settings, 4), [0, 1000, 2000, 3000]);
    assert_eq!(drive(Cost::READ, &settings, 3), [0, 0, 0]);
    assert_eq!(drive(Cost::WRITE, &PaceSettings::unlimited(), 3), [0, 0, 0]);
}

#[test]
fn github_s_limits_hold_over_hours() {
    let moments = drive(Cost::create(1), &PaceSettings::github(), 1200);
    let within = |length: i64| {
        let counts = moments
            .iter()
            .map(|from| moments.iter().filter(|at| (*from..*from + length).contains(at)).count());
        counts.max().unwrap()
    };
    assert!(within(1000) <= 1 && within(60_000) <= 80 && within(3_600_000) <= 500);
    // 500 an hour, of which the first begin at once: two hours and a bit for 1,200.
    let hours = moments[1199] as f64 / 3_600_000.0;
    assert!((2.0..2.3).contains(&hours), "{hours}");
}

#[test]
fn a_batch_costs_what_it_creates() {
    let settings = PaceSettings {
        write_interval_ms: 0,
        limits: vec![RateLimit { counted: Counted::Creations, most: 80, per_ms: 60_000 }],
    };
    let moments = drive(Cost::create(40), &settings, 3);
    assert_eq!(moments[1], 0);
    assert!((60_000..=62_000).contains(&moments[2]), "{moments:?}");
    let huge = drive(Cost::create(200), &settings, 2);
    assert!(huge[1] >= 60_000, "more than the limit passes alone, and then nothing: {huge:?}");
}

#[test]
fn what_the_tracker_says_counts() {
    let settings = PaceSettings::unlimited();
    let pace = Pace::default().heard(Budget { remaining: 1, reset_at: at(5000) });
    let pace = pace.admit(&Cost::READ, at(0), &settings).unwrap();
    assert_eq!(pace.admit(&Cost::READ, at(0), &settings), Err(at(5000)));
    assert!(pace.admit(&Cost::READ, at(5000), &settings).is_ok());
    let late = pace.clone().heard(Budget { remaining: 7, reset_at: at(5000) });
    assert_eq!(late.budget().unwrap().remaining, 0, "an answer that arrives late");
    let next = pace.heard(Budget { remaining: 7, reset_at: at(9000) });
    assert_eq!(
        next.clone().heard(Budget { remaining: 0, reset_at: at(5000) }),
        next,
        "of a period that is over"
    );
}

#[test]
fn a_clock_that_was_set_back_does_not_stop_everything() {
    let settings = PaceSettings {
        write_interval_ms: 1000,
        limits: vec![RateLimit { counted: Counted::Writes, most: 1, per_ms: 1000 }],
    };
    let pace = Pace::default().admit(&Cost::WRITE, at(1_000_000), &settings).unwrap();
    assert!(pace.admit(&Cost::WRITE, at(0), &settings).is_ok(), "nobody knows how long ago it was");
    // A little: it may be the clock of another process. The moment that is named holds.
    let until = pace.admit(&Cost::WRITE, at(990_000), &settings).unwrap_err();
    assert!(ms(until) <= 1_001_017 && pace.admit(&Cost::WRITE, until, &settings).is_ok(), "{until}");
}

proptest! {
    /// In no time of the limit's length is there more than allowed, whatever is asked when; and what is
    /// stored is read as it was.
    #[test]
    fn no_time_has_more_than_allowed(
        requests in vec((0_i64..500, 1_u32..5), 1..200), most in 1_u32..12, per_ms in 1_u32..5000,
    ) {
        let settings = PaceSettings { write_interval_ms: 0, limits: vec![RateLimit { counted: Counted::Creations, most, per_ms }] };
        let (mut pace, mut now) = (Pace::default(), 0);
        let mut passed: Vec<(i64, u32)> = Vec::new();
        for (pause, count) in requests {
            now += pause;
            let count = count.min(most);
            match pace.admit(&Cost::create(count), at(now), &settings) {
                Ok(next) => {
                    pace = serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap();
                    prop_assert_eq!(&pace, &next);
                    passed.push((now, count));
                }
                Err(until) => {
                    prop_assert!(until > at(now));
                    prop_assert!(pace.admit(&Cost::create(count), until, &settings).is_ok(), "its word holds");
                }
            }
        }
        for (from, _) in &passed {
            let within = passed.iter().filter(|(at, _)| (*from..*from + i64::from(per_ms)).contains(at));
            prop_assert!(within.map(|(_, count)| count).sum::<u32>() <= most);
        }
    }
}
