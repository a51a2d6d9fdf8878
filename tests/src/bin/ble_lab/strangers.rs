//! Interoperability and attacks: a central with another Bluetooth stack, written from the protocol's description, meets a host,
//! violates its protocol, plays a whole match with it, and acts as man in the middle.
//!
//! The stranger is a Python program (`tests/ble-lab/stranger`) on a controller of its own, beside those of the guests. It
//! reports what it saw; the expectations are here.

use crate::lab::{ADDRESS_OF_A, Lab};
use crate::orders::{Output, User};
use crate::player::{Comparison, Player, Saved};
use crate::report::{Quantiles, Report};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Limit between two reports of a stranger: at most a meeting with a guest on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a host ends a link after each violation. `Some` is the reason of a goodbye (`ByeReason`), which the host can only
/// send to a peer that still speaks in frames.
const ANSWERS: [(&str, &str, Option<u32>); 12] = [
    ("no greeting", "none", None),
    ("random values in between", "hello from Ann", None),
    ("an unknown message", "unsupported", None),
    ("a flood of greetings", "hello from Ann", None),
    ("no word at all", "hung up", None),
    ("a greeting and no more", "hung up", None),
    ("a greeting of version 9", "refused: versions 2 to 2, hung up", None),
    ("no handshake", "hung up", None),
    ("a handshake with a bent proof", "hung up", None),
    ("a frame with another magic", "hung up", None),
    ("a message before the hello", "hung up", Some(BYE_VIOLATION)),
    ("a hello of versions nobody speaks", "hung up", Some(BYE_VERSION)),
];
/// The stages after which a stranger leaves without a goodbye and returns at once.
const LEAVES_AFTER: [&str; 7] =
    ["a connection", "a connection", "a greeting", "a greeting", "a hello", "a hello", "a hello"];

/// Most memory growth of a host after the violations, in kB: an allocator returns little.
const MORE_KB: u64 = 4096;

const BYE_VERSION: u32 = proto::peer::ByeReason::ByeVersion as u32;
const BYE_STRINGS_DIFFER: u32 = proto::peer::ByeReason::ByeStringsDiffer as u32;
const BYE_VIOLATION: u32 = proto::peer::ByeReason::ByeViolation as u32;

/// Paths of the program and its interpreter.
pub(crate) struct Stack {
    pub(crate) python: PathBuf,
    pub(crate) program: PathBuf,
    /// The emulator's socket.
    pub(crate) controllers: PathBuf,
}

/// Reports of the program; the JSON is defined in `stranger.py`. `Hands` asks for an act of the host's person: arguments of
/// `qiyouctl`, or `comparison` for the string on the screen; the program waits for the result. `Kept` is a match as the program
/// has it.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Told {
    Met { card: Card, hello: Hello, key: String, end: String, took_ms: f64 },
    Again { how: String, took_ms: f64, tries: u32 },
    Nonsense { how: String, answer: String, bye: Option<u32> },
    Posing { address: String },
    Between { dialer_key: String, listener_key: String },
    Passed { who: End, name: String },
    Verdict { who: End, same: bool },
    Parted { who: End, reason: u32 },
    Waits { key: String },
    SentAway { end: String, took_ms: f64 },
    Hands { words: Vec<String> },
    Check { claim: String, holds: bool },
    Kept(Saved),
    Over,
}

/// A host from the man in the middle's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Dialer,
    Listener,
}

#[derive(Debug, Deserialize)]
struct Card {
    flags: String,
    payload: String,
    name: String,
}

#[derive(Debug, Deserialize)]
struct Hello {
    lowest_version: u32,
    highest_version: u32,
    name: String,
    games: Vec<u32>,
    advert_key: String,
    matches: u32,
    wants_comparison: bool,
}

/// Time after which a host lets one more stranger ring: see the host's `rings.rs`.
const RINGS_AGAIN: Duration = Duration::from_secs(20);

