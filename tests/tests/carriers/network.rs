//! Devices in network namespaces on one switch: real interfaces, real multicast, cables that can be pulled.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tests::house::Client;
use tokio::net::UnixStream;

/// The IP versions of the devices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Addresses {
    Both,
    V4,
    V6,
}

impl Addresses {
    /// The commands that give the device of this number its addresses, and bring its interface up.
    fn line(self, namespace: &str, number: usize) -> String {
        let v4 = format!("ip -n {namespace} addr add 10.77.0.{number}/24 dev eth0");
        let v6 = format!("ip -n {namespace} addr add fd77::{number}/64 dev eth0 nodad");
        let addresses = match self {
            Self::Both => format!("{v4} && {v6}"),
            Self::V4 => {
                format!("ip netns exec {namespace} sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1 && {v4}")
            }
            Self::V6 => v6,
        };
        format!("{addresses} && ip -n {namespace} link set eth0 up")
    }
}

/// Ends a program by SIGINT, and waits for it.
pub(crate) fn interrupt(mut program: Running) {
    let _ = Command::new("kill").args(["-INT", &program.0.id().to_string()]).status();
    let _ = program.0.wait();
}

/// A namespace with a bridge, and one for each device. Removed when dropped.
pub(crate) struct Network {
    /// Unique to this run, so that two runs can be concurrent.
    prefix: String,
    devices: Vec<String>,
    /// The program that replaces the switch between two devices.
    cable: Option<Running>,
}

/// Impairments of packets between two devices, in each direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) delay_ms: u32,
    /// Jitter around the delay: packets are reordered.
    pub(crate) jitter_ms: u32,
    pub(crate) loss_percent: u32,
}

impl Network {
    /// A switch and these devices, each with `10.77.0.N` and `fd77::N`, N from 1.
    ///
    /// # Panics
    /// With the kernel's message if it allows no namespaces, which need root.
    pub(crate) fn new(devices: &[&str]) -> Self {
        Self::with(devices, Addresses::Both)
    }

    /// The same with one IP version; IPv6-only devices also have their link-local addresses.
    pub(crate) fn with(devices: &[&str], addresses: Addresses) -> Self {
        let network = Self::of(devices);
        let switch = network.namespace("sw");
        sh(&format!(
            "ip netns add {switch} && ip -n {switch} link add br0 type bridge && ip -n {switch} link set br0 up"
        ));
        for (number, device) in (1..).zip(devices) {
            let (namespace, port) = (network.namespace(device), port(device));
            sh(&format!(
                "ip netns add {namespace} && ip -n {namespace} link set lo up && \
                 ip link add eth0 netns {namespace} type veth peer name {port} netns {switch} && \
                 ip -n {switch} link set {port} master br0 && ip -n {switch} link set {port} up && \
                 {}",
                addresses.line(&namespace, number)
            ));
        }
        network
    }

