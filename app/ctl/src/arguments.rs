//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::device::DeviceCommand;

/// Play board games through a running qiyoud.
///
/// Exit codes: 0 done · 1 the host refused · 2 wrong usage · 3 no daemon runs · 4 the daemon went away · 5 it did not come to
/// be in time, or the other side said no · 6 the doctor found what stops play.
#[derive(Parser)]
#[command(name = "qiyouctl", version)]
pub(crate) struct Arguments {
    /// One JSON object a line instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The daemon's socket [default: $XDG_RUNTIME_DIR/qiyou/control.sock]
    #[arg(long, global = true)]
    pub(crate) socket: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// What is right and wrong with this device, and the remedies
    Doctor,
    /// Turn the Bluetooth adapter on
    PowerOn,
    /// Look around for other devices
    Scan {
        /// How long
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
    /// Connect to a device nearby, and show the string to compare when it is unknown
    Meet {
        /// Its name or id
        who: String,
        #[command(flatten)]
        patience: Patience,
    },
    /// Both screens show the same string
    Same {
        /// With whom [default: the only one]
        who: Option<String>,
        /// Seconds to wait for the other person's answer; 0: do not wait
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// The screens show different strings
    Different {
        /// With whom [default: the only one]
        who: Option<String>,
    },
    /// Who this device is, as a QR code and a link: another person scans or pastes it to add a friend
    Code {
        /// The link only
        #[arg(long)]
        plain: bool,
    },
    /// Add a friend whose code was scanned or pasted
    Add {
        /// Such as `qiyou:friend/1/…`
        code: String,
    },
    /// The account for play over the internet, and how it is; with a name, sign in: the password is read from standard input
    Account {
        /// Such as `anna@example.org`
        name: Option<String>,
        /// Create the account, if the server allows it
        #[arg(long, requires = "name")]
        make: bool,
        /// host:port of the server, instead of what its domain says
        #[arg(long, requires = "name", default_value = "", hide_default_value = true)]
        server: String,
        /// Seconds to wait until it is online or cannot be
        #[arg(long, default_value_t = 20)]
        wait: u64,
    },
    /// Leave the account
    SignOut {
        /// Forget the password too, and do not sign in at the next start
        #[arg(long)]
        forget: bool,
    },
    /// Signed in on another device: stay here, and leave there
    TakeOver,
    /// Show contacts that this player is away, or back
    Away {
        /// Back again
        #[arg(long)]
        off: bool,
    },
    /// Contacts of the account, and who of them is online
    Contacts,
    /// Ask somebody to be a contact, accept who asks, remove or block
    Contact {
        /// Such as `ben@example.org`
        account: String,
        /// What to do
        #[arg(value_enum, default_value_t = ContactDeed::Ask)]
        deed: ContactDeed,
    },
    /// Friends, and who of them is here
    Friends,
    /// Remove a friend
    Forget {
        /// Its name or id
        who: String,
    },
    /// Ask for a match, and wait for the answer; meets first when need be
    Invite {
        /// Name or id
        who: String,
        #[command(flatten)]
        game: GameChoice,
        #[command(flatten)]
        terms: TermsChoice,
        /// Return as soon as it is sent rather than answered
        #[arg(long)]
        no_wait: bool,
        /// A friend who is away is asked when it comes by, even days later: the match begins here at once, without clocks
        #[arg(long)]
        by_letter: bool,
        #[command(flatten)]
        patience: Patience,
    },
    /// Withdraw an invitation
    Withdraw {
        /// Its id, or to whom [default: the only one]
        which: Option<String>,
    },
    /// Invitations of either side
    Invitations,
    /// Accept an invitation
    Accept {
        /// Its id, or from whom [default: the only one]
        which: Option<String>,
        /// Seconds to wait for one; 0: there must be one now
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// Decline an invitation
    Decline {
        /// Its id, or from whom [default: the only one]
        which: Option<String>,
        /// Why
        #[arg(long, value_enum, default_value_t = Reason::NotNow)]
        reason: Reason,
    },
    /// Answer an invitation with one of other terms, and wait for the answer to that
    Counter {
        /// Id of theirs, or from whom [default: the only one]
        #[arg(long)]
        which: Option<String>,
        #[command(flatten)]
        game: GameChoice,
        #[command(flatten)]
        terms: TermsChoice,
        /// Return as soon as it is sent rather than answered
        #[arg(long)]
        no_wait: bool,
    },
    /// The rules that a choice makes, and what else could be chosen
    Rules {
        #[command(flatten)]
        game: GameChoice,
        /// As two play it on two devices: Lights Out is a race then
        #[arg(long)]
        friend: bool,
    },
    /// A match on this device
    New {
        #[command(flatten)]
        game: GameChoice,
        /// `bot:N` with N from 1 to 10, `here` for two people at this device, `guest` or `guest:NAME` for somebody with a browser
        #[arg(long, value_parser = parse_seat, default_value = "bot:5")]
        opponent: LocalSeat,
        /// `here`, or `bot:N` to watch two bots; also `guest` or `guest:NAME`
        #[arg(long, value_parser = parse_seat, default_value = "here")]
        player: LocalSeat,
        /// The player's colour; `alternate` is for invitations
        #[arg(long, value_enum, default_value_t = Colour::First)]
        colour: Colour,
        /// The clocks: `none`, `15m`, `5m+3s`, `10m+3x30s` or `30s/move`
        #[arg(long, default_value = "none")]
        pace: String,
    },
    /// People with a browser and without Qiyou: codes for a guest's seat or to watch, and who came by them
    #[command(subcommand)]
    Guest(GuestCommand),
    /// Play an action, in the game's notation
    Play {
        /// Such as h8
        action: String,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// A good action for whoever is to move
    Hint {
        /// So many lines of play with the chance of winning, and what is threatened; 0: the action alone
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
        lines: u32,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Show the board
    Board {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Tell everything that happens until interrupted
    Watch {
        /// Look around for other devices meanwhile
        #[arg(long)]
        scan: bool,
    },
    /// Let a bot play this device's side until the match is over, and print the moves
    Bot {
        /// 1 to 10
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
        level: u32,
        /// Seconds to wait for a match to begin; 0: there must be one now
        #[arg(long, default_value_t = 0)]
        wait: u64,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Undo back to this side's last decision; another device's player is asked
    TakeBack {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Offer a draw
    Draw {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Resign
    Resign {
        /// Which side, when both are here
        #[arg(long, value_enum)]
        side: Option<SideChoice>,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Nobody plays and no clock runs until both want to go on; another device's player is asked
    Pause {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Go on after a pause; another device's player is asked
    Continue {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Pause until another day; when both agree the rooms are closed and the match is kept
    Adjourn {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// After the end, look at positions and try moves, together with the other device if there is one
    Analyse {
        #[command(flatten)]
        step: AnalysisStep,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Another game of the same setup with colours swapped
    NewGame {
        /// With the same colours
        #[arg(long)]
        same_colours: bool,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Accept what the other side offers
    Yes {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Decline what the other side offers
    No {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Say something to the player at the other device
    Say {
        /// Your own words, at most 200 characters, or with `--phrase` the name of a phrase such as `good-move`
        text: String,
        /// One of the phrases that each device shows in its own language
        #[arg(long)]
        phrase: bool,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Mute a friend: what they say is not shown
    Mute {
        /// Name or id
        who: String,
        /// Unmute
        #[arg(long)]
        off: bool,
    },
    /// The two devices have different moves: use the other device's
    TakeTheirs {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Open rooms
    Rooms,
    /// Matches that were played or go on, the latest first
    Matches {
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Open a kept match again
    Resume {
        /// Id of the match, or the beginning of it
        id: String,
    },
    /// Puzzles of a game, with which of them are solved; without a game how many there are, and today's board of lights
    Puzzles {
        /// Which game
        #[arg(value_enum)]
        game: Option<Game>,
    },
    /// Try a puzzle: `play`, `hint`, `take-back`, `new-game` (begin again) and `close` work in its room
    Puzzle {
        /// Its id, as `puzzles` lists it [default: the easiest of the game that is not solved]
        which: Option<String>,
        /// Of which game, without an id
        #[arg(long, value_enum, default_value_t = Game::Gomoku)]
        game: Game,
    },
    /// Leave a room; an unfinished match is kept
    Close {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// What others see; without an argument, show it
    Name {
        /// The new name
        name: Option<String>,
    },
    /// Who may see this device; without an argument, show it
    Visibility {
        /// The new choice
        #[arg(value_enum)]
        to: Option<VisibilityChoice>,
    },
    #[command(flatten)]
    Device(DeviceCommand),
    /// End the daemon; everything is kept
    Stop,
}

#[derive(Args)]
pub(crate) struct RoomChoice {
    /// Id of the room, or the beginning of it [default: the only one]
    #[arg(long)]
    pub(crate) room: Option<String>,
}

#[derive(Args)]
pub(crate) struct TermsChoice {
    /// This side's colour; `random` is drawn by both devices, `alternate` is not as in the last match of this game
    #[arg(long, value_enum, default_value_t = Colour::Random)]
    pub(crate) colour: Colour,
    /// The clocks: `none`, `15m`, `5m+3s`, `10m+3x30s` or `30s/move`
    #[arg(long, default_value = "none")]
    pub(crate) pace: String,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct AnalysisStep {
    /// The position after so many actions of the record
    #[arg(long)]
    pub(crate) to: Option<u32>,
    /// A move from what is shown, in the game's notation
    #[arg(long = "try")]
    pub(crate) try_: Option<String>,
    /// One move back
    #[arg(long)]
    pub(crate) back: bool,
    /// Back to the end of the record
    #[arg(long)]
    pub(crate) close: bool,
}

#[derive(Subcommand)]
pub(crate) enum GuestCommand {
    /// Show a code for a guest's seat, as a QR code and a link: a phone in the same network opens it
    Code {
        /// The link only
        #[arg(long)]
        plain: bool,
        /// Another code in the place of the one before: whoever came by that is sent away
        #[arg(long)]
        renew: bool,
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Close a code: whoever came by it is sent away
    Close {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Give the taken seat to the person who has come by its code as well
    LetIn {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Let the guest keep the seat
    TurnAway {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Codes that are shown, and who has come by them
    List,
}

#[derive(Args)]
pub(crate) struct GuestPlace {
    /// To watch, rather than for a seat
    #[arg(long, conflicts_with = "side")]
    pub(crate) watch: bool,
    /// Which side, when both are guests'
    #[arg(long, value_enum)]
    pub(crate) side: Option<SideChoice>,
    #[command(flatten)]
    pub(crate) room: RoomChoice,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Reason {
    NotNow,
    Busy,
    OtherGame,
    OtherRules,
    Later,
}

#[derive(Args)]
pub(crate) struct Patience {
    /// Seconds to look for the device and to connect
    #[arg(long, default_value_t = 45)]
    pub(crate) seconds: u64,
}

#[derive(Args)]
pub(crate) struct GameChoice {
    /// Which game
    #[arg(long, value_enum, default_value_t = Game::Gomoku)]
    pub(crate) game: Game,
    /// A way of playing that has a name, such as `japanese`; `qiyouctl rules` lists them
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) preset: String,
    /// One option of the rules, such as `size=9`; may be given many times
    #[arg(long = "option", short = 'o', value_name = "OPTION=VALUE", value_parser = parse_option)]
    pub(crate) options: Vec<(String, String)>,
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (option, value) = text.split_once('=').ok_or("expected OPTION=VALUE, such as `size=9`")?;
    Ok((option.into(), value.into()))
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Game {
    Gomoku,
    Liuzhou,
    Go,
    Xiangqi,
    LightsOut,
}

impl Game {
    /// As the schema says it.
    pub(crate) fn number(self) -> proto::board::Game {
        match self {
            Self::Gomoku => proto::board::Game::Gomoku,
            Self::Liuzhou => proto::board::Game::Liuzhou,
            Self::Go => proto::board::Game::Go,
            Self::Xiangqi => proto::board::Game::Xiangqi,
            Self::LightsOut => proto::board::Game::LightsOut,
        }
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Colour {
    First,
    Second,
    Random,
    Alternate,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ContactDeed {
    Ask,
    Accept,
    Remove,
    Block,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SideChoice {
    First,
    Second,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum VisibilityChoice {
    Nobody,
    Friends,
    Everyone,
}

/// Who plays a side in a match on this device.
#[derive(Clone)]
pub(crate) enum LocalSeat {
    Here,
    Bot(u32),
    /// By this name; empty: as the guest says.
    Guest(String),
}

fn parse_seat(text: &str) -> Result<LocalSeat, String> {
    if text == "here" {
        return Ok(LocalSeat::Here);
    }
    if let Some(name) = text.strip_prefix("guest:").or((text == "guest").then_some("")) {
        return Ok(LocalSeat::Guest(name.into()));
    }
    text.strip_prefix("bot:")
        .and_then(|level| level.parse().ok())
        .filter(|level| (1..=10).contains(level))
        .map(LocalSeat::Bot)
        .ok_or_else(|| "expected `here`, `guest`, `guest:NAME` or `bot:N` with N from 1 to 10".into())
}
