//! The field test of people with real devices (`client::field_test`), here over real BlueZ: both start `qiyouctl field-test`, answer
//! what it asks and do what it says, and their reports must tell what was done.

use crate::air::{Fault, Side, Struck};
use crate::game::{FOR_GOOD, no_link, no_scan};
use crate::guest::{Guest, Heard};
use crate::lab::Lab;
use crate::orders::{Output, User};
use crate::player::{Player, View};
use crate::report::Report;
use anyhow::{Context, Result, bail, ensure};
use proto::control::RadioState;
use serde_json::Value;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::{Instant, timeout};

/// Name of the program in a guest.
const PROGRAM: &str = "field-test";
/// What the person types.
const KEYS: &str = "/home/player/field-test-keys";
const FILE: &str = "/home/player/field-test.md";
const SAVES: &str = "/home/player/.local/share/qiyou";

/// Between two steps; more than the program itself allows for finding a device.
const PATIENCE: Duration = Duration::from_mins(2);
const HANDS: Duration = Duration::from_secs(30);
/// The machine is stopped for this long while its lid is closed.
const NAP: Duration = Duration::from_secs(3);
/// By its wall clock it was this long: the test believes in sleep from 5 s on.
const SLEPT: Duration = Duration::from_secs(30);

/// What the one that leads is told to do, in this order.
const INTERRUPTIONS: [&str; 3] = ["out of range", "Bluetooth off and on", "lid closed"];
/// The opening, ten moves whose echoes are measured, and one after each interruption.
const MOVES: usize = 11 + INTERRUPTIONS.len();

/// One of the two people.
struct Person<'a> {
    player: Player<'a>,
    screen: Receiver<Heard>,
}

