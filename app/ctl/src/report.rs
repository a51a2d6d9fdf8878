//! `qiyouctl report`: what helps to find a fault, in one file that names nobody.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use client::device::{checks, this_device};
use client::redact::Redactor;
use client::{HostState, words};
use proto::control::{Diagnose, reply, request};
use serde_json::json;

use crate::connection::{Connection, Failure};
use crate::conversation::Conversation;

/// A report of this device, and of the daemon if one runs: faults that keep it from starting are worth a report too.
pub(crate) async fn report(
    socket: &Path,
    json: bool,
    file: &Path,
    log: Option<&Path>,
    lines: usize,
) -> Result<(), Failure> {
    let (host, diagnosis, trouble) = match Connection::open(socket).await {
        Ok(mut host) => match host.ask(request::Body::Diagnose(Diagnose {})).await {
            Ok(reply::Body::Diagnosis(diagnosis)) => (Some(host), Some(diagnosis), None),
            Ok(_) => (Some(host), None, Some("the daemon's answer is not a diagnosis".into())),
            Err(failure) => (Some(host), None, Some(failure.to_string())),
        },
        Err(failure) => (None, None, Some(failure.to_string())),
    };
    let state = host.as_ref().map(Connection::state);
    let mut text = String::new();
    if let Some(trouble) = trouble {
        let _ = writeln!(text, "daemon: {trouble}");
    }
    if let Some(state) = state {
        text += &features(state);
    }
    if let Some(diagnosis) = &diagnosis {
        let _ = write!(text, "\n## Doctor\n\n{}", checks(diagnosis));
    }
    let _ = write!(text, "\n## Last lines of the log\n\n{}", log_lines(log, lines)?);
    // A player may be called like the device, whose model is no secret.
    let text = format!("# Report of Qiyou\n\n{}{}", this_device(), Redactor::new(state).redact(&text));
    std::fs::write(file, text + "\n")
        .map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
    let conversation = |host| Conversation { host, json };
    let said = format!(
        "written: {}. Read it before you send it: names, keys and addresses are removed.",
        file.display()
    );
    match host {
        Some(host) => conversation(host).print(|| said, || json!({"file": file})),
        None if json => {
            println!("{}", json!({"file": file}));
            Ok(())
        }
        None => {
            println!("{said}");
            Ok(())
        }
    }
}

/// What the host can do, and how much it holds: numbers only.
fn features(state: &HostState) -> String {
    let radios: Vec<String> = state
        .radios
        .values()
        .map(|radio| {
            let unused = if radio.unused { ", turned off" } else { "" };
            format!("{} {}{unused}", words::carrier(radio.carrier), words::radio(radio.state))
        })
        .collect();
    let online = if state.account.is_some() { ", online play" } else { "" };
    let guests = if state.me.has_guests { ", guests" } else { "" };
    format!(
        "features: carriers {}{online}{guests}\nholds: {} friends, {} rooms, {} nearby\n",
        if radios.is_empty() { "none".into() } else { radios.join(", ") },
        state.friends.len(),
        state.rooms.len(),
        state.nearby.len(),
    )
}

/// The last lines of this file, or of the daemon's journal.
fn log_lines(file: Option<&Path>, lines: usize) -> Result<String, Failure> {
    let text = match file {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?,
        None => match journal(lines) {
            Some(text) => text,
            None => "none: the daemon was not started by systemd. Start it by hand, and name its output with --log.".into(),
        },
    };
    let all: Vec<&str> = text.lines().collect();
    Ok(all[all.len().saturating_sub(lines)..].join("\n"))
}

/// The journal of the user's service; `None`: there is none.
fn journal(lines: usize) -> Option<String> {
    let output = Command::new("journalctl")
        .args(["--user", "--unit", "qiyoud", "--no-pager", "--output", "cat", "--lines", &lines.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !text.trim().is_empty()).then_some(text)
}
