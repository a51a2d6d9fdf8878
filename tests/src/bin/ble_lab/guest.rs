//! One handheld: a QEMU guest with its own kernel, D-Bus and bluetoothd, and the connection to its agent.

use crate::air::Side;
use crate::orders::{AGENT_PORT, Done, HCI_PORT, Message, Order, Output, Program, User, What};
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, sleep, timeout};

/// Half of it bounds the root file system: kernel modules, userland, our programs and the saves. With 192 MB the disk filled up
/// in the middle of a match.
const MEMORY: &str = "320";
/// A cold start takes 4 s on an idle machine; 60 s were seen on a busy one.
const BOOT_LIMIT: Duration = Duration::from_mins(2);

/// Output of a started program, or its end.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    /// A line of output.
    Line {
        name: String,
        text: String,
    },
    Ended {
        name: String,
        code: Option<i32>,
    },
}

/// Paths of a guest's parts.
pub(crate) struct Parts<'a> {
    pub(crate) kernel: &'a Path,
    pub(crate) initrd: &'a Path,
    /// Folder of the sockets; the radio already listens there.
    pub(crate) work: &'a Path,
    /// Folder of the console's log.
    pub(crate) out: &'a Path,
}

pub(crate) struct Guest {
    pub(crate) side: Side,
    pub(crate) kernel: String,
    qemu: Child,
    line: Arc<Line>,
    heard: broadcast::Sender<Heard>,
    /// How often the lab itself has killed bluetoothd, and its end has not been heard yet.
    kills_of_bluetoothd: AtomicU32,
}

#[derive(Default)]
struct Answers(Mutex<HashMap<u64, oneshot::Sender<Result<Done, String>>>>);

impl Answers {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<u64, oneshot::Sender<Result<Done, String>>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Line {
    writer: tokio::sync::Mutex<(u64, OwnedWriteHalf)>,
    answers: Answers,
}

impl Guest {
    /// Boots the guest; returns when its agent has plugged in the controller.
    pub(crate) async fn boot(side: Side, parts: &Parts<'_>) -> Result<Guest> {
        let socket = |port: &str| parts.work.join(format!("{port}-{side:?}"));
        let listener = UnixListener::bind(socket(AGENT_PORT))?;
        let mut qemu = qemu(side, parts, &socket)?.spawn().context("qemu-system-x86_64")?;
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            status = qemu.wait() => bail!("QEMU of side {side:?} ended at once: {}", status?),
        };
        let (reader, writer) = stream.into_split();
        let line =
            Arc::new(Line { writer: tokio::sync::Mutex::new((0, writer)), answers: Answers::default() });
        // More than the lines of one whole match, so that a slow receiver misses none.
        let (heard, _) = broadcast::channel(16_384);
        let (ready, booted) = oneshot::channel();
        let log = std::fs::File::create(parts.out.join(format!("heard-{side:?}.log")))?;
        tokio::spawn(listen(reader, line.clone(), heard.clone(), ready, log));
        let kernel = timeout(BOOT_LIMIT, booted)
            .await
            .map_err(|_| anyhow!("side {side:?} did not boot; see console-{side:?}.log"))?
            .with_context(|| format!("side {side:?} ended while booting; see console-{side:?}.log"))?;
        Ok(Guest { side, kernel, qemu, line, heard, kills_of_bluetoothd: AtomicU32::default() })
    }

    /// The output of its programs from now on.
    pub(crate) fn hear(&self) -> broadcast::Receiver<Heard> {
        self.heard.subscribe()
    }

    async fn order(&self, what: What, limit: Duration) -> Result<Done> {
        let about = format!("side {:?}: {what:?}", self.side);
        let (answer, wait) = oneshot::channel();
        {
            let mut writer = self.line.writer.lock().await;
            writer.0 += 1;
            let number = writer.0;
            self.line.answers.with(|waiting| waiting.insert(number, answer));
            let mut text = serde_json::to_vec(&Order { number, what })?;
            text.push(b'\n');
            writer.1.write_all(&text).await?;
        }
        match timeout(limit, wait).await {
            Err(_) => bail!("{about}: no answer in {limit:?}"),
            Ok(Err(_)) => bail!("{about}: the guest is gone"),
            Ok(Ok(Err(error))) => bail!("{about}: {error}"),
            Ok(Ok(Ok(done))) => Ok(done),
        }
    }

    /// Runs a program to its end and returns its output, whatever its exit code.
    pub(crate) async fn try_run(&self, user: User, arguments: &[&str], limit: Duration) -> Result<Done> {
        let program = program(user, arguments);
        let limit_ms = limit.as_millis() as u64;
        self.order(What::Run { program, limit_ms }, limit + Duration::from_secs(20)).await
    }