impl<'a> Person<'a> {
    /// A person who knows nobody yet.
    async fn come(guest: &'a Guest, name: &str) -> Result<Person<'a>> {
        guest.run(User::Player, &["rm", "-rf", SAVES, KEYS, FILE], HANDS).await?;
        let player = Player::start(guest).await?;
        player.ctl(&["name", name]).await?;
        player.ctl(&["visibility", "everyone"]).await?;
        Ok(Person { player, screen: guest.hear() })
    }

    /// Starts the test: it leads if it names the other device.
    async fn begin(&mut self, other: &str) -> Result<()> {
        // Opened for both, the pipe waits for nobody and does not end with a line.
        let test = format!("exec qiyouctl field-test {other} --json --file {FILE} <> {KEYS}");
        let command = format!("mkfifo {KEYS} && {test}");
        self.screen = self.player.guest.hear();
        self.player.guest.start(PROGRAM, User::Player, &["sh", "-c", &command], Output::Lines).await
    }

    async fn types(&self, line: &str) -> Result<()> {
        let command = format!("echo '{line}' > {KEYS}");
        self.player.guest.run(User::Player, &["sh", "-c", &command], HANDS).await?;
        Ok(())
    }

    /// The next line on the screen; `None` when the test has ended well.
    async fn line(&mut self) -> Result<Option<Value>> {
        loop {
            match self.screen.recv().await {
                Ok(Heard::Line { name, text }) if name == PROGRAM => {
                    let line: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
                    return Ok(Some(line));
                }
                Ok(Heard::Ended { name, code }) if name == PROGRAM => {
                    ensure!(code == Some(0), "it ended with {code:?}");
                    return Ok(None);
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => bail!("the guest is gone"),
            }
        }
    }

    /// The same, within the time for a step.
    async fn shown(&mut self, awaited: &str) -> Result<Option<Value>> {
        let side = self.player.guest.side;
        let line = timeout(PATIENCE, self.line()).await;
        let about = || format!("side {side:?} waits for: {awaited}");
        line.with_context(about)?.with_context(about)
    }

    /// The next step must be this one. Returns what the person reads.
    async fn step(&mut self, step: &str) -> Result<String> {
        let side = self.player.guest.side;
        let line = self.shown(step).await?;
        let line = line.with_context(|| format!("side {side:?}: the test ended before: {step}"))?;
        ensure!(line["step"] == step, "side {side:?}: instead of {step:?} the screen says {line}");
        Ok(line["say"].as_str().unwrap_or_default().to_owned())
    }

    /// The report, once the test has ended.
    async fn report(&mut self) -> Result<String> {
        let line = self.shown("the report").await?.unwrap_or_default();
        ensure!(line["file"] == FILE, "instead of the report's file the screen says {line}");
        let more = self.shown("the end").await?;
        ensure!(more.is_none(), "after the report the screen says {more:?}");
        Ok(String::from_utf8(self.player.guest.fetch(FILE).await?)?)
    }
}

pub(crate) async fn play(lab: &Lab, report: &mut Report) -> Result<()> {
    let begun = Instant::now();
    let names = ["Annabel", "Benedict"];
    let (mut ann, mut ben) =
        tokio::try_join!(Person::come(&lab.a, names[0]), Person::come(&lab.b, names[1]))?;
    ann.begin("").await?;
    ann.step("follow").await?;
    ben.begin(names[0]).await?;
    ben.step("beside").await?;
    ben.types("").await?;
    for step in ["found", "connected"] {
        ben.step(step).await?;
    }
    let texts = [ann.step("compare").await?, ben.step("compare").await?];
    let [at_ann, at_ben] = [strings(&texts[0]), strings(&texts[1])];
    report.check(at_ann.is_some() && at_ann == at_ben, || format!("the strings differ: {texts:?}"))?;
    for person in [&ann, &ben] {
        person.types("y").await?;
    }
    ann.step("playing").await?;
    for step in ["playing", "echo"] {
        ben.step(step).await?;
    }
    for what in INTERRUPTIONS {
        interrupt(lab, what, &mut ben, &mut ann).await.context(what)?;
    }
    let (led, followed) = (ben.report().await?, ann.report().await?);
    for (text, role) in [(&led, "leads"), (&followed, "follows")] {
        let is_right = measured(text, "this device") == Some(role)
            && measured(text, "carrier") == Some("bluetooth")
            && !text.contains("\ntrouble: ");
        report.check(is_right, || format!("the one that {role} reports:\n{text}"))?;
        let secrets = names.into_iter().chain(["00:AA:01:"]);
        let told: Vec<&str> = secrets.filter(|secret| text.contains(secret)).collect();
        report.check(told.is_empty(), || format!("a report tells {told:?}:\n{text}"))?;
    }
    for what in ["found", "connected", "invitation until the match", "first move", "echo p50", "echo p95"] {
        let found = measured(&led, what);
        report.check(found.is_some_and(|found| found != "not measured"), || format!("{what}: {found:?}"))?;
    }
    for what in INTERRUPTIONS {
        let outages = outages(&led, what);
        let is_right = outages.len() == 1 && outages[0].ends_with(" after the return");
        report.check(is_right, || format!("{what}: {outages:?}"))?;
    }
    let outages = outages(&followed, "interruption");
    report.check(outages.len() == INTERRUPTIONS.len(), || format!("the one that follows: {outages:?}"))?;
    let moves =
        [&led, &followed].map(|text| measured(text, "moves").and_then(|count| count.parse::<usize>().ok()));
    // An answer whose acknowledgement an interruption overtakes is no measure.
    let least = MOVES - INTERRUPTIONS.len();
    let is_right = moves[0] == Some(MOVES) && moves[1].is_some_and(|count| (least..=MOVES).contains(&count));
    report.check(is_right, || format!("of {MOVES} moves each were measured: {moves:?}"))?;

    for person in [&ann, &ben] {
        person.player.until("the end of the match", View::over).await?;
    }
    let (at_ann, at_ben) = tokio::try_join!(ann.player.saved(), ben.player.saved())?;
    let is_right = at_ann == at_ben
        && at_ann.len() == 1
        && at_ann[0].ending.is_some()
        && at_ann[0].actions.len() == 2 * MOVES;
    report.check(is_right, || format!("on the disks: {at_ann:?} and {at_ben:?}"))?;
    tokio::try_join!(ann.player.stop(), ben.player.stop())?;
    println!("ble-lab: a field test took {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Does what the one that leads is told, and undoes it once both know of the loss.
async fn interrupt(lab: &Lab, what: &str, leads: &mut Person<'_>, follows: &mut Person<'_>) -> Result<()> {
    leads.step(what).await?;
    leads.player.forget_radio();
    let guest = leads.player.guest;
    match what {
        "out of range" => {
            let struck = lab.air.fault(Fault::Cut { away: FOR_GOOD }).await?;
            ensure!(struck == Struck::Link, "there was no link");
        }
        "Bluetooth off and on" => guest.power(false).await?,
        _ => guest.say_sleep(true).await?,
    }
    leads.step("lost").await?;
    follows.step("lost").await?;
    match what {
        "out of range" => {
            // Before the link can be back, which would end the step.
            leads.types("").await?;
            lab.air.fault(Fault::Cut { away: Duration::ZERO }).await?;
        }
        "Bluetooth off and on" => {
            // Nobody switches so quickly that the host sees no change.
            leads.player.told_of(&[RadioState::RadioOff]).await?;
            guest.power(true).await?;
        }
        _ => {
            // As in the lab's other sleeps: it is stopped without logind's wait.
            no_link(&lab.air).await?;
            no_scan(&lab.air, Side::B).await?;
            guest.freeze(NAP).await?;
            guest.skip(SLEPT).await?;
            guest.say_sleep(false).await?;
        }
    }
    leads.step("back").await?;
    follows.step("back").await?;
    Ok(())
}

/// The pictures and digits of a screen's question, without the other person's name.
fn strings(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("see the same?")?;
    after.lines().next()
}

/// What a report says of this, such as `echo p50`.
fn measured<'a>(report: &'a str, what: &str) -> Option<&'a str> {
    report.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "))
}

/// What it says of interruptions of this name.
fn outages<'a>(report: &'a str, what: &str) -> Vec<&'a str> {
    report.lines().filter_map(|line| line.strip_prefix(what)?.strip_prefix(": play went on ")).collect()
}