    /// Two devices and a program as their cable, which delays and loses frames: for kernels without netem, and in addition to it.
    pub(crate) fn over_a_bad_cable(devices: [&str; 2], weather: Weather) -> Self {
        let mut network = Self::of(&devices);
        let ends = devices.map(|device| network.namespace(device));
        let mut cable = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/cable.py"))
            .args(&ends)
            .args(
                [weather.delay_ms, weather.jitter_ms, weather.loss_percent].map(|number| number.to_string()),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs: scripts/need carriers");
        let mut said = String::new();
        let output = cable.stdout.as_mut().expect("piped");
        // One byte at a time: the rest is read at the program's end.
        BufReader::with_capacity(1, output).read_line(&mut said).expect("it says when it is ready");
        network.cable = Some(Running(cable));
        assert_eq!(said, "ready\n", "taps need root and /dev/net/tun");
        for (number, end) in (1..).zip(&ends) {
            sh(&format!(
                "ip netns add {end} && ip -n {end} link set lo up && ip link set {end} netns {end} name eth0 && {}",
                Addresses::Both.line(end, number)
            ));
        }
        network
    }

    /// Removes the impaired cable. Returns its counts of frames carried and lost.
    pub(crate) fn unplug_cable(&mut self) -> String {
        let mut cable = self.cable.take().expect("a network over a bad cable");
        drop(cable.0.stdin.take());
        let mut said = String::new();
        cable.0.stdout.take().expect("piped").read_to_string(&mut said).expect("it says what it did");
        said.trim().to_owned()
    }

    fn of(devices: &[&str]) -> Self {
        Self {
            prefix: format!("qy{}", std::process::id() % 10_000),
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            cable: None,
        }
    }

    fn namespace(&self, device: &str) -> String {
        format!("{}-{device}", self.prefix)
    }

    /// A command in a device's network namespace.
    pub(crate) fn command(&self, device: &str, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(device)]).arg(program.as_ref());
        command
    }

    /// A second switch with another network, and a second cable from each device to it.
    pub(crate) fn second_cable(&self) {
        let switch = self.namespace("sw");
        sh(&format!("ip -n {switch} link add br1 type bridge && ip -n {switch} link set br1 up"));
        for (number, device) in (1..).zip(&self.devices) {
            let (namespace, port) = (self.namespace(device), format!("t2-{device}"));
            sh(&format!(
                "ip link add eth1 netns {namespace} type veth peer name {port} netns {switch} && \
                 ip -n {switch} link set {port} master br1 && ip -n {switch} link set {port} up && \
                 ip -n {namespace} addr add 10.78.0.{number}/24 dev eth1 && \
                 ip -n {namespace} addr add fd78::{number}/64 dev eth1 nodad && ip -n {namespace} link set eth1 up"
            ));
        }
    }

    /// Moves a device to a network of its own, `10.99.0.0/24` and `fd99::/64`, behind another device as its router. All other devices know
    /// the way there.
    pub(crate) fn move_behind(&self, device: &str, router: &str) {
        let (stranger, gateway) = (self.namespace(device), self.namespace(router));
        let number = 1 + self.devices.iter().position(|one| one == router).expect("a device of this network");
        sh(&format!(
            "ip -n {stranger} link del eth0 && \
             ip link add eth1 netns {gateway} type veth peer name eth0 netns {stranger} && \
             ip -n {gateway} addr add 10.99.0.1/24 dev eth1 && ip -n {gateway} addr add fd99::1/64 dev eth1 nodad && \
             ip -n {stranger} addr add 10.99.0.2/24 dev eth0 && ip -n {stranger} addr add fd99::2/64 dev eth0 nodad && \
             ip -n {gateway} link set eth1 up && ip -n {stranger} link set eth0 up && \
             ip netns exec {gateway} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 && \
             ip -n {stranger} route add default via 10.99.0.1 && ip -n {stranger} -6 route add default via fd99::1"
        ));
        for other in self.devices.iter().filter(|one| *one != device && *one != router) {
            let other = self.namespace(other);
            sh(&format!(
                "ip -n {other} route add 10.99.0.0/24 via 10.77.0.{number} && \
                 ip -n {other} -6 route add fd99::/64 via fd77::{number}"
            ));
        }
    }

    /// Pulls a device's cable, or plugs it in: its interface loses the carrier.
    pub(crate) fn plug(&self, device: &str, plugged: bool) {
        let state = if plugged { "up" } else { "down" };
        sh(&format!("ip -n {} link set {} {state}", self.namespace("sw"), port(device)));
    }

    /// Takes a device's interface down or up, as leaving and joining a Wi-Fi network does. Its IPv6 address is lost.
    pub(crate) fn switch_on(&self, device: &str, on: bool) {
        let namespace = self.namespace(device);
        let number = 1 + self.devices.iter().position(|one| one == device).expect("a device of this network");
        sh(&if on {
            format!(
                "ip -n {namespace} link set eth0 up && ip -n {namespace} addr replace fd77::{number}/64 dev eth0 nodad"
            )
        } else {
            format!("ip -n {namespace} link set eth0 down")
        });
    }

    /// Delays and loses a device's packets in both directions. `false` if the kernel has no netem.
    #[must_use]
    pub(crate) fn impair(&self, device: &str, weather: Weather) -> bool {
        let Weather { delay_ms, jitter_ms, loss_percent } = weather;
        let how = format!("delay {delay_ms}ms {jitter_ms}ms loss {loss_percent}%");
        let (switch, namespace, port) = (self.namespace("sw"), self.namespace(device), port(device));
        let there = format!("tc -n {namespace} qdisc replace dev eth0 root netem {how}");
        let back = format!("tc -n {switch} qdisc replace dev {port} root netem {how}");
        try_sh(&there).is_ok() && try_sh(&back).is_ok()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in self.devices.iter().map(String::as_str).chain(["sw"]) {
            let _ = try_sh(&format!("ip netns del {}", self.namespace(name)));
        }
    }
}

/// The switch's end of a device's cable.
fn port(device: &str) -> String {
    format!("to-{device}")
}

fn try_sh(line: &str) -> Result<(), String> {
    let output = Command::new("sh").args(["-ec", line]).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn sh(line: &str) {
    if let Err(error) = try_sh(line) {
        panic!("{line}\n{error}(network namespaces need root and CAP_NET_ADMIN)");
    }
}

/// A program that ends when dropped.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A device's qiyoud with its user's client.
pub(crate) struct Daemon {
    _child: Running,
    /// Its data and its log.
    pub(crate) home: tempfile::TempDir,
    pub(crate) client: Client,
}

impl Daemon {
    pub(crate) async fn start(network: &Network, device: &str) -> Self {
        Self::start_in(network, device, tempfile::tempdir().expect("a directory")).await
    }

    /// Starts with what another run has left in this directory.
    pub(crate) async fn start_in(network: &Network, device: &str, home: tempfile::TempDir) -> Self {
        let socket = home.path().join("control.sock");
        let mut command = network.command(device, programs().join("qiyoud"));
        command.args(["--no-bluetooth", "--bot-time-ms", "20", "--stand-ins", "--name", device]);
        command.arg("--data-dir").arg(home.path().join("data")).arg("--socket").arg(&socket);
        let log = std::fs::File::options().create(true).append(true).open(home.path().join("log"));
        let log = log.expect("a file");
        let child = Running(command.stderr(log).stdout(Stdio::null()).spawn().expect("ip runs"));
        let stream = within("the daemon is up", async || UnixStream::connect(&socket).await.ok()).await;
        Self { client: Client::attach(stream).await, _child: child, home }
    }

    /// Its log, for the message of a failing test.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

/// Asks until there is an answer; a minute is a limit for hangs, not a bound on speed.
pub(crate) async fn within<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("waited in vain for: {what}");
}

/// Where `make test-carriers` has built qiyoud.
fn programs() -> PathBuf {
    let exe = std::env::current_exe().expect("a test is a program");
    let folder = exe.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
    assert!(folder.join("qiyoud").exists(), "qiyoud is not built: run `make test-carriers`");
    folder
}
