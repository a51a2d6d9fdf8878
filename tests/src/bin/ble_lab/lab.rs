//! A whole run: makes the handhelds, runs the parts one after another, cleans up.

use crate::air::{Air, Fault, Side};
use crate::bare::Bare;
use crate::cell::Cell;
use crate::emulator::Emulator;
use crate::faults;
use crate::field;
use crate::game::{Dice, GOMOKU, OTHERS, Strike, Table, Who};
use crate::guest::{Guest, Heard, Parts};
use crate::orders::{Output, User};
use crate::report::{Quantiles, Report};
use crate::short;
use crate::strangers::{self, Stack};
use crate::stream::Streamed;
use anyhow::{Context, Result, bail, ensure};
use ble_transport::stream::LARGEST;
use futures::future::{join_all, try_join_all};
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast::{Receiver, error::TryRecvError};
use tokio::time::{Instant, sleep, timeout};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of a guest's root file system, made by `tests/ble-lab/guest-root`, without the hyphen and the version of Debian at its
    /// end.
    #[arg(long)]
    base: PathBuf,
    /// Work folder with a short path, for sockets; must contain only `initrd-12` or another version, and `btvirt-host.so`.
    #[arg(long)]
    work: PathBuf,
    /// Folder of the report and the logs.
    #[arg(long)]
    out: PathBuf,
    /// Python interpreter with the packages of `stranger/requirements.txt`.
    #[arg(long)]
    python: PathBuf,
    /// Folder of `stranger.py`.
    #[arg(long)]
    stranger: PathBuf,
    /// Use the large counts of the soak test.
    #[arg(long)]
    soak: bool,
    /// Run these parts only, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Record the HCI traffic of each kernel and its controller in btsnoop-A.log and btsnoop-B.log, for btmon or Wireshark.
    #[arg(long)]
    snoop: bool,
    /// In the part `storm`, inject these kinds of faults only, named as in the report.
    #[arg(long, value_delimiter = ',')]
    faults: Vec<String>,
    /// Seed of the moments at which faults are injected. Without it, as for random tests: `QIYOU_SEED`, else 1, and in CI a new one.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cell: Cell,
}