/// Both hosts start without any friend.
pub(crate) async fn come_and_go(lab: &Lab, stack: &Stack, report: &mut Report) -> Result<()> {
    for guest in [&lab.a, &lab.b] {
        guest.run(User::Player, &["rm", "-rf", "/home/player/.local/share/qiyou"], PATIENCE).await?;
    }
    let (ann, ben) = tokio::try_join!(Player::start(&lab.a), Player::start(&lab.b))?;
    ann.ctl(&["name", "Ann"]).await?;
    ben.ctl(&["name", "Ben"]).await?;
    ann.ctl(&["visibility", "everyone"]).await?;
    let starts = [ann.see(|view| view.starts), ben.see(|view| view.starts)];

    let key = meet(lab, stack, report).await.context("another stack meets a host")?;
    come_again(lab, stack, report).await.context("another stack comes back at once")?;
    let held = lab.a.memory_of_host().await?;
    misbehave(lab, stack, report).await.context("another stack breaks the rules")?;
    let holds = lab.a.memory_of_host().await?;
    println!("ble-lab: the host held {held} kB before nonsense and {holds} kB after it");
    report.nonsense_memory_kb = Some([held, holds]);
    report.check(holds < held + MORE_KB, || format!("nonsense has left {held} kB at {holds} kB"))?;
    let again = meet(lab, stack, report).await.context("another stack meets a host that was annoyed")?;
    report.check(key == again, || format!("the host was {key} and is {again}"))?;
    play(lab, stack, &ann, report).await.context("another program plays with a host")?;
    between(lab, stack, (&ann, &ben), &key, report).await.context("somebody sits between two hosts")?;
    directly((&ann, &ben), report).await.context("the two meet with nobody in between")?;
    send_away(lab, stack, (&ann, &ben), report)
        .await
        .context("a silent stranger holds the radio, and a friend comes")?;
    let now = [ann.see(|view| view.starts), ben.see(|view| view.starts - 1)];
    report.check(now == starts, || {
        format!("a host ended: they had told their state {starts:?} times, now {now:?}")
    })?;
    tokio::try_join!(ann.stop(), ben.stop())?;
    Ok(())
}

/// Runs up to the encrypted hello of a host and a goodbye. Returns the host's key.
async fn meet(lab: &Lab, stack: &Stack, report: &mut Report) -> Result<String> {
    let mut stranger = Stranger::start(lab, stack, "meet")?;
    let Told::Met { card, hello, key, end, took_ms } = stranger.next().await? else {
        bail!("it did not meet")
    };
    println!("ble-lab: another stack: scan to the host's encrypted hello {took_ms:.0} ms");
    report.stranger_met = Some(took_ms);
    // Version 1, open to all, named; the five bytes after it are the rotating tag.
    let ours = card.flags == "06"
        && card.name == "Ann"
        && card.payload.len() == 12
        && card.payload.starts_with("15");
    report.check(ours, || format!("the advert says {card:?}"))?;
    let speaks = (hello.lowest_version..=hello.highest_version).contains(&1);
    let whole = speaks && hello.name == "Ann" && hello.games.contains(&1) && hello.wants_comparison;
    report.check(whole, || format!("the hello says {hello:?}"))?;
    let tells = !hello.advert_key.is_empty() || hello.matches > 0;
    report.check(!tells, || format!("the hello tells a stranger what only a friend may know: {hello:?}"))?;
    report.check(key.len() == 64, || format!("the host has shown no key: {key}"))?;
    report.check(end == "hung up", || format!("after the goodbye: {end}"))?;
    stranger.ends().await?;
    Ok(key)
}

/// Leaves at every stage without a goodbye, and returns at once.
async fn come_again(lab: &Lab, stack: &Stack, report: &mut Report) -> Result<()> {
    let mut stranger = Stranger::start(lab, stack, "again")?;
    let mut took = Vec::new();
    for expected in LEAVES_AFTER {
        let Told::Again { how, took_ms, tries } = stranger.next().await? else {
            bail!("it did not come again")
        };
        report.check(how == expected, || format!("it left after {how} and not after {expected}"))?;
        println!(
            "ble-lab: another stack: connected after {took_ms:.0} ms, try {tries}, and gone after {how}"
        );
        report.stranger_tries += tries;
        took.push(took_ms);
    }
    report.stranger_again = Quantiles::of(&took);
    stranger.ends().await
}

async fn misbehave(lab: &Lab, stack: &Stack, report: &mut Report) -> Result<()> {
    let mut stranger = Stranger::start(lab, stack, "nonsense")?;
    for (expected, as_answer, as_reason) in ANSWERS {
        let Told::Nonsense { how, answer, bye } = stranger.next().await? else { bail!("no nonsense") };
        let right = how == expected && answer == as_answer && bye == as_reason;
        report.check(right, || format!("{how}: answered with {answer:?}, goodbye {bye:?}"))?;
        report.nonsense_answered += 1;
    }
    stranger.ends().await
}

