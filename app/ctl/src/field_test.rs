//! `qiyouctl field-test`: the field test (`client::field_test`) at a terminal.

use std::io::BufRead as _;
use std::path::Path;
use std::time::{Instant, SystemTime};

use client::field_test::{FieldTest, Interruption, Message, Output, Role, milliseconds, seconds};
use proto::control::event;
use serde_json::json;
use tokio::sync::mpsc;

use crate::connection::Failure;
use crate::conversation::{Conversation, forever};
use crate::meeting::comparison_text;

/// Runs the test to its end. Writes the report whether it succeeds or not.
pub(crate) async fn run(mut session: Conversation, role: Role, file: &Path) -> Result<(), Failure> {
    let mut test = FieldTest::new(role);
    let mut lines = lines();
    // What a line of the person answers.
    let mut comparing = None;
    // `None`: nobody is there.
    let mut person = Some(());
    let ended = loop {
        let mut ended = None;
        while let Some(output) = test.poll() {
            match output {
                Output::Ask(body) => {
                    let reply = session.host.ask(body).await;
                    let reply = match reply {
                        Err(Failure::DaemonLost) => return Err(Failure::DaemonLost),
                        other => other.map_err(|failure| failure.to_string()),
                    };
                    test.reply(reply, Instant::now());
                    test.handle(None, session.host.state(), Instant::now(), SystemTime::now());
                }
                Output::Say(message) => {
                    let (step, text) = words(&message);
                    session.print(|| text, || json!({"step": step, "say": words(&message).1}))?;
                    if let Message::Compare(comparison) = message {
                        comparing = Some(comparison.peer);
                    }
                }
                Output::Ended(result) => ended = Some(result),
            }
        }
        if let Some(ended) = ended {
            break ended;
        }
        if person.is_none() {
            if let Some(peer) = comparing.take() {
                test.compare(peer, false);
                continue;
            }
            // Without a person nobody says when they are back from a walk.
            if test.wants_confirmation() && test.measures().found.is_none() {
                test.confirm(Instant::now());
                continue;
            }
        }
        let waits = comparing.is_some() || test.wants_confirmation();
        let deadline = test.deadline().map_or_else(forever, Into::into);
        let event = tokio::select! {
            line = lines.recv(), if person.is_some() && waits => {
                match (line, comparing.take()) {
                    (None, peer) => (person, comparing) = (None, peer),
                    (Some(line), Some(peer)) => test.compare(peer, line.trim().eq_ignore_ascii_case("y")),
                    (Some(_), None) => test.confirm(Instant::now()),
                }
                continue;
            }
            event = session.host.next_until(deadline) => event?,
        };
        let body: Option<event::Body> = event.and_then(|event| event.body);
        test.handle(body.as_ref(), session.host.state(), Instant::now(), SystemTime::now());
    };
    let text = test.report(session.host.state(), SystemTime::now());
    std::fs::write(file, text).map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
    ended.map_err(|trouble| Failure::NotToBe(trouble.to_string()))?;
    let said = format!("Done. The report is {}: names, keys and addresses are not in it.", file.display());
    session.print(|| said, || json!({"file": file}))
}

/// Lines that the person types; closed when there is nobody.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (typed, lines) = mpsc::unbounded_channel();
    // Reads until the end of the input or of the program.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if typed.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The word for scripts and the text for people.
fn words(message: &Message) -> (&'static str, String) {
    match message {
        Message::Beside => (
            "beside",
            "Lay both devices beside each other. On the other one, run `qiyouctl field-test`, or begin the field test in the app. Then press Enter here.".into(),
        ),
        Message::Waiting => (
            "follow",
            "Waiting for the other device, where `qiyouctl field-test NAME` leads, with this device's name.".into(),
        ),
        Message::Found(time) => ("found", format!("Found after {}.", seconds(*time))),
        Message::Connected(time) => ("connected", format!("Connected after {}.", seconds(*time))),
        Message::Compare(comparison) => (
            "compare",
            format!(
                "{}\nHere: type y if both screens show the same, else n.",
                comparison_text(comparison)
            ),
        ),
        Message::Playing => ("playing", "The devices play some moves by themselves.".into()),
        Message::Echo(time) => (
            "echo",
            format!("A move is acknowledged after {} (p50).", time.map_or_else(String::new, milliseconds)),
        ),
        Message::Interrupt(what) => (
            what.name(),
            match what {
                Interruption::Range => {
                    "One of you: take a device and walk until the connection drops. Both screens say so."
                }
                Interruption::Bluetooth => {
                    "Here: switch Bluetooth off, with airplane mode or the desktop's switch."
                }
                Interruption::Lid => {
                    "Here: close the lid or suspend the device, wait half a minute, and open it again."
                }
            }
            .into(),
        ),
        Message::Lost(what) => (
            "lost",
            match what {
                None => "The connection has dropped.",
                Some(Interruption::Range) => {
                    "The connection has dropped. Come back, lay the devices beside each other, and press Enter here."
                }
                Some(Interruption::Bluetooth) => "The connection has dropped. Switch Bluetooth on again.",
                Some(Interruption::Lid) => "The connection has dropped. Open the lid again, if it is closed.",
            }
            .into(),
        ),
        Message::Back(time) => ("back", format!("Play goes on after {}.", seconds(*time))),
    }
}