impl Options {
    /// The dice of this run, whose seed is printed.
    fn dice(&self) -> Dice {
        let seed = self.seed.unwrap_or_else(|| tests::seed::begin("ble-lab", 1));
        println!("ble-lab: seed {seed}");
        Dice(seed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Part {
    /// Our byte stream alone.
    Stream,
    /// The emulated radio, the kernel and BlueZ without our code.
    Bare,
    /// Self-test of the lab: every fault that it injects has an effect, and ends.
    Faults,
    /// Two strangers meet and play.
    Game,
    /// Cost of an idle link between two devices in a match.
    Idle,
    /// The other games of two players, with one cut of the link each.
    Games,
    /// A match moves to the local network when the radio is lost, and back when the cable is pulled.
    Carriers,
    /// The first game again, with the link cut at random moments.
    Cuts,
    /// As `cuts`, with one side killed and started again during the game.
    Kills,
    /// As `cuts`, with failures of adapters, daemons and machines.
    Storm,
    /// As `cuts`, with one side suspended.
    Suspends,
    /// Another Bluetooth stack connects to a host, violates the protocol, and relays between two hosts.
    Strangers,
    /// Two people do the field test, `qiyouctl field-test`, with every interruption that it asks for.
    Field,
}

/// A hanging run must not take down CI's job. The expected time is a bar in the report: other load on the machine slows the
/// guests.
const LIMIT: Duration = Duration::from_mins(20);
const SOAK_LIMIT: Duration = Duration::from_hours(2);

/// Runs, reports, cleans up. Ends early on SIGINT and SIGTERM.
pub(crate) async fn run(options: Options) -> Result<()> {
    let begun = Instant::now();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut report = Report::default();
    let limit = if options.soak { SOAK_LIMIT } else { LIMIT };
    report.cell = Some(options.cell.clone());
    // Whichever ends first, the other processes end with the futures that own them.
    let result = tokio::select! {
        played = timeout(limit, play(&options, &mut report)) => played.unwrap_or_else(|_| bail!("not done after {limit:?}")),
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    };
    report.seconds = begun.elapsed().as_secs_f64();
    report.is_soak = options.soak;
    report.is_whole = !options.soak && options.only.is_empty() && !options.cell.short;
    report.write(&options.out.join("report.json"))?;
    report.print();
    match &result {
        // CI counts this line.
        Ok(()) => println!("lab: {} checks passed", report.checks),
        Err(_) => {
            println!("lab: FAILED after {} checks; logs are in {}", report.checks, options.out.display());
        }
    }
    result
}

async fn play(options: &Options, report: &mut Report) -> Result<()> {
    let mut lab = Lab::start(options).await?;
    let played = async {
        if options.snoop {
            for guest in lab.guests() {
                guest
                    .start("btmon", User::Root, &["btmon", "-w", "/var/log/btsnoop.log"], Output::Log)
                    .await?;
            }
        }
        lab.start_bluetooth(report).await?;
        let crashed = AtomicU32::new(0);
        let keep = try_join_all(lab.guests().map(|guest| guest.keep_bluetoothd(&crashed)));
        let plays = async {
            if options.cell.short {
                short::play(&lab, &options.cell, options.dice(), report).await
            } else {
                parts(&lab, options, report).await
            }
        };
        let played = tokio::select! {
            played = plays => played,
            kept = keep => kept.map(drop),
        };
        report.bluetoothd_crashes = crashed.into_inner();
        played
    }
    .await;
    // In the error, since of a run in CI only the last lines are kept.
    let played = match played {
        Ok(()) => Ok(()),
        Err(error) => {
            let below = join_all(lab.guests().map(Guest::mishaps)).await;
            Err(error.context(format!("below the hosts: {below:?}")))
        }
    };
    lab.save_logs().await;
    lab.stop().await;
    played
}

async fn parts(lab: &Lab, options: &Options, report: &mut Report) -> Result<()> {
    let plays = |part| options.only.is_empty() || options.only.contains(&part);
    // The matches come first, while the devices do not know each other.
    let games = [
        Part::Game,
        Part::Idle,
        Part::Carriers,
        Part::Games,
        Part::Cuts,
        Part::Kills,
        Part::Storm,
        Part::Suspends,
    ];
    if games.into_iter().any(plays) {
        matches(lab, options, report, plays).await?;
        lab.clear_the_air().await?;
    }
    if plays(Part::Strangers) {
        let begun = Instant::now();
        let (python, program) = (options.python.clone(), options.stranger.clone());
        let stack = Stack { python, program, controllers: lab.emulator.socket.clone() };
        strangers::come_and_go(lab, &stack, report).await.context("strangers")?;
        lab.clear_the_air().await?;
        println!("ble-lab: strangers came and went in {:.0} s", begun.elapsed().as_secs_f64());
    }
    if plays(Part::Field) {
        field::play(lab, report).await.context("the field test")?;
        lab.clear_the_air().await?;
    }
    if plays(Part::Bare) {
        bare(lab, report).await.context("the bare service")?;
        // Nothing is forgotten here: the next part must find a device that another program has connected to.
        lab.end_links().await?;
    }
    if plays(Part::Stream) {
        if plays(Part::Bare) {
            knows_only_a_connection(lab, report).await?;
        }
        stream(lab, report).await.context("the stream")?;
        lab.clear_the_air().await?;
    }
    if plays(Part::Faults) {
        faults::each_is_felt_and_passes(lab, report).await.context("the lab's faults")?;
    }
    Ok(())
}

/// Handhelds in range of each other.
pub(crate) struct Lab {
    pub(crate) a: Guest,
    pub(crate) b: Guest,
    /// C, D and E, where the cell has them.
    pub(crate) others: Vec<Guest>,
    pub(crate) air: Air,
    pub(crate) out: PathBuf,
    emulator: Emulator,
    cell: Cell,
}

impl Lab {
    async fn start(options: &Options) -> Result<Lab> {
        let begun = Instant::now();
        let (Options { base, work, out, cell, .. }, count) = (options, usize::from(options.cell.devices));
        let root = cell.base(base, Side::A).join("root");
        let (emulator, controllers) = Emulator::start(&root, work, out, cell.controller, count).await?;
        let air = Air::start(work, controllers, cell.limits())?;
        let boot = async |side| {
            let (kernel, initrd) = (cell.base(base, side).join("vmlinuz"), cell.initrd(work, side));
            Guest::boot(side, &Parts { kernel: &kernel, initrd: &initrd, work, out }).await
        };
        let mut guests = try_join_all(Side::ALL.into_iter().take(count).map(boot)).await?.into_iter();
        let (Some(a), Some(b)) = (guests.next(), guests.next()) else { bail!("a lab has two devices") };
        println!("ble-lab: {count} devices up after {:.1} s", begun.elapsed().as_secs_f64());
        let (out, cell) = (out.clone(), cell.clone());
        Ok(Lab { a, b, others: guests.collect(), air, out, emulator, cell })
    }

    pub(crate) fn guests(&self) -> impl Iterator<Item = &Guest> {
        [&self.a, &self.b].into_iter().chain(&self.others)
    }

    async fn start_bluetooth(&self, report: &mut Report) -> Result<()> {
        let begun = Instant::now();
        for guest in self.guests() {
            guest.configure(&self.cell.settings()).await?;
        }
        try_join_all(self.guests().map(Guest::start_bluetoothd)).await?;
        for guest in self.guests() {
            let version =
                guest.run(User::Root, &["bluetoothd", "--version"], Duration::from_secs(10)).await?;
            let version = version.stdout.trim();
            println!("ble-lab: {:?}: kernel {}, BlueZ {version}", guest.side, guest.kernel);
            let settings = guest.adapter_settings().await?;
            report.cell.as_mut().context("a cell")?.found(guest, version, &settings)?;
        }
        println!("ble-lab: adapters up after {:.1} s", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Ends leftover links and makes both BlueZ forget each other: for a known device, BlueZ reports the services of the last
    /// connection instead of those in the advertisement.
    async fn clear_the_air(&self) -> Result<()> {
        self.end_links().await?;
        try_join_all(self.guests().map(Guest::forget_devices)).await?;
        Ok(())
    }

    async fn end_links(&self) -> Result<()> {
        let begun = Instant::now();
        while self.air.reading().await?.links > 0 {
            ensure!(begun.elapsed() < Duration::from_secs(10), "a link will not end");
            self.air.fault(Fault::Kick).await?;
            sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    async fn save_logs(&self) {
        join_all(self.guests().map(|guest| guest.save_logs(&self.out))).await;
    }

    async fn stop(&mut self) {
        self.air.stop();
        join_all([&mut self.a, &mut self.b].into_iter().chain(&mut self.others).map(Guest::switch_off)).await;
        self.emulator.stop().await;
    }
}

/// Runs matches without faults until there are enough samples, then with faults.
async fn matches(
    lab: &Lab,
    options: &Options,
    report: &mut Report,
    plays: impl Fn(Part) -> bool,
) -> Result<()> {
    let mut dice = options.dice();
    let pace = if plays(Part::Game) { Some(Pace::offer(lab).await?) } else { None };
    let mut table = Table::meet(lab, report).await.context("two strangers meet")?;
    let before = lab.air.reading().await?.traffic;
    let moves = table.play(&mut Vec::new(), &mut dice, report).await.context("a match in peace")?;
    let in_peace = lab.air.reading().await?;
    let traffic = in_peace.traffic - before;
    let per_move = |count: u64| Some(count as f64 / moves.max(1) as f64);
    report.bytes_per_move = per_move(traffic.bytes);
    report.packets_per_move = per_move(traffic.packets);
    report.values_per_move = per_move(traffic.values);
    if let Some(mut pace) = pace {
        // Moves and bare echoes on one link at one time, and matches with watchers and without by turns, so that other load slows all.
        pace.begin(lab).await.context("echoes beside a match")?;
        let [mut alone, mut watched] = [Vec::new(), Vec::new()];
        while alone.len().min(watched.len()) < ENOUGH_MOVES {
            let before = table.measured();
            table.again(GOMOKU).await?;
            table.play(&mut Vec::new(), &mut dice, report).await.context("a match in peace")?;
            alone.extend(table.move_seen(before));
            let before = table.measured();
            table.watched(&mut dice, report).await.context("a match with watchers")?;
            watched.extend(table.move_seen(before));
        }
        report.move_seen = Quantiles::of(&alone);
        report.move_seen_watched = Quantiles::of(&watched);
        report.bare_round_trip = Quantiles::of(&pace.end(lab).await?);
    } else {
        report.move_seen = Quantiles::of(&table.move_seen([0; 2]));
    }
    if plays(Part::Idle) {
        table.idle(report).await.context("a match in which nobody does anything")?;
        table.play(&mut Vec::new(), &mut dice, report).await?;
    }

    if plays(Part::Carriers) {
        table.changes_carriers(report).await.context("a match that goes from carrier to carrier")?;
    }
    for game in OTHERS.into_iter().filter(|_| plays(Part::Games)) {
        table.again(game).await.context(game.name)?;
        let mut strikes = vec![Strike::Cut(Duration::ZERO)];
        table.play(&mut strikes, &mut dice, report).await.context(game.name)?;
    }
    let fires =
        [(Part::Cuts, cuts as Fire), (Part::Kills, kills), (Part::Suspends, suspends), (Part::Storm, storm)];
    // A soak rotates through all games; gomoku's matches are short, and its moves are distinguishable.
    let mut turns = [GOMOKU].into_iter().chain(OTHERS.into_iter().filter(|_| options.soak)).cycle();
    for (part, fire) in fires {
        let mut strikes = if plays(part) { fire(options.soak, &mut dice) } else { Vec::new() };
        strikes.retain(|strike| {
            part != Part::Storm
                || options.faults.is_empty()
                || options.faults.iter().any(|f| f == strike.name())
        });
        while !strikes.is_empty() {
            let game = turns.next().unwrap_or(GOMOKU);
            table.again(game).await.with_context(|| format!("{part:?}, {}", game.name))?;
            table.play(&mut strikes, &mut dice, report).await.with_context(|| format!("{part:?}"))?;
        }
    }
    // Before strangers come, whose controllers are not the cell's. Each reading begins the longest value anew.
    let habits = lab.air.reading().await?.habits;
    options.cell.holds(&habits, in_peace.longest_value, report)?;
    table.leave().await
}

/// Enough samples for a p95.
const ENOUGH_MOVES: usize = 60;

/// The faults of a part, the last first.
type Fire = fn(bool, &mut Dice) -> Vec<Strike>;

fn cuts(soak: bool, dice: &mut Dice) -> Vec<Strike> {
    let count = if soak { 200 } else { 6 };
    // One time in three out of range for some time as well.
    let away =
        |dice: &mut Dice| Duration::from_millis(if dice.roll(3) == 0 { 500 + dice.roll(3000) } else { 0 });
    (0..count).map(|_| Strike::Cut(away(dice))).collect()
}

fn kills(soak: bool, _: &mut Dice) -> Vec<Strike> {
    let each = if soak { 10 } else { 1 };
    (0..each).flat_map(|_| [Strike::Kill(Who::A), Strike::Kill(Who::B)]).collect()
}

fn suspends(soak: bool, dice: &mut Dice) -> Vec<Strike> {
    let each = if soak { 5 } else { 1 };
    // Shorter and longer than the timeout after which the other side gives up a silent link.
    let mut time = || Duration::from_secs(2 + dice.roll(if soak { 15 } else { 2 }));
    (0..each).flat_map(|_| [Strike::Suspended(Who::B, time()), Strike::Suspended(Who::A, time())]).collect()
}

/// In a soak, 20 adapter power cycles and 20 restarts of bluetoothd, with all other faults now and then between them.
fn storm(soak: bool, dice: &mut Dice) -> Vec<Strike> {
    let rounds = if soak { 10 } else { 1 };
    let mut strikes = Vec::new();
    for round in 0..rounds {
        let (one, other) = if round % 2 == 0 { (Who::A, Who::B) } else { (Who::B, Who::A) };
        let pause = |dice: &mut Dice| Duration::from_millis(300 + dice.roll(2000));
        strikes.extend([
            Strike::Kick,
            Strike::Power(one, pause(dice)),
            Strike::Bluetoothd(other, pause(dice)),
        ]);
        if soak {
            strikes.extend([Strike::Power(other, pause(dice)), Strike::Bluetoothd(one, pause(dice))]);
        }
        if round % 3 == 0 {
            strikes.extend([
                Strike::Blocked(one, pause(dice)),
                Strike::OneAtATime(other),
                Strike::Unplugged(other, pause(dice)),
                Strike::NoAdverts(one),
                Strike::Unplugged(one, pause(dice)),
                Strike::AnotherAdapter(other, pause(dice)),
            ]);
            if soak {
                // Shorter than the timeout after which both sides would give up the link at the same time: that triggers the
                // kernel BUG that `without_a_link` avoids, on both machines at once.
                strikes.extend([
                    Strike::Freeze(one, Duration::from_secs(4)),
                    Strike::Freeze(other, Duration::from_secs(7)),
                    Strike::Silence(Duration::from_secs(2)),
                    Strike::Silence(Duration::from_secs(7)),
                ]);
            }
        }
    }
    strikes.reverse();
    strikes
}

/// Bare echoes beside a match.
struct Pace(Receiver<Heard>);

impl Pace {
    /// Before the two meet: each looks at the other's services once.
    async fn offer(lab: &Lab) -> Result<Pace> {
        let mut server = lab.a.hear();
        let serve = ["ble-lab", "bare-serve", "--silent"];
        lab.a.start("bare-serve", User::Player, &serve, Output::Lines).await?;
        faults::expect(&mut server, "bare-serve", "serving").await?;
        Ok(Pace(lab.b.hear()))
    }

    async fn begin(&mut self, lab: &Lab) -> Result<()> {
        self.0 = lab.b.hear();
        let pace = ["ble-lab", "bare-pace", ADDRESS_OF_A];
        lab.b.start("bare-pace", User::Player, &pace, Output::Lines).await?;
        faults::expect(&mut self.0, "bare-pace", "up").await
    }

    /// The milliseconds of each echo.
    async fn end(mut self, lab: &Lab) -> Result<Vec<f64>> {
        lab.b.kill("bare-pace").await?;
        lab.a.kill("bare-serve").await?;
        let mut took = Vec::new();
        loop {
            match self.0.try_recv() {
                Ok(Heard::Line { name, text }) if name == "bare-pace" => {
                    took.extend(text.strip_prefix("echo ").and_then(|took| took.parse::<f64>().ok()));
                }
                Ok(_) | Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(took),
            }
        }
    }
}

/// Scans, then echoes and long messages over our stream and over a bare service on the same link, alternating, as an ordinary
/// user, with an unmodified BlueZ.
async fn stream(lab: &Lab, report: &mut Report) -> Result<()> {
    lab.air.reading().await?;
    let mut server = lab.a.hear();
    lab.a.start("stream-serve", User::Player, &["ble-lab", "stream-serve"], Output::Lines).await?;
    faults::expect(&mut server, "stream-serve", "serving").await?;
    let drive = ["ble-lab", "stream-drive", ADDRESS_OF_A];
    let done = lab.b.run(User::Player, &drive, Duration::from_secs(150)).await?;
    std::fs::write(lab.out.join("stream-drive-B.log"), &done.stderr)?;
    lab.a.kill("stream-serve").await?;
    let streamed: Streamed = serde_json::from_str(done.stdout.trim()).with_context(|| done.stdout.clone())?;
    let reading = lab.air.reading().await?;
    report.att_payload = Some(reading.longest_value);
    report.found_again = Quantiles::of(&streamed.found);
    let ours = Quantiles::of(&streamed.round_trips).context("no echoes")?;
    let bare = Quantiles::of(&streamed.bare_round_trips).context("no bare echoes")?;
    report.bare_round_trip.get_or_insert(bare);
    let [goodput, bare_goodput] = [&streamed.goodput, &streamed.bare_goodput].map(|all| Quantiles::of(all));
    let (goodput, bare_goodput) = (goodput.context("no rounds")?.p50, bare_goodput.context("no rounds")?.p50);
    report.goodput_ratio = Some(goodput / bare_goodput);
    println!(
        "ble-lab: stream: connected {:.0} ms, echo {ours}, bare {bare}, {:.1} kB/s, bare {:.1} kB/s",
        streamed.connected,
        goodput / 1e3,
        bare_goodput / 1e3,
    );
    // The two programs compare every byte and fail on a difference.
    report.checks += 1;
    Ok(())
}

/// The hard case for the stream: B's bluetoothd has connected to another service of A before, and shows that connection's
/// services instead of those that A advertises.
async fn knows_only_a_connection(lab: &Lab, report: &mut Report) -> Result<()> {
    let services = lab.b.services_of(ADDRESS_OF_A).await?;
    let generic = services.contains("00001800-0000-1000-8000-00805f9b34fb");
    let ours = services.contains(&ble_transport::SERVICE.to_string());
    report.check(generic && !ours, || format!("B's bluetoothd knows these services of A: {services}"))
}

/// The emulator's first controller.
pub(crate) const ADDRESS_OF_A: &str = "00:AA:01:00:00:42";

/// Echo and write loop between the two without our code, with values as long as the stream's.
async fn bare(lab: &Lab, report: &mut Report) -> Result<()> {
    let length = LARGEST.to_string();
    faults::serve(lab).await?;
    let before = lab.air.reading().await?.traffic;
    let done = lab
        .b
        .run(User::Player, &["ble-lab", "bare-drive", "--write-bytes", &length], Duration::from_secs(90))
        .await?;
    let after = lab.air.reading().await?;
    let traffic = after.traffic - before;
    lab.a.kill("bare-serve").await?;
    let bare: Bare = serde_json::from_str(done.stdout.trim()).with_context(|| done.stdout.clone())?;
    println!(
        "ble-lab: bare: found {:.0} ms, connected {:.0} ms, {:.1} kB/s, {} of {} writes arrived, {} out of place, \
         {} of {} values on EATT, longest {} bytes",
        bare.found,
        bare.connected,
        bare.goodput / 1e3,
        bare.arrived,
        bare.written,
        bare.misplaced,
        traffic.values_on_eatt,
        traffic.values,
        after.longest_value,
    );
    let wrong = bare.wrong_echoes;
    report.check(wrong == 0, || format!("{wrong} of {} echoes were wrong", bare.round_trips.len()))?;
    Ok(())
}