/// Whole matches with a second implementation of the protocol, with lost links and offers. The program's checks are counted
/// here; at the end the host's disk must have the same matches as the program.
async fn play(lab: &Lab, stack: &Stack, ann: &Player<'_>, report: &mut Report) -> Result<()> {
    let mut stranger = Stranger::start(lab, stack, "play")?;
    let mut kept = Vec::new();
    loop {
        match stranger.next().await? {
            Told::Hands { words } => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let said = if words == ["comparison"] {
                    on_screen(ann).to_string()
                } else {
                    ann.ctl(&words).await?
                };
                stranger.answer(&said).await?;
            }
            Told::Check { claim, holds } => report.check(holds, || format!("it does not hold: {claim}"))?,
            Told::Kept(saved) => kept.push(saved),
            Told::Over => break,
            other => bail!("while it plays: {other:?}"),
        }
    }
    stranger.ends().await?;
    kept.sort_by(|a, b| a.id.cmp(&b.id));
    let saved = ann.saved().await?;
    report.check(kept.len() >= 2 && kept == saved, || format!("it has {kept:?}, the host {saved:?}"))?;
    report.stranger_matches = kept.len();
    let moves: usize = kept.iter().map(|one| one.actions.len()).sum();
    println!("ble-lab: another program has played {} matches of {moves} moves", kept.len());
    // The program's comparison must not be mistaken for a later one.
    ann.forget_comparison();
    Ok(())
}

fn on_screen(player: &Player<'_>) -> Value {
    player.see(|view| {
        let shown = view.comparison.as_ref();
        shown.map_or(Value::Null, |shown| json!({"emoji": shown.emoji, "digits": shown.digits}))
    })
}

/// Man in the middle: Ben wants to meet Ann, and is linked to a stranger that calls itself Ann and speaks to the real Ann
/// in Ben's name. Each has a valid link with the stranger, which forwards all messages.
async fn between(
    lab: &Lab,
    stack: &Stack,
    (ann, ben): (&Player<'_>, &Player<'_>),
    key: &str,
    report: &mut Report,
) -> Result<()> {
    let mut stranger = Stranger::start(lab, stack, "between")?;
    let Told::Posing { address } = stranger.next().await? else { bail!("it does not pose as somebody") };
    // Ann and her impostor are both near, with one name: Ben takes the wrong one.
    meet_at(ben, "meet-double", &address).await?;
    let Told::Between { dialer_key, listener_key } = stranger.next().await? else {
        bail!("it does not get in between")
    };
    let in_between = listener_key == key && dialer_key != key && dialer_key.len() == 64;
    report.check(in_between, || format!("between {dialer_key} and {listener_key}, which is not {key}"))?;
    let mut greeted = Vec::new();
    for _ in 0..2 {
        let Told::Passed { who, name } = stranger.next().await? else { bail!("a hello was not passed on") };
        greeted.push((who, name));
    }
    greeted.sort();
    let names = [(End::Dialer, "Ben".to_owned()), (End::Listener, "Ann".to_owned())];
    report.check(greeted == names, || format!("the hellos came from {greeted:?}"))?;

    let strings = [comparison(ann).await?, comparison(ben).await?];
    let [at_a, at_b] = &strings;
    println!("ble-lab: somebody in between: {} at A, {} at B", at_a.digits, at_b.digits);
    report.check(strings.iter().all(is_whole), || format!("not whole: {strings:?}"))?;
    // Each part alone differs except one time in a million, or in sixteen million.
    let differ = at_a.digits != at_b.digits && at_a.emoji != at_b.emoji;
    report.between_strings_differ = Some(differ);
    report.check(differ, || format!("nobody can notice who is in between: {strings:?}"))?;

    // Both screens say that the other person has answered "the same"; the stranger sent that.
    for player in [ann, ben] {
        player.ctl(&["different"]).await?;
    }
    let mut verdicts = Vec::new();
    loop {
        match stranger.next().await? {
            Told::Verdict { who, same } => verdicts.push((who, same)),
            Told::Parted { who, reason } => {
                report.check(reason == BYE_STRINGS_DIFFER, || format!("{who:?} parted for {reason}"))?;
            }
            Told::Over => break,
            other => bail!("after the verdicts: {other:?}"),
        }
    }
    verdicts.sort();
    let said = [(End::Dialer, false), (End::Listener, false)];
    report.check(verdicts == said, || format!("the hosts said {verdicts:?}"))?;
    stranger.ends().await?;
    for player in [ann, ben] {
        let friends = player.ctl(&["friends", "--json"]).await?;
        report.check(friends.trim().is_empty(), || format!("a stranger was kept as a friend: {friends}"))?;
    }
    Ok(())
}

/// The control case: without a man in the middle the strings are equal.
async fn directly((ann, ben): (&Player<'_>, &Player<'_>), report: &mut Report) -> Result<()> {
    // Ann's device has let strangers ring four times in the last minute: three at once, and one more every 20 s.
    tokio::time::sleep(RINGS_AGAIN).await;
    for player in [ann, ben] {
        player.forget_comparison();
    }
    meet_at(ben, "meet-ann", ADDRESS_OF_A).await?;
    let strings = [comparison(ann).await?, comparison(ben).await?];
    let same = is_whole(&strings[0]) && strings[0] == strings[1];
    report.check(same, || format!("the strings differ: {strings:?}"))?;
    tokio::try_join!(ann.ctl(&["same"]), ben.ctl(&["same", "--wait", "30"]))?;
    for (player, name) in [(ann, "Ben"), (ben, "Ann")] {
        let friends = player.ctl(&["friends"]).await?;
        report.check(friends.starts_with(name), || format!("{name} is no friend: {friends:?}"))?;
    }
    Ok(())
}

