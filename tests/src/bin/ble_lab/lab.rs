//! The whole of a run: two handhelds are made, the parts are played one after the other, everything is cleared away.

use crate::air::{Air, Side};
use crate::bare::Bare;
use crate::faults;
use crate::guest::{Guest, Parts};
use crate::orders::User;
use crate::report::{Quantiles, Report};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What `tests/ble-lab/guest-root` made.
    #[arg(long)]
    base: PathBuf,
    /// An empty directory with a short name, for sockets; holds `initrd` and `btvirt-host.so`.
    #[arg(long)]
    work: PathBuf,
    /// Where the report and the logs go.
    #[arg(long)]
    out: PathBuf,
    /// The large counts.
    #[arg(long)]
    soak: bool,
    /// Play this part only.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Seed of the moments at which faults strike.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Part {
    /// The radio, the kernel and BlueZ without us.
    Bare,
    /// The lab itself: every fault it makes is felt, and passes.
    Faults,
}

/// CI's run must end within six minutes on two cores; one that hangs must not take the job with it.
const LIMIT: Duration = Duration::from_mins(6);
const SOAK_LIMIT: Duration = Duration::from_hours(1);

/// Plays, reports, clears away. Ends early on SIGINT and SIGTERM.
pub(crate) async fn run(options: Options) -> Result<()> {
    let begun = Instant::now();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut report = Report::default();
    let limit = if options.soak { SOAK_LIMIT } else { LIMIT };
    // Whatever ends first, the other processes end with the futures that own them.
    let result = tokio::select! {
        played = timeout(limit, play(&options, &mut report)) => played.unwrap_or_else(|_| bail!("not done after {limit:?}")),
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    };
    report.seconds = begun.elapsed().as_secs_f64();
    report.write(&options.out.join("report.json"))?;
    report.print();
    match &result {
        Ok(()) => println!("ble-lab: passed"),
        Err(error) => println!("ble-lab: FAILED: {error:#}\nlogs: {}", options.out.display()),
    }
    result
}

async fn play(options: &Options, report: &mut Report) -> Result<()> {
    let mut lab = Lab::start(options).await?;
    let played = async {
        lab.start_bluetooth().await?;
        parts(&lab, options, report).await
    }
    .await;
    lab.save_logs().await;
    lab.stop().await;
    played
}

async fn parts(lab: &Lab, options: &Options, report: &mut Report) -> Result<()> {
    let plays = |part| options.only.is_none_or(|only| only == part);
    if plays(Part::Bare) {
        bare(lab, report).await.context("the bare service")?;
    }
    if plays(Part::Faults) {
        faults::each_is_felt_and_passes(lab).await.context("the lab's faults")?;
    }
    Ok(())
}

/// Two handhelds in range of each other.
pub(crate) struct Lab {
    pub(crate) a: Guest,
    pub(crate) b: Guest,
    pub(crate) air: Air,
    out: PathBuf,
    controllers: Child,
}

impl Lab {
    async fn start(options: &Options) -> Result<Lab> {
        let begun = Instant::now();
        let (controllers, socket) = controllers(options).await?;
        let air = Air::start(&options.work, socket)?;
        let (kernel, initrd) = (options.base.join("vmlinuz"), options.work.join("initrd"));
        let parts = Parts { kernel: &kernel, initrd: &initrd, work: &options.work, out: &options.out };
        let (a, b) = tokio::try_join!(Guest::boot(Side::A, &parts), Guest::boot(Side::B, &parts))?;
        println!("ble-lab: kernel {}, up after {:.1} s", a.kernel, begun.elapsed().as_secs_f64());
        Ok(Lab { a, b, air, out: options.out.clone(), controllers })
    }

    async fn start_bluetooth(&self) -> Result<()> {
        let begun = Instant::now();
        tokio::try_join!(self.a.start_bluetoothd(), self.b.start_bluetoothd())?;
        let version = self.a.run(User::Root, &["bluetoothd", "--version"], Duration::from_secs(10)).await?;
        let seconds = begun.elapsed().as_secs_f64();
        println!("ble-lab: BlueZ {}, both adapters up after {seconds:.1} s", version.stdout.trim());
        Ok(())
    }

    async fn save_logs(&self) {
        tokio::join!(self.a.save_logs(&self.out), self.b.save_logs(&self.out));
    }

    async fn stop(&mut self) {
        self.air.stop();
        tokio::join!(self.a.switch_off(), self.b.switch_off());
        let _ = self.controllers.kill().await;
    }
}

/// Starts BlueZ's controller emulator out of the guests' own tree, and returns it with its socket for LE controllers.
async fn controllers(options: &Options) -> Result<(Child, PathBuf)> {
    let root = options.base.join("root");
    let log = std::fs::File::create(options.out.join("btvirt.log"))?;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(root.join("lib64/ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(root.join("lib/x86_64-linux-gnu"));
    command.arg("--preload").arg(options.work.join("btvirt-host.so"));
    command.arg(root.join("bin/btvirt")).arg("-s").env("BLE_LAB_DIR", &options.work);
    command.stdin(std::process::Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
    let mut child = command.spawn().context("btvirt")?;
    let socket = options.work.join("bt-server-le");
    let begun = Instant::now();
    while !Path::exists(&socket) {
        if let Some(status) = child.try_wait()? {
            bail!("btvirt ended with {status}; see btvirt.log");
        }
        ensure!(begun.elapsed() < Duration::from_secs(10), "btvirt made no socket");
        sleep(Duration::from_millis(20)).await;
    }
    Ok((child, socket))
}

/// Echo and write loop between the two, as an ordinary user, with BlueZ as it is shipped.
async fn bare(lab: &Lab, report: &mut Report) -> Result<()> {
    faults::serve(lab).await?;
    let before = lab.air.reading().await?.traffic;
    let done = lab.b.run(User::Player, &["ble-lab", "bare-drive"], Duration::from_secs(90)).await?;
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
    ensure!(bare.wrong_echoes == 0, "{} of {} echoes were wrong", bare.wrong_echoes, bare.round_trips.len());
    report.bare_round_trip = Quantiles::of(&bare.round_trips);
    Ok(())
}
