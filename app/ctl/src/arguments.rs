//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use client::field_test::Interruption;

use crate::device::DeviceCommand;

/// Play board games through a running qiyoud.
///
/// Exit codes: 0 done · 1 the host refused the request · 2 wrong usage · 3 no daemon is running · 4 the connection to the
/// daemon was lost · 5 timed out, or the other side declined · 6 `doctor` found a problem that prevents play.
#[derive(Parser)]
#[command(name = "qiyouctl", version)]
pub(crate) struct Arguments {
    /// Print one JSON object per line instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Path of the daemon's control socket [default: $XDG_RUNTIME_DIR/qiyou/control.sock]
    #[arg(long, global = true)]
    pub(crate) socket: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check this device for problems that prevent play, and print how to solve them
    Doctor,
    /// Write what helps to find a fault into a file for a bug report: versions, checks and the last lines of the log, without
    /// names, keys and addresses
    Report {
        /// Path of the report
        #[arg(long, default_value = "qiyou-report.txt")]
        file: PathBuf,
        /// File of the daemon's log [default: the journal of the user service qiyoud]
        #[arg(long)]
        log: Option<PathBuf>,
        /// Number of lines of the log
        #[arg(long, default_value_t = 200)]
        lines: usize,
    },
    /// Test two real devices with two people: one leads and says what to do, the other one follows; both write a report without
    /// names, keys and addresses
    FieldTest {
        /// Name or id of the other device, on the device that leads [default: follow the device that leads]
        who: Option<String>,
        /// Interruptions to try, on the device that leads
        #[arg(long, value_enum, value_delimiter = ',', default_values_t = [FieldStep::Range, FieldStep::Bluetooth, FieldStep::Lid])]
        steps: Vec<FieldStep>,
        /// Path of the report
        #[arg(long, default_value = "qiyou-field-test.md")]
        file: PathBuf,
    },
    /// Turn the Bluetooth adapter on, and start bluetoothd where it does not run
    PowerOn,
    /// Scan for other devices and list them
    Scan {
        /// Duration of the scan, in seconds
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
    /// Connect to a device nearby; for a device that is not a friend, print the short string to compare
    Meet {
        /// Name or id of the device, or its address on the local network, such as 192.168.1.20:47415
        who: String,
        #[command(flatten)]
        patience: Patience,
    },
    /// Print the addresses of this device on the local network, for `meet` on a device that does not find it
    Address,
    /// Confirm that both screens show the same short string
    Same {
        /// Name or id of the device compared with [default: the only comparison]
        who: Option<String>,
        /// Seconds to wait for the other person's answer; 0 does not wait
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// Report that the two screens show different short strings
    Different {
        /// Name or id of the device compared with [default: the only comparison]
        who: Option<String>,
    },
    /// Print this device's friend code as a QR code and a link; another person scans or pastes it to add a friend
    Code {
        /// Print the link without the QR code
        #[arg(long)]
        plain: bool,
    },
    /// Add a friend by a friend code that was scanned or pasted
    Add {
        /// The friend code, such as `qiyou:friend/1/…`
        code: String,
    },
    /// Show the XMPP account for online play and its state; with a name, sign in (reads the password from standard input)
    Account {
        /// Address of the account, such as `anna@example.org`
        name: Option<String>,
        /// Register the account first, if the server allows it
        #[arg(long, requires = "name")]
        make: bool,
        /// Server as host:port, instead of the SRV records of the account's domain
        #[arg(long, requires = "name", default_value = "", hide_default_value = true)]
        server: String,
        /// Seconds to wait until the account is online or has failed
        #[arg(long, default_value_t = 20)]
        wait: u64,
    },
    /// Sign out of the account
    SignOut {
        /// Also delete the stored password, and do not sign in at the next start
        #[arg(long)]
        forget: bool,
    },
    /// Sign in here when the account is in use on another device, which is signed out
    TakeOver,
    /// Show this player as away to the contacts of the account
    Away {
        /// Show this player as available again
        #[arg(long)]
        off: bool,
    },
    /// List the contacts of the account, with their presence
    Contacts,
    /// Request, accept, remove or block a contact of the account
    Contact {
        /// Address of the contact, such as `ben@example.org`
        account: String,
        /// Operation to carry out
        #[arg(value_enum, default_value_t = ContactDeed::Ask)]
        deed: ContactDeed,
    },
    /// List friends, and which of them are in reach
    Friends,
    /// Remove a friend
    Forget {
        /// Name or id of the friend
        who: String,
    },
    /// Invite someone to a match, and wait for the answer; connects first if necessary
    Invite {
        /// Name or id of the friend or device
        who: String,
        #[command(flatten)]
        game: GameChoice,
        #[command(flatten)]
        terms: TermsChoice,
        /// Return as soon as the invitation is sent, without waiting for the answer
        #[arg(long)]
        no_wait: bool,
        /// Begin a match without clocks now, and deliver the invitation when the friend is next in reach, even days later
        #[arg(long)]
        by_letter: bool,
        #[command(flatten)]
        patience: Patience,
    },
    /// Withdraw an invitation
    Withdraw {
        /// Id of the invitation, or name or id of the invited person [default: the only invitation]
        which: Option<String>,
    },
    /// List open invitations, sent and received
    Invitations,
    /// Accept an invitation
    Accept {
        /// Id of the invitation, or name or id of the sender [default: the only invitation]
        which: Option<String>,
        /// Seconds to wait for an invitation; 0 fails unless one is open now
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// Decline an invitation
    Decline {
        /// Id of the invitation, or name or id of the sender [default: the only invitation]
        which: Option<String>,
        /// Reason that the sender is shown
        #[arg(long, value_enum, default_value_t = Reason::NotNow)]
        reason: Reason,
    },
    /// Answer an invitation with a counter-offer of other terms, and wait for the answer
    Counter {
        /// Id of the invitation, or name or id of the sender [default: the only invitation]
        #[arg(long)]
        which: Option<String>,
        #[command(flatten)]
        game: GameChoice,
        #[command(flatten)]
        terms: TermsChoice,
        /// Return as soon as the counter-offer is sent, without waiting for the answer
        #[arg(long)]
        no_wait: bool,
    },
    /// Print the rules that a game, preset and options select, and the options available
    Rules {
        #[command(flatten)]
        game: GameChoice,
        /// Print the rules for two devices, where Lights Out is a race
        #[arg(long)]
        friend: bool,
    },
    /// Start a match on this device
    New {
        #[command(flatten)]
        game: GameChoice,
        /// Who plays the other side: `bot:N` with N from 1 to 10, such as 5.5, `bot:like-me`, `engine:NAME` (an engine that was added), `here`
        /// (a person at this device), or `guest` or `guest:NAME` (a person with a browser)
        #[arg(long, value_parser = parse_seat, default_value = "bot:5")]
        opponent: LocalSeat,
        /// Who plays the player's side: `here`, `bot:N` or `engine:NAME` (to watch two play), `guest` or `guest:NAME`
        #[arg(long, value_parser = parse_seat, default_value = "here")]
        player: LocalSeat,
        /// Colour of the player's side; `alternate` is valid for invitations only
        #[arg(long, value_enum, default_value_t = Colour::First)]
        colour: Colour,
        /// Time control: `none`, `15m` (per side), `5m+3s` (with an increment per move), `10m+3x30s` (with three byo-yomi
        /// periods) or `30s/move`
        #[arg(long, default_value = "none")]
        pace: String,
        /// Seconds that an engine takes for each move
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=60))]
        engine_seconds: u32,
    },
    /// Manage engines: other programs that play, by UCI, UCCI, GTP or the Gomocup protocol
    #[command(subcommand)]
    Engine(EngineCommand),
    /// Manage guests, who play or watch in a browser without Qiyou: their codes and seats
    #[command(subcommand)]
    Guest(GuestCommand),
    /// Keep a club evening: a round robin of up to 16 people near, with pairings by the Berger tables and standings
    #[command(subcommand)]
    Club(ClubCommand),
    /// Play an action, in the game's notation
    Play {
        /// The action, such as h8
        action: String,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Suggest an action for the side to move
    Hint {
        /// Number of principal variations to print with their winning chances and the threats; 0 prints the action alone
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
        lines: u32,
        /// Name of an engine to ask instead of this device's own bot
        #[arg(long, default_value = "", hide_default_value = true)]
        engine: String,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Print the board of a room
    Board {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Print every event until interrupted
    Watch {
        /// Also scan for other devices
        #[arg(long)]
        scan: bool,
    },
    /// Let a bot play this device's side until the match ends, and print the moves; not against another person
    Bot {
        /// Level of the bot, 1 to 10, such as 5 or 5.5
        #[arg(long, default_value = "5")]
        level: BotLevel,
        /// Seconds to wait for a match to begin; 0 fails unless one is open now
        #[arg(long, default_value_t = 0)]
        wait: u64,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Undo back to this side's last decision; against another device, its player is asked first
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
        /// Side that resigns, when both sides play at this device
        #[arg(long, value_enum)]
        side: Option<SideChoice>,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Pause the match and its clocks; against another device, its player is asked first
    Pause {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Continue a paused match; against another device, its player is asked first
    Continue {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Adjourn the match: once both sides agree, the rooms are closed and the match is kept
    Adjourn {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Analyse a finished match: step through positions and try moves, shared with a connected opponent
    Analyse {
        #[command(flatten)]
        step: AnalysisStep,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Start another match with the same setup and colours swapped
    NewGame {
        /// Keep the colours
        #[arg(long)]
        same_colours: bool,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Accept the offer of the other side
    Yes {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Decline the offer of the other side
    No {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Send a chat message to the player at the other device
    Say {
        /// Text of at most 200 characters, or with `--phrase` the name of a phrase such as `good-move`
        text: String,
        /// Send a fixed phrase, which each device shows in its own language
        #[arg(long)]
        phrase: bool,
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Mute a friend: hide the friend's chat messages
    Mute {
        /// Name or id of the friend
        who: String,
        /// Unmute
        #[arg(long)]
        off: bool,
    },
    /// Replace this device's record by the other device's, after the two records have diverged
    TakeTheirs {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// List open rooms
    Rooms,
    /// List kept matches, finished and unfinished, latest first
    Matches {
        /// Maximum number of matches to list
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Show what was played in a position of a kept match: next moves in all kept matches of the game, and how these ended
    Explore {
        /// Id of the match, or an unambiguous prefix of it
        id: String,
        /// Number of actions up to the position
        #[arg(long, default_value_t = 0)]
        ply: u32,
    },
    /// Open an unfinished kept match again
    Resume {
        /// Id of the match, or an unambiguous prefix of it
        id: String,
    },
    /// List the puzzles of a game, which are solved, your rating and today's five; without a game, count them and show today's
    /// Lights Out board
    Puzzles {
        /// Game whose puzzles are listed
        #[arg(value_enum)]
        game: Option<Game>,
        /// List your own mistakes of the game instead, those that are due first
        #[arg(long, requires = "game")]
        yours: bool,
        /// Make 20 more puzzles of the game on this device, which takes up to minutes and goes on if you interrupt, and then list them
        #[arg(long, requires = "game", conflicts_with = "yours")]
        make: bool,
    },
    /// Open a puzzle in a room, where `play`, `hint`, `take-back`, `new-game` (start over) and `close` work
    Puzzle {
        /// Id of the puzzle, as `puzzles` prints it [default: the unsolved puzzle of the game nearest to your rating]
        which: Option<String>,
        /// Game to choose a puzzle of, when no id is given
        #[arg(long, value_enum, default_value_t = Game::Gomoku)]
        game: Game,
        /// Your own mistake of the game that is due first
        #[arg(long, conflicts_with = "which")]
        yours: bool,
        /// The first of today's five of the game that is not solved
        #[arg(long, conflicts_with_all = ["which", "yours"])]
        today: bool,
    },
    /// Close a room; an unfinished match is kept
    Close {
        #[command(flatten)]
        room: RoomChoice,
    },
    /// Set the name that others see; without an argument, print it
    Name {
        /// The new name
        name: Option<String>,
    },
    /// Set who can see this device; without an argument, print it
    Visibility {
        /// The new visibility
        #[arg(value_enum)]
        to: Option<VisibilityChoice>,
    },
    #[command(flatten)]
    Device(DeviceCommand),
    /// Stop the daemon; matches are kept
    Stop,
}

/// An interruption of the link by people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldStep {
    /// A device is carried out of range and back
    Range,
    /// Bluetooth is switched off and on
    Bluetooth,
    /// The lid is closed and opened
    Lid,
}

impl From<FieldStep> for Interruption {
    fn from(step: FieldStep) -> Self {
        match step {
            FieldStep::Range => Self::Range,
            FieldStep::Bluetooth => Self::Bluetooth,
            FieldStep::Lid => Self::Lid,
        }
    }
}

#[derive(Args)]
pub(crate) struct RoomChoice {
    /// Id of the room, or an unambiguous prefix of it [default: the only room]
    #[arg(long)]
    pub(crate) room: Option<String>,
}

#[derive(Args)]
pub(crate) struct TermsChoice {
    /// Colour of this side; `random` is drawn by both devices together, `alternate` swaps the colours of the last match of
    /// this game
    #[arg(long, value_enum, default_value_t = Colour::Random)]
    pub(crate) colour: Colour,
    /// Time control: `none`, `15m` (per side), `5m+3s` (with an increment per move), `10m+3x30s` (with three byo-yomi
    /// periods) or `30s/move`
    #[arg(long, default_value = "none")]
    pub(crate) pace: String,
    /// Both may take hints of their device; each is told how many the other takes
    #[arg(long)]
    pub(crate) hints: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct AnalysisStep {
    /// Go to the position after this many actions of the record
    #[arg(long)]
    pub(crate) to: Option<u32>,
    /// Try a move from the position shown, in the game's notation
    #[arg(long = "try")]
    pub(crate) try_: Option<String>,
    /// Go back one move
    #[arg(long)]
    pub(crate) back: bool,
    /// Stop the analysis, and show the final position
    #[arg(long)]
    pub(crate) close: bool,
}

#[derive(Subcommand)]
pub(crate) enum EngineCommand {
    /// List the engines that were added
    List,
    /// List known engines in the path that were not added yet
    Find,
    /// Add an engine; it is started and asked for a move, which takes some seconds
    Add {
        /// Path of the program, or its name in the path
        program: String,
        /// Name in the list [default: the name that the engine gives itself]
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// Protocol that it speaks [default: each is tried]
        #[arg(long, value_enum)]
        protocol: Option<EngineProtocolChoice>,
        /// Arguments of the program, after `--` [default: those that a known program needs]
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Remove an engine from the list; the program stays
    Remove {
        /// Name in the list
        name: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum EngineProtocolChoice {
    Uci,
    Ucci,
    Gtp,
    Gomocup,
}

#[derive(Subcommand)]
pub(crate) enum GuestCommand {
    /// Print a code for a guest's seat as a QR code and a link, which a phone in the same network opens
    Code {
        /// Print the link without the QR code
        #[arg(long)]
        plain: bool,
        /// Replace the code by a new one; guests who used the old code are disconnected
        #[arg(long)]
        renew: bool,
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Revoke a code; guests who used it are disconnected
    Close {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Give a seat that is taken to another person who has used its code
    LetIn {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// Reject the other person who has used the code of a taken seat
    TurnAway {
        #[command(flatten)]
        place: GuestPlace,
    },
    /// List active codes, and the guests who have used them
    List,
    /// Make a Wi-Fi network for guests where there is none, and print its QR code, name and passphrase
    Hotspot {
        /// End the network
        #[arg(long)]
        off: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum ClubCommand {
    /// List the kept evenings
    List,
    /// Print the round that is played, who comes next, and the standings with the cross table
    Show {
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Open an evening; players are added before it is started
    New {
        /// Name of the evening
        name: String,
        #[command(flatten)]
        game: GameChoice,
        /// Time control of each match: `none`, `15m` (per side), `5m+3s` (with an increment per move), `10m+3x30s` (with three
        /// byo-yomi periods) or `30s/move`
        #[arg(long, default_value = "none")]
        pace: String,
        /// A double round robin: each pair meets twice, with both colours
        #[arg(long)]
        twice: bool,
    },
    /// Add a player, also a late comer until half of the rounds have begun, or one who has left
    Add {
        /// Name of the player; of a friend, name or id [default: this player's name, with `--as here`]
        name: Option<String>,
        /// Who the player is: the person at this device, a friend, a person with a browser, or one without a device
        #[arg(long = "as", value_enum, default_value_t = PlayerAs::Nobody)]
        r#as: PlayerAs,
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Remove a player from the list; after the start, the player has left
    Remove {
        /// Name or id of the player
        player: String,
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Make the pairings
    Start {
        /// Draw lots for the players' numbers, instead of the order of the list
        #[arg(long)]
        lots: bool,
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Let a pairing be played: in a room, by an invitation to a friend, or elsewhere
    Begin {
        /// Number of the round
        round: u32,
        /// Number of the board in the round
        board: u32,
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Set, correct or take back the result of a pairing
    Result {
        /// Number of the round
        round: u32,
        /// Number of the board in the round
        board: u32,
        /// Who won
        #[arg(value_enum)]
        result: Verdict,
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Finish an evening; pairings without a result count as not played
    Finish {
        #[command(flatten)]
        evening: ClubChoice,
    },
    /// Delete an evening; its matches stay
    Discard {
        #[command(flatten)]
        evening: ClubChoice,
    },
}

#[derive(Args)]
pub(crate) struct ClubChoice {
    /// Number of the evening [default: the latest]
    #[arg(long)]
    pub(crate) evening: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PlayerAs {
    Here,
    Friend,
    Guest,
    Nobody,
}

/// The result of a pairing.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Verdict {
    /// The first player won
    First,
    /// The second player won
    Second,
    /// Neither won
    Draw,
    /// The first player did not come
    FirstForfeits,
    /// The second player did not come
    SecondForfeits,
    /// Nobody has a point
    NotPlayed,
    /// Take the result back
    None,
}

#[derive(Args)]
pub(crate) struct GuestPlace {
    /// The code for the club evening that is not finished, instead of a room
    #[arg(long, conflicts_with_all = ["watch", "side", "room"])]
    pub(crate) evening: bool,
    /// The code for spectators instead of a seat
    #[arg(long, conflicts_with = "side")]
    pub(crate) watch: bool,
    /// Side of the seat, when both seats are for guests
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
    /// Seconds to search for the device and connect
    #[arg(long, default_value_t = 45)]
    pub(crate) seconds: u64,
}

#[derive(Args)]
pub(crate) struct GameChoice {
    /// Game to play
    #[arg(long, value_enum, default_value_t = Game::Gomoku)]
    pub(crate) game: Game,
    /// A named set of rule options, such as `japanese`; `qiyouctl rules` lists them
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) preset: String,
    /// A rule option, such as `size=9`; may be given several times
    #[arg(long = "option", short = 'o', value_name = "OPTION=VALUE", value_parser = parse_option)]
    pub(crate) options: Vec<(String, String)>,
    /// Begin from this position: a FEN, the line of a position, or a file with one of these, an SGF or a .psq
    #[arg(long, value_name = "POSITION|FILE", value_parser = parse_start)]
    pub(crate) from: Option<Start>,
}

/// A position as text, in the form in which the host reads it.
#[derive(Clone)]
pub(crate) struct Start(pub(crate) Vec<u8>);

fn parse_start(text: &str) -> Result<Start, String> {
    let path = std::path::Path::new(text);
    if !path.is_file() {
        return Ok(Start(text.as_bytes().to_vec()));
    }
    let length = path.metadata().map_err(|error| error.to_string())?.len();
    if length > proto::limits::START_TEXT_BYTES as u64 {
        return Err("the file is too long for a position".into());
    }
    std::fs::read(path).map(Start).map_err(|error| error.to_string())
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
    /// The number of this game in the schema.
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
    Bot(BotLevel),
    /// A bot at the level that fits the person here.
    AdaptiveBot,
    /// An engine of this name.
    Engine(String),
    /// With this name; empty: the guest chooses the name.
    Guest(String),
}

fn parse_seat(text: &str) -> Result<LocalSeat, String> {
    if text == "here" {
        return Ok(LocalSeat::Here);
    }
    if let Some(name) = text.strip_prefix("guest:").or((text == "guest").then_some("")) {
        return Ok(LocalSeat::Guest(name.into()));
    }
    if text == "bot:like-me" {
        return Ok(LocalSeat::AdaptiveBot);
    }
    if let Some(name) = text.strip_prefix("engine:").filter(|name| !name.is_empty()) {
        return Ok(LocalSeat::Engine(name.into()));
    }
    text.strip_prefix("bot:").and_then(|level| level.parse().ok()).map(LocalSeat::Bot).ok_or_else(|| {
        "expected `here`, `guest`, `guest:NAME`, `engine:NAME`, `bot:like-me` or `bot:N` with N from 1 to 10".into()
    })
}

/// A bot's level: 1 to 10 in tenths.
#[derive(Clone, Copy)]
pub(crate) struct BotLevel {
    pub(crate) whole: u32,
    pub(crate) tenths: u32,
}

impl std::str::FromStr for BotLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        match (whole.parse(), tenths.parse()) {
            (Ok(whole @ 1..=9), Ok(tenths @ 0..=9)) => Ok(Self { whole, tenths }),
            (Ok(whole @ 10), Ok(tenths @ 0)) => Ok(Self { whole, tenths }),
            _ => Err("expected a level from 1 to 10, with at most one digit after the point".into()),
        }
    }
}