/// A stranger that says nothing to the short string has the radio to itself: Ann's person sees who it is and sends it away, and her
/// friend, who is looking for her meanwhile, gets through.
async fn send_away(
    lab: &Lab,
    stack: &Stack,
    (ann, ben): (&Player<'_>, &Player<'_>),
    report: &mut Report,
) -> Result<()> {
    ben.guest.signal("qiyoud", rustix::process::Signal::TERM).await?;
    ben.until_gone().await?;
    let mut stranger = Stranger::start(lab, stack, "wait")?;
    let Told::Waits { key } = stranger.next().await? else { bail!("it does not wait") };
    let seen = ann.ctl(&["strangers", "--json"]).await?;
    let seen: Vec<Value> = seen.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let is_seen = seen.len() == 1
        && seen[0]["id"] == json!(key)
        && seen[0]["name"] == json!("Silent")
        && seen[0]["comparing"] == json!(true);
    report.check(is_seen, || format!("{key} waits, and the person sees {seen:?}"))?;
    ben.start_host().await?;
    let invite = ["qiyouctl", "invite", "Ann", "--game", "gomoku"];
    ben.guest.start("invite-past-a-stranger", User::Player, &invite, Output::Log).await?;
    // On a slow machine the host has done so itself by now: a string that nobody compares holds the radio for 30 s.
    if let Err(error) = ann.ctl(&["send-away", "Silent"]).await {
        println!("ble-lab: the silent stranger was gone before its person said so: {error:#}");
    }
    let Told::SentAway { end, took_ms } = stranger.next().await? else { bail!("it is not sent away") };
    println!("ble-lab: a silent stranger was sent away after {took_ms:.0} ms");
    report.check(end == "hung up", || format!("the stranger was not disconnected: {end}"))?;
    stranger.ends().await?;
    ann.until("an invitation of the friend", |view| view.invitation.is_some()).await?;
    let left = ann.ctl(&["strangers", "--json"]).await?;
    report.check(left.trim().is_empty(), || format!("still shown: {left}"))
}

async fn meet_at(player: &Player<'_>, program: &str, address: &str) -> Result<()> {
    let id = format!("{:?}:{address}", link::CarrierKind::Bluetooth);
    player.guest.start(program, User::Player, &["qiyouctl", "meet", &id], Output::Log).await
}

async fn comparison(player: &Player<'_>) -> Result<Comparison> {
    player.until("strings to compare", |view| view.comparison.is_some()).await?;
    player.see(|view| view.comparison.clone()).context("no comparison")
}

fn is_whole(string: &Comparison) -> bool {
    string.emoji.len() == 4 && string.digits.len() == 6
}

/// A running stranger; killed on drop.
struct Stranger {
    what: &'static str,
    process: Child,
    says: Lines<BufReader<ChildStdout>>,
    hears: ChildStdin,
}

impl Stranger {
    fn start(lab: &Lab, stack: &Stack, what: &'static str) -> Result<Stranger> {
        let log = std::fs::File::create(lab.out.join(format!("stranger-{what}.log")))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(&stack.python).arg(stack.program.join("stranger.py"));
        command.arg(&stack.controllers).args([what, "Ann"]).env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
        let mut process = command.spawn().context("python")?;
        let stdout = process.stdout.take().context("the stranger's words")?;
        let hears = process.stdin.take().context("the stranger's ears")?;
        Ok(Stranger { what, process, says: BufReader::new(stdout).lines(), hears })
    }

    /// Sends the result of a request to the program.
    async fn answer(&mut self, said: &str) -> Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        Ok(self.hears.write_all(&line).await?)
    }

    async fn next(&mut self) -> Result<Told> {
        let line = timeout(PATIENCE, self.says.next_line()).await;
        let line =
            line.with_context(|| format!("the stranger says nothing; see stranger-{}.log", self.what))??;
        let line = line.with_context(|| format!("the stranger is gone; see stranger-{}.log", self.what))?;
        serde_json::from_str(&line).with_context(|| line.clone())
    }

    /// Waits until the stranger has reported everything and released its controller.
    async fn ends(mut self) -> Result<()> {
        let status = timeout(PATIENCE, self.process.wait()).await.context("the stranger does not end")??;
        ensure!(status.success(), "the stranger ended with {status}; see stranger-{}.log", self.what);
        Ok(())
    }
}