    /// The same; an exit code other than 0 is an error.
    pub(crate) async fn run(&self, user: User, arguments: &[&str], limit: Duration) -> Result<Done> {
        let done = self.try_run(user, arguments, limit).await?;
        if done.code != Some(0) {
            bail!(
                "side {:?}: {arguments:?} ended with {:?}: {}{}",
                self.side,
                done.code,
                done.stdout,
                done.stderr
            );
        }
        Ok(done)
    }

    pub(crate) async fn start(
        &self,
        name: &str,
        user: User,
        arguments: &[&str],
        output: Output,
    ) -> Result<()> {
        let what = What::Start { name: name.into(), program: program(user, arguments), output };
        self.order(what, Duration::from_secs(30)).await.map(|_| ())
    }

    /// `kill -9`; returns when the process is dead.
    pub(crate) async fn kill(&self, name: &str) -> Result<()> {
        self.signal(name, rustix::process::Signal::KILL).await
    }

    pub(crate) async fn signal(&self, name: &str, signal: rustix::process::Signal) -> Result<()> {
        let what = What::Kill { name: name.into(), signal: signal.as_raw() };
        self.order(what, Duration::from_secs(30)).await.map(|_| ())
    }

    /// A file's bytes.
    pub(crate) async fn fetch(&self, path: &str) -> Result<Vec<u8>> {
        let done = self.order(What::Fetch { path: path.into() }, Duration::from_mins(1)).await?;
        let digits = done.file.as_bytes().chunks_exact(2);
        digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
    }

    /// Changes BlueZ's stock configuration: section, key, value.
    pub(crate) async fn configure(&self, settings: &[(&str, &str, String)]) -> Result<()> {
        for (section, key, value) in settings {
            let edit = format!("s/^\\[{section}\\]$/&\\n{key} = {value}/");
            self.run(User::Root, &["sed", "-i", &edit, BLUEZ_CONF], Duration::from_secs(10)).await?;
            let there = format!("^{key} = {value}$");
            self.run(User::Root, &["grep", &there, BLUEZ_CONF], Duration::from_secs(10))
                .await
                .with_context(|| format!("{BLUEZ_CONF} has no section {section}"))?;
        }
        Ok(())
    }

    /// Starts bluetoothd as Debian's service does, and waits for the adapter to be on D-Bus and powered.
    pub(crate) async fn start_bluetoothd(&self) -> Result<()> {
        // BLUEZ_DEBUG=1: bluetoothd logs everything.
        let command: &[&str] = match std::env::var_os("BLUEZ_DEBUG") {
            Some(_) => &["/bin/bluetoothd", "-n", "-d"],
            None => &["/bin/bluetoothd", "-n"],
        };
        self.start("bluetoothd", User::Root, command, Output::Log).await?;
        self.adapter_on().await
    }

    /// `kill -9`, see [`kill`](Self::kill).
    pub(crate) async fn kill_bluetoothd(&self) -> Result<()> {
        self.kills_of_bluetoothd.fetch_add(1, Relaxed);
        self.kill("bluetoothd").await
    }

