//! The protocol between the lab and the agent in a guest: JSON, one message a line.

use serde::{Deserialize, Serialize};

/// Lab to agent. The agent answers each with a [`Message::Answer`] of the same number, in any order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) number: u64,
    pub(crate) what: What,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum What {
    /// Runs a program to its end.
    Run { program: Program, limit_ms: u64 },
    /// Starts a program that stays, under a name; its end is a [`Message::Ended`].
    Start { name: String, program: Program, output: Output },
    /// Sends a signal to a started program and waits for its end.
    Kill { name: String, signal: i32 },
    /// Reads a file.
    Fetch { path: String },
    /// Unplugs the adapter; answered when the kernel has removed it.
    Unplug,
    /// Plugs the adapter in.
    Plug,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) arguments: Vec<String>,
    pub(crate) user: User,
    pub(crate) environment: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum User {
    Root,
    /// The player: an ordinary user, id 1000, in no group.
    Player,
}

/// Where the output of a started program goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Output {
    /// `/var/log/NAME.log`, both streams.
    Log,
    /// Standard output is returned as [`Message::Line`]; standard error goes to the log.
    Lines,
}

/// Agent to lab. Times are microseconds since the agent started, on the guest's own clock.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The agent runs and the controller's cable is plugged in.
    Ready {
        kernel: String,
    },
    Answer {
        number: u64,
        result: Result<Done, String>,
    },
    Line {
        name: String,
        at: u64,
        text: String,
    },
    Ended {
        name: String,
        code: Option<i32>,
    },
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Exit code of a program that ran; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How long it ran, in microseconds.
    pub(crate) took: u64,
    /// A fetched file, in hexadecimal.
    pub(crate) file: String,
}

/// Names of the virtio-serial ports of a guest.
pub(crate) const AGENT_PORT: &str = "agent";
pub(crate) const HCI_PORT: &str = "hci";
