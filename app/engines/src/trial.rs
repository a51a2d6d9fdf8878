//! Whether a program is an engine, and which.

use std::time::Duration;

use engine::AnyGame;

use crate::bot::{GREETING, Session};
use crate::conversation::{Heard, Protocol, Question};
use crate::fault::Fault;
use crate::process::Program;
use crate::sandbox::Sandbox;

/// Time for the greeting of a program whose protocol is not known.
const GUESS: Duration = Duration::from_secs(5);

/// Time for the move that is asked for.
const MOVE: Duration = Duration::from_millis(200);

/// What a trial has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The name that it gives itself; may be empty.
    pub name: String,
}

/// Starts the program and asks it for a first move: by this protocol, or by one after the other. Fails with what went wrong,
/// of the protocol that it got furthest with. Takes as long as the engine; `stopped` ends it.
pub fn try_out(
    program: &Program,
    protocol: Option<Protocol>,
    sandbox: &Sandbox,
    stopped: &dyn Fn() -> bool,
) -> Result<Tried, Fault> {
    if let Some(protocol) = protocol {
        return try_one(program, protocol, sandbox, GREETING, stopped).map_err(|(_, fault)| fault);
    }
    let mut worst: Option<(bool, Fault)> = None;
    for protocol in Protocol::ALL {
        match try_one(program, protocol, sandbox, GUESS, stopped) {
            Ok(tried) => return Ok(tried),
            Err((_, fault @ Fault::NotStarted(_))) => return Err(fault),
            Err((greeted, fault)) => {
                if greeted || worst.is_none() {
                    worst = Some((greeted, fault));
                }
                if greeted || stopped() {
                    break;
                }
            }
        }
    }
    Err(worst.map_or(Fault::Silent, |(_, fault)| fault))
}

/// With a fault: whether the greeting was answered.
fn try_one(
    program: &Program,
    protocol: Protocol,
    sandbox: &Sandbox,
    greeting: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<Tried, (bool, Fault)> {
    let mut session = Session::start(program, protocol, sandbox).map_err(|fault| (false, fault))?;
    // Unsupported is said by a greeting.
    let greeted = session.greet(greeting, stopped).map_err(|fault| (fault == Fault::Unsupported, fault))?;
    if !greeted {
        return Err((false, Fault::Silent));
    }
    let setup = protocol.game().default_setup();
    debug_assert!(AnyGame::new(&setup).is_ok(), "the default setup is valid");
    let question = Question::new(&setup, &[], MOVE).ok_or((true, Fault::Unsupported))?;
    match session.answer(&question, stopped, &mut |_| {}) {
        Ok(Some(Heard::Answer(_))) => Ok(Tried { protocol, name: session.name() }),
        Ok(_) => Err((true, Fault::Silent)),
        Err(fault) => Err((true, fault)),
    }
}
