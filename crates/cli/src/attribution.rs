//! Actor and session, from flags, else from the environment.

use std::{
    error::Error,
    str::FromStr,
    thread::{self, JoinHandle},
};

use clap::{ArgMatches, Command};
use stepmark_model::journal::{Actor, Attribution, Kind, SessionId};
use stepmark_store::workspace::Workspace;

use crate::{
    arguments::ActingArguments,
    exit::{Exit, Failure},
};

pub(crate) const SESSION_VARIABLE: &str = "STEPMARK_SESSION";
const ACTOR_VARIABLE: &str = "STEPMARK_ACTOR";
const CORRELATION_VARIABLE: &str = "STEPMARK_CORRELATION";
const FENCE_VARIABLE: &str = "STEPMARK_FENCE";

/// In bytes.
const LONGEST_CORRELATION: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ActorSource {
    Named,
    User,
    Program,
    None,
}

const PROGRAMS: [(&str, &str); 7] = [
    ("CLAUDECODE", "agent:claude-code"),
    ("GEMINI_CLI", "agent:gemini-cli"),
    ("CURSOR_AGENT", "agent:cursor"),
    ("CODEX_SANDBOX", "agent:codex"),
    ("GITHUB_ACTIONS", "tool:github-actions"),
    ("GITLAB_CI", "tool:gitlab-ci"),
    ("CI", "tool:ci"),
];

pub(crate) fn from_variables(
    variable: impl Fn(&str) -> Result<Option<String>, Failure>,
) -> Result<(Attribution, ActorSource), Failure> {
    let (actor, source) = match parsed::<Actor>(&variable, ACTOR_VARIABLE)? {
        Some(actor) => (actor, ActorSource::Named),
        None => unnamed(&variable)?,
    };
    let attribution = Attribution {
        actor,
        session: parsed::<SessionId>(&variable, SESSION_VARIABLE)?,
        correlation: variable(CORRELATION_VARIABLE)?.map(correlation).transpose()?,
        fence: parsed::<u64>(&variable, FENCE_VARIABLE)?,
    };
    Ok((attribution, source))
}

pub(crate) fn with_flags(
    (mut attribution, mut source): (Attribution, ActorSource),
    flags: &ActingArguments,
) -> (Attribution, ActorSource) {
    if let Some(actor) = &flags.actor {
        attribution.actor.clone_from(actor);
        source = ActorSource::Named;
    }
    if let Some(session) = &flags.session {
        attribution.session = Some(session.clone());
    }
    (attribution, source)
}

/// `--agent` names the actor, unless `--actor` does. In moves of packs it is a value: the agent that gets the
/// work.
pub(crate) fn name_agent(acting: &mut ActingArguments, program: &Command, found: &ArgMatches) {
    if let Some((name, found)) = found.subcommand() {
        return program.find_subcommand(name).map_or((), |program| name_agent(acting, program, found));
    }
    let is_option = program.get_arguments().any(|own| own.get_long() == Some("agent"));
    let agent = found.try_get_one::<String>("agent").ok().flatten().filter(|_| is_option);
    let actor = || format!("agent:{}", agent?).parse().ok();
    acting.actor = acting.actor.take().or_else(actor);
}

/// The actor is the one named, else that of the session, the environment, git's user, or the machine.
pub(crate) fn settled(
    workspace: Workspace,
    (attribution, source): (Attribution, ActorSource),
    host: Option<String>,
    is_ahead: bool,
) -> Workspace {
    let of_session = |session: &SessionId| {
        // Commands that use the journal report its faults.
        let events = workspace.history().ask(|history| history.of_session(session.as_str())).ok()?;
        let start = events.into_iter().find(|event| event.kind == Kind::SESSION_START)?;
        Some(start.actor).filter(|actor| *actor != Actor::unknown())
    };
    let is_named = source == ActorSource::Named;
    let found = attribution.session.as_ref().filter(|_| !is_named).and_then(of_session);
    match found {
        Some(actor) => workspace.with_attribution(Attribution { actor, ..attribution }),
        None if source == ActorSource::None => {
            let question = GitQuestion::ask(&workspace, host, attribution, is_ahead);
            workspace.with_attribution_of(move || question.answer())
        }
        None => workspace.with_attribution(attribution),
    }
}

/// Asks git in the background for commands that need the answer, else on demand: a reading command starts no
/// program.
struct GitQuestion(Option<JoinHandle<Attribution>>, Option<Guess>);

type Guess = Box<dyn FnOnce() -> Attribution + Send + Sync>;

impl GitQuestion {
    fn ask(workspace: &Workspace, host: Option<String>, attribution: Attribution, is_ahead: bool) -> Self {
        let own = workspace.clone();
        let guess = move || {
            let of_git = own.repository().user().and_then(|user| format!("human:{user}").parse().ok());
            let guessed = of_git.or_else(|| host.as_deref().map(Actor::unknown_at));
            Attribution { actor: guessed.unwrap_or_else(|| attribution.actor.clone()), ..attribution }
        };
        let ahead = is_ahead.then(|| thread::Builder::new().spawn(guess.clone()).ok()).flatten();
        Self(ahead, Some(Box::new(guess)))
    }

    fn answer(mut self) -> Attribution {
        let ahead = self.0.take().and_then(|thread| thread.join().ok());
        ahead.or_else(|| self.1.take().map(|guess| guess())).unwrap_or_default()
    }
}

/// Waits for git in any case: it must not be left running in the project's folder.
impl Drop for GitQuestion {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            thread.join().ok();
        }
    }
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

/// The logged-in user, else the parent program; in a container often neither is known.
fn unnamed(
    variable: impl Fn(&str) -> Result<Option<String>, Failure>,
) -> Result<(Actor, ActorSource), Failure> {
    for name in ["USER", "LOGNAME"] {
        if let Some(actor) = variable(name)?.and_then(|user| format!("human:{user}").parse().ok()) {
            return Ok((actor, ActorSource::User));
        }
    }
    for (name, actor) in PROGRAMS {
        if variable(name)?.is_some_and(|value| value != "false" && value != "0") {
            return Ok((actor.parse().unwrap_or_else(|_| Actor::unknown()), ActorSource::Program));
        }
    }
    Ok((Actor::unknown(), ActorSource::None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Attribution, Failure> {
        from_variables(|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            Ok(found.map(|(_, value)| (*value).to_owned()))
        })
        .map(|(attribution, _)| attribution)
    }

    #[test]
    fn the_environment_says_who_acts() {
        for (variables, actor) in [
            (&[][..], "unknown"),
            (&[("LOGNAME", "ada")], "human:ada"),
            (&[("USER", "eve"), ("LOGNAME", "ada")], "human:eve"),
            (&[("USER", "e\nve")], "unknown"),
            (&[("USER", "eve"), ("STEPMARK_ACTOR", "agent:writer")], "agent:writer"),
            (&[("USER", "eve"), ("CLAUDECODE", "1")], "human:eve"),
            (&[("CI", "true"), ("GITHUB_ACTIONS", "true")], "tool:github-actions"),
            (&[("CI", "true"), ("CLAUDECODE", "1")], "agent:claude-code"),
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
        let (attribution, _) = with_flags((environment, ActorSource::Named), &flags);
        assert_eq!(
            (attribution.actor.to_string(), attribution.session.map(String::from)),
            ("agent:a".into(), Some("s-2".into()))
        );
    }
}
