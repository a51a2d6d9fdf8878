//! The connection to the daemon, and why a command fails.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::{HostState, Lost, words};
use proto::control::{Event, Refusal, RefusalCode, reply, request};
use proto::frame::FrameError;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout, timeout_at};

/// A host answers at once; without an answer in this time it hangs.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the host refused: {}", refusal_words(.0))]
    Refused(Refusal),
    #[error("{0}")]
    Usage(String),
    #[error("no daemon listens at {}: {error}", path.display())]
    NoDaemon { path: PathBuf, error: io::Error },
    #[error("the daemon went away")]
    DaemonLost,
    #[error("{0}")]
    NotToBe(String),
    #[error("something stops play on this device")]
    Unwell,
    #[error("{0}")]
    Other(String),
    #[error("nobody reads the output")]
    NobodyReads,
}

impl Failure {
    /// The exit code; documented in `--help`.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::NobodyReads => 0,
            Self::Refused(_) | Self::Other(_) => 1,
            Self::Usage(_) => 2,
            Self::NoDaemon { .. } => 3,
            Self::DaemonLost => 4,
            Self::NotToBe(_) => 5,
            Self::Unwell => 6,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let code = match self {
            Self::Refused(refusal) => words::refusal(refusal.code),
            _ => String::new(),
        };
        json!({"error": self.to_string(), "exit": self.code(), "refusal": code, "remedy": self.remedy()})
    }

    /// What the person can do.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoDaemon { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                Some("The socket belongs to another user: run qiyouctl as the user whose qiyoud it is.")
            }
            Self::NoDaemon { .. } => Some(
                "Start one with `qiyoud`, or `qiyoud --no-bluetooth` to play alone; --socket names another.",
            ),
            Self::DaemonLost => Some("Start it again with `qiyoud`: everything was saved."),
            Self::Refused(refusal) => match refusal.code() {
                RefusalCode::RefusalRadio => Some("`qiyouctl doctor` tells what is wrong."),
                RefusalCode::RefusalNotCompared => {
                    Some("Compare the strings on both screens, then `qiyouctl same`.")
                }
                RefusalCode::RefusalDisk => Some("Free some space: nothing is lost."),
                RefusalCode::RefusalVersion => {
                    Some("qiyouctl and qiyoud are of different versions: update both.")
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn refusal_words(refusal: &Refusal) -> String {
    if refusal.detail.is_empty() { refusal.code().as_str_name().into() } else { refusal.detail.clone() }
}

/// An attached connection, with deadlines.
pub(crate) struct Connection {
    host: client::Connection<UnixStream>,
}

impl Connection {
    /// Connects, attaches and reads the present state.
    pub(crate) async fn open(path: &Path) -> Result<Self, Failure> {
        let stream = UnixStream::connect(path)
            .await
            .map_err(|error| Failure::NoDaemon { path: path.to_owned(), error })?;
        let name = concat!("qiyouctl ", env!("CARGO_PKG_VERSION"));
        let host = in_time(REPLY_TIMEOUT, client::Connection::attach(stream, name)).await?;
        Ok(Self { host })
    }

    /// What the daemon has told so far.
    pub(crate) fn state(&self) -> &HostState {
        self.host.state()
    }

    /// Sends a request and waits for its reply. A refusal is an error.
    pub(crate) async fn ask(&mut self, body: request::Body) -> Result<reply::Body, Failure> {
        in_time(REPLY_TIMEOUT, self.host.ask(body)).await
    }

    /// As [`ask`](Self::ask), for a request that takes the host this long.
    pub(crate) async fn ask_within(
        &mut self,
        most: Duration,
        body: request::Body,
    ) -> Result<reply::Body, Failure> {
        in_time(most, self.host.ask(body)).await
    }

    /// The next event; `None` if the deadline passes first.
    pub(crate) async fn next_until(&mut self, deadline: Instant) -> Result<Option<Event>, Failure> {
        match timeout_at(deadline, self.host.next()).await {
            Err(_) => Ok(None),
            Ok(event) => Ok(Some(event.map_err(lost)?)),
        }
    }
}

async fn in_time<T>(
    most: Duration,
    answer: impl Future<Output = Result<T, client::Failure>>,
) -> Result<T, Failure> {
    match timeout(most, answer).await {
        Err(_) => Err(Failure::Other("the daemon does not answer".into())),
        Ok(answer) => answer.map_err(|failure| match failure {
            client::Failure::Refused(refusal) => Failure::Refused(refusal),
            client::Failure::Lost(why) => lost(why),
        }),
    }
}

fn lost(why: Lost) -> Failure {
    match why {
        Lost::Closed | Lost::Frame(FrameError::Io(_) | FrameError::Truncated { .. }) => Failure::DaemonLost,
        other => Failure::Other(format!("the daemon speaks another language: {other}")),
    }
}