    /// Starts a bluetoothd that crashed, as a desktop's next call would; `crashed` counts. Never returns but with an error.
    pub(crate) async fn keep_bluetoothd(&self, crashed: &AtomicU32) -> Result<()> {
        let mut heard = self.hear();
        loop {
            match heard.recv().await {
                Ok(Heard::Ended { name, code }) if name == "bluetoothd" => {
                    let killed =
                        self.kills_of_bluetoothd.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1));
                    if killed.is_ok() {
                        continue;
                    }
                    println!("ble-lab: bluetoothd of {:?} has crashed ({code:?})", self.side);
                    crashed.fetch_add(1, Relaxed);
                    self.start_bluetoothd().await.context("after bluetoothd has crashed")?;
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => bail!("side {:?}: the guest is gone", self.side),
            }
        }
    }

    /// Waits for the adapter to be on D-Bus, and powered.
    async fn adapter_on(&self) -> Result<()> {
        self.listed(ADAPTER, true).await?;
        // Debian's bluetoothd switches adapters on by itself (AutoEnable); older settings leave it to the user.
        self.power(true).await
    }

    /// A second adapter, with nobody in range: BlueZ's emulator runs in the guest. Returns when the adapter is on.
    pub(crate) async fn plug_another(&self) -> Result<()> {
        self.start("btvirt", User::Root, &["btvirt", "-L", "-l1"], Output::Log).await?;
        self.listed(ANOTHER, true).await?;
        self.power_of(ANOTHER, true).await
    }

    /// Unplugs the second adapter.
    pub(crate) async fn unplug_another(&self) -> Result<()> {
        self.kill("btvirt").await?;
        self.listed(ANOTHER, false).await
    }

    /// Waits until bluetoothd lists this adapter, or no longer does.
    async fn listed(&self, adapter: &str, there: bool) -> Result<()> {
        let begun = Instant::now();
        loop {
            let path = format!("/org/bluez/{adapter}");
            let get = ["org.freedesktop.DBus.Properties.Get", "string:org.bluez.Adapter1", "string:Powered"];
            let ask = [&CALL_BLUEZ[..], &[path.as_str()], &get].concat();
            let done = self.try_run(User::Root, &ask, Duration::from_secs(10)).await?;
            if (done.code == Some(0)) == there {
                return Ok(());
            }
            let waited = begun.elapsed();
            ensure!(waited < Duration::from_secs(30), "{adapter} on D-Bus: {}: {}", !there, done.stderr);
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Switches the adapter as a desktop's switch does.
    pub(crate) async fn power(&self, on: bool) -> Result<()> {
        self.power_of(ADAPTER, on).await
    }

    async fn power_of(&self, adapter: &str, on: bool) -> Result<()> {
        let (path, value) = (format!("/org/bluez/{adapter}"), format!("variant:boolean:{on}"));
        let set =
            ["org.freedesktop.DBus.Properties.Set", "string:org.bluez.Adapter1", "string:Powered", &value];
        let arguments = [&CALL_BLUEZ[..], &[path.as_str()], &set].concat();
        let begun = Instant::now();
        loop {
            // BlueZ answers Busy while it still handles the previous request.
            match self.run(User::Root, &arguments, Duration::from_secs(20)).await {
                Err(error)
                    if error.to_string().contains("Busy") && begun.elapsed() < Duration::from_secs(15) =>
                {
                    sleep(Duration::from_millis(200)).await;
                }
                other => return other.map(drop),
            }
        }
    }

    /// The kernel's settings of the adapter that are on, as words.
    pub(crate) async fn adapter_settings(&self) -> Result<String> {
        // btmgmt ends with its input, and then says no more: on a busy machine it needs longer than a second.
        let ask = "for time in 1 4 16; do \
                    said=$( (echo info; sleep $time) | btmgmt | sed -n 's/.*current settings: //p'); \
                    if [ -n \"$said\" ]; then break; fi; done; echo \"$said\"";
        Ok(self.run(User::Root, &["sh", "-c", ask], Duration::from_mins(1)).await?.stdout)
    }

    /// Flight mode, as with `rfkill block bluetooth`.
    pub(crate) async fn block(&self, on: bool) -> Result<()> {
        let value = u8::from(on);
        let write = format!("for switch in /sys/class/rfkill/*; do echo {value} > $switch/soft; done");
        self.run(User::Root, &["sh", "-c", &write], Duration::from_secs(10)).await?;
        Ok(())
    }

    /// Unplugs the adapter. The radio must have removed the controller before.
    pub(crate) async fn unplug(&self) -> Result<()> {
        self.order(What::Unplug, Duration::from_secs(30)).await.map(|_| ())
    }

    /// Plugs the adapter in, after the radio has restored the controller.
    pub(crate) async fn plug(&self) -> Result<()> {
        self.order(What::Plug, Duration::from_secs(30)).await?;
        self.adapter_on().await
    }

    /// Plugs in the network cable, or pulls it: the two guests are alone in that network.
    pub(crate) async fn cable(&self, plugged: bool) -> Result<()> {
        let address = self.side.address();
        let turn = if plugged { "up" } else { "down" };
        let change =
            format!("ip addr flush dev eth0; ip link set eth0 {turn}; ip addr add {address}/24 dev eth0");
        self.run(User::Root, &["sh", "-e", "-c", &change], Duration::from_secs(10)).await?;
        Ok(())
    }

    /// The services of a device, according to bluetoothd.
    pub(crate) async fn services_of(&self, device: &str) -> Result<String> {
        let path = format!("/org/bluez/hci0/dev_{}", device.replace(':', "_"));
        let get = ["dbus-send", "--system", "--print-reply=literal", "--dest=org.bluez", path.as_str()];
        let what = ["org.freedesktop.DBus.Properties.Get", "string:org.bluez.Device1", "string:UUIDs"];
        Ok(self.run(User::Root, &[&get[..], &what].concat(), Duration::from_secs(10)).await?.stdout)
    }

    /// Makes bluetoothd forget every device.
    pub(crate) async fn forget_devices(&self) -> Result<()> {
        let call = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez"];
        let limit = Duration::from_secs(20);
        let list = [&call[..], &["/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects"]].concat();
        let objects = self.run(User::Root, &list, limit).await?.stdout;
        let paths = objects.split('"').filter(|path| path.starts_with("/org/bluez/hci0/dev_"));
        // A device's object, not its services' objects below it.
        let devices: BTreeSet<&str> = paths.filter(|path| path.matches('/').count() == 4).collect();
        for device in devices {
            let path = format!("objpath:{device}");
            let remove = ["/org/bluez/hci0", "org.bluez.Adapter1.RemoveDevice", path.as_str()];
            // The device may have been removed meanwhile.
            self.try_run(User::Root, &[&call[..], &remove].concat(), limit).await?;
        }
        Ok(())
    }

    /// Announces sleep or wake-up to every program, as logind does.
    pub(crate) async fn say_sleep(&self, soon: bool) -> Result<()> {
        let soon = format!("boolean:{soon}");
        let signal = ["dbus-send", "--system", "--type=signal", "/org/freedesktop/login1"];
        let what = ["org.freedesktop.login1.Manager.PrepareForSleep", soon.as_str()];
        self.run(User::Root, &[&signal[..], &what].concat(), Duration::from_secs(10)).await?;
        Ok(())
    }

    /// Sets the wall clock on by this time and no other clock, as it is found after a suspend: when QEMU stops, all clocks go on.
    pub(crate) async fn skip(&self, time: Duration) -> Result<()> {
        let set = format!("date -s @$(($(date +%s) + {}))", time.as_secs());
        self.run(User::Root, &["sh", "-c", &set], Duration::from_secs(10)).await?;
        Ok(())
    }

    /// Number of voluntary context switches of each thread of the host since its start: name and count. Each is a wake-up.
    pub(crate) async fn wakes_of_host(&self) -> Result<Vec<(String, u64)>> {
        let each = "for t in /proc/$(pidof qiyoud)/task/*; do \
                    echo ${t##*/}-$(cat $t/comm) $(grep ^voluntary_ctxt_switches $t/status); done";
        let said = self.run(User::Root, &["sh", "-c", each], Duration::from_secs(10)).await?.stdout;
        let count = |line: &str| {
            let (thread, count) = line.split_once(" voluntary_ctxt_switches: ")?;
            Some((thread.to_owned(), count.trim().parse().ok()?))
        };
        said.lines().map(|line| count(line).with_context(|| format!("not a thread: {line:?}"))).collect()
    }

    /// Resident memory of the host here, in kB.
    pub(crate) async fn memory_of_host(&self) -> Result<u64> {
        let each = "grep ^VmRSS /proc/$(pidof qiyoud)/status";
        let said = self.run(User::Root, &["sh", "-c", each], Duration::from_secs(10)).await?.stdout;
        said.split_whitespace().nth(1).and_then(|held| held.parse().ok()).with_context(|| said.clone())
    }

    /// Stops the whole machine for some time: suspend as seen from outside.
    pub(crate) async fn freeze(&self, time: Duration) -> Result<()> {
        let pid = rustix::process::Pid::from_raw(self.qemu.id().context("QEMU has ended")? as i32)
            .context("a pid")?;
        rustix::process::kill_process(pid, rustix::process::Signal::STOP)?;
        sleep(time).await;
        Ok(rustix::process::kill_process(pid, rustix::process::Signal::CONT)?)
    }

    /// Writes the guest's logs to `out`, as far as it still answers.
    pub(crate) async fn save_logs(&self, out: &Path) {
        let keep =
            |name: &str, text: &[u8]| std::fs::write(out.join(format!("{name}-{:?}.log", self.side)), text);
        let list = self.try_run(User::Root, &["ls", "/var/log"], Duration::from_secs(10)).await;
        for name in list.map(|done| done.stdout).unwrap_or_default().lines() {
            if let Ok(text) = self.fetch(&format!("/var/log/{name}")).await {
                let _ = keep(name.trim_end_matches(".log"), &text);
            }
        }
        if let Ok(done) = self.try_run(User::Root, &["dmesg"], Duration::from_secs(10)).await {
            let _ = keep("dmesg", done.stdout.as_bytes());
        }
    }

    /// What may have failed below our own programs: bluetoothd that does not run, and the kernel's reports. For error reports.
    pub(crate) async fn mishaps(&self) -> String {
        let look = "pidof bluetoothd > /dev/null || echo 'bluetoothd does not run'; \
                    dmesg | grep -E 'BUG|Oops|segfault|traps:|Out of memory|blocked for more' | tail -n 5; \
                    tail -n 3 /var/log/bluetoothd.log";
        match self.try_run(User::Root, &["sh", "-c", look], Duration::from_secs(10)).await {
            Ok(done) => done.stdout,
            Err(error) => format!("{error:#}"),
        }
    }

    pub(crate) async fn switch_off(&mut self) {
        let _ = self.qemu.kill().await;
    }
}

const CALL_BLUEZ: [&str; 4] = ["dbus-send", "--system", "--print-reply=literal", "--dest=org.bluez"];
/// The adapter on the lab's radio, and the guest's own second adapter.
const ADAPTER: &str = "hci0";
const ANOTHER: &str = "hci1";
const BLUEZ_CONF: &str = "/etc/bluetooth/main.conf";

fn program(user: User, arguments: &[&str]) -> Program {
    let log = std::env::var("QIYOU_LOG").unwrap_or_else(|_| "info".into());
    let arguments = arguments.iter().map(|&a| a.to_owned()).collect();
    Program {
        arguments,
        user,
        environment: vec![
            ("NO_COLOR".into(), "1".into()),
            ("QIYOU_LOG".into(), log.clone()),
            ("RUST_LOG".into(), log),
        ],
    }
}

/// The guest's machine. Pure emulation, so that behaviour and timing are the same with and without KVM.
fn qemu(side: Side, parts: &Parts<'_>, socket: &dyn Fn(&str) -> PathBuf) -> Result<Command> {
    // Killed with the lab, however the lab ends.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]);
    command.args(["-accel", "tcg", "-machine", "pc", "-cpu", "max", "-smp", "1", "-m", MEMORY]);
    command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
    command.arg("-kernel").arg(parts.kernel).arg("-initrd").arg(parts.initrd);
    command
        .arg("-append")
        .arg(format!("console=ttyS0 quiet no_timer_check panic=-1 tsc=unstable lab.name=qiyou-{side:?}"));
    command.arg("-serial").arg(format!("file:{}", parts.out.join(format!("console-{side:?}.log")).display()));
    command.args(["-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]);
    for port in [HCI_PORT, AGENT_PORT] {
        command.arg("-chardev").arg(format!("socket,id={port},path={}", socket(port).display()));
        command.arg("-device").arg(format!("virtserialport,chardev={port},name={port}"));
    }
    // A datagram cable between the first two: a missing peer is no error.
    if let Some(peer) = side.cable_peer() {
        let [own, others] =
            [side, peer].map(|side| parts.work.join(format!("lan-{side:?}")).display().to_string());
        command.arg("-netdev").arg(format!(
            "dgram,id=lan,local.type=unix,local.path={own},remote.type=unix,remote.path={others}"
        ));
        command
            .arg("-device")
            .arg(format!("virtio-net-pci,netdev=lan,mac=52:54:00:71:79:0{}", side as u8 + 1));
    }
    command.stdin(std::process::Stdio::null()).kill_on_drop(true);
    let log = std::fs::File::create(parts.out.join(format!("qemu-{side:?}.log")))?;
    command.stdout(log.try_clone()?).stderr(log);
    Ok(command)
}

async fn listen(
    reader: OwnedReadHalf,
    line: Arc<Line>,
    heard: broadcast::Sender<Heard>,
    ready: oneshot::Sender<String>,
    mut log: std::fs::File,
) {
    let mut ready = Some(ready);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(text)) = lines.next_line().await {
        // Without a receiver there is no error.
        let tell = |what| drop(heard.send(what));
        match serde_json::from_str(&text) {
            Ok(Message::Ready { kernel }) => drop(ready.take().map(|ready| ready.send(kernel))),
            Ok(Message::Answer { number, result }) => {
                let waiting = line.answers.with(|waiting| waiting.remove(&number));
                drop(waiting.map(|waiting| waiting.send(result)));
            }
            Ok(Message::Line { name, at, text }) => {
                let _ = writeln!(log, "{:10.1} {name}: {text}", at as f64 / 1e3);
                tell(Heard::Line { name, text });
            }
            Ok(Message::Ended { name, code }) => {
                let _ = writeln!(log, "           {name} ended with {code:?}");
                tell(Heard::Ended { name, code });
            }
            Err(error) => eprintln!("ble-lab: not understood ({error}): {text}"),
        }
    }
    // Waiting callers learn that no answer comes.
    line.answers.with(HashMap::clear);
}
