//! Who acts, and in which session: what the environment says, and flags in its place.

use std::{error::Error, str::FromStr};

use stepmark_core::journal::{Actor, Attribution, SessionId};

use crate::{
    arguments::ActingArguments,
    exit::{Exit, Failure},
};

/// The session that a process belongs to.
pub(crate) const SESSION_VARIABLE: &str = "STEPMARK_SESSION";
const ACTOR_VARIABLE: &str = "STEPMARK_ACTOR";
const CORRELATION_VARIABLE: &str = "STEPMARK_CORRELATION";
const FENCE_VARIABLE: &str = "STEPMARK_FENCE";

/// How long what the caller finds events by may be, in bytes.
const LONGEST_CORRELATION: usize = 200;

/// Reads the attribution that the environment gives; `variable` answers with `None` for one that is not set.
pub(crate) fn from_variables(
    variable: impl Fn(&str) -> Result<Option<String>, Failure>,
) -> Result<Attribution, Failure> {
    let actor = match parsed::<Actor>(&variable, ACTOR_VARIABLE)? {
        Some(actor) => actor,
        None => user(&variable)?,
    };
    Ok(Attribution {
        actor,
        session: parsed::<SessionId>(&variable, SESSION_VARIABLE)?,
        correlation: variable(CORRELATION_VARIABLE)?.map(correlation).transpose()?,
        fence: parsed::<u64>(&variable, FENCE_VARIABLE)?,
    })
}

/// The same attribution, where what the flags say counts.
pub(crate) fn with_flags(mut attribution: Attribution, flags: &ActingArguments) -> Attribution {
    if let Some(actor) = &flags.actor {
        attribution.actor.clone_from(actor);
    }
    if let Some(session) = &flags.session {
        attribution.session = Some(session.clone());
    }
    attribution
}

fn parsed<T: FromStr<Err: Error>>(
    variable: impl Fn(&str) -> Result<Option<String>, Failure>,
    name: &str,
) -> Result<Option<T>, Failure> {
    let parse = |text: String| {
        text.parse().map_err(|error: T::Err| {
            Failure::new(Exit::Usage, format!("the environment variable {name} cannot be used: {error}"))
                .with_help(format!("correct it, or take it away: unset {name}"))
        })
    };
    variable(name)?.map(parse).transpose()
}

fn correlation(text: String) -> Result<String, Failure> {
    if text.len() > LONGEST_CORRELATION || text.chars().any(char::is_control) {
        let message = format!(
            "the environment variable {CORRELATION_VARIABLE} cannot be used: at most {LONGEST_CORRELATION} bytes without \
             control characters are wanted"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(text)
}

/// The person who is logged in; unknown where the system does not say.
fn user(variable: impl Fn(&str) -> Result<Option<String>, Failure>) -> Result<Actor, Failure> {
    for name in ["USER", "LOGNAME"] {
        if let Some(user) = variable(name)? {
            return Ok(format!("human:{user}").parse().unwrap_or_else(|_| Actor::unknown()));
        }
    }
    Ok(Actor::unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Attribution, Failure> {
        from_variables(|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            Ok(found.map(|(_, value)| (*value).to_owned()))
        })
    }

    #[test]
    fn the_environment_says_who_acts() {
        for (variables, actor) in [
            (&[][..], "unknown"),
            (&[("LOGNAME", "ada")], "human:ada"),
            (&[("USER", "eve"), ("LOGNAME", "ada")], "human:eve"),
            (&[("USER", "e\nve")], "unknown"),
            (&[("USER", "eve"), ("STEPMARK_ACTOR", "agent:writer")], "agent:writer"),
        ] {
            assert_eq!(read(variables).unwrap().actor.to_string(), actor, "{variables:?}");
        }
        let whole =
            read(&[("STEPMARK_SESSION", "s-1"), ("STEPMARK_CORRELATION", "run 7"), ("STEPMARK_FENCE", "12")]);
        let whole = whole.unwrap();
        assert_eq!(whole.session.as_ref().map(SessionId::as_str), Some("s-1"));
        assert_eq!((whole.correlation.as_deref(), whole.fence), (Some("run 7"), Some(12)));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for (name, value) in [
            ("STEPMARK_ACTOR", "writer"),
            ("STEPMARK_SESSION", "a/b"),
            ("STEPMARK_SESSION", "main"),
            ("STEPMARK_FENCE", "-1"),
            ("STEPMARK_CORRELATION", "a\nb"),
        ] {
            let failure = read(&[(name, value)]).unwrap_err();
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message.contains(name), "{failure:?}");
        }
    }

    #[test]
    fn flags_come_first() {
        let environment = read(&[("STEPMARK_SESSION", "s-1"), ("STEPMARK_ACTOR", "agent:a")]).unwrap();
        let session = Some("s-2".parse().unwrap());
        let flags = ActingArguments { actor: None, session };
        let attribution = with_flags(environment, &flags);
        assert_eq!(
            (attribution.actor.to_string(), attribution.session.map(String::from)),
            ("agent:a".into(), Some("s-2".into()))
        );
    }
}
