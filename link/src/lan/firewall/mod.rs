//! Whether a firewall of this device keeps neighbours out: firewalld, ufw or plain nftables. Rules are read, never changed.
//!
//! Most rules can be read by root alone; then the doctor says so, and names the command for a person who may.

mod nft;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use self::nft::{Packet, Passage};
use crate::{Finding, Verdict};

/// Where firewalls keep what is read of them.
pub(super) struct Firewalls {
    /// `/etc`.
    pub(super) etc: PathBuf,
    /// Folders of programs. A user's PATH often lacks the folders for root.
    pub(super) programs: Vec<PathBuf>,
}

impl Default for Firewalls {
    fn default() -> Self {
        let programs = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from).into();
        Self { etc: "/etc".into(), programs }
    }
}

/// What others need to reach this device.
#[derive(Clone, Copy)]
pub(super) struct Needed<'a> {
    /// What the doctor calls it.
    pub(super) subject: &'static str,
    /// Whom it lets in, in the words of the finding.
    pub(super) whom: &'static str,
    /// The TCP port of this device.
    pub(super) port: u16,
    /// The option by which the port stays the same after a restart. `None`: it does.
    pub(super) fixed_by: Option<&'static str>,
    /// The UDP port of multicast DNS, if that is needed.
    pub(super) mdns_port: Option<u16>,
    /// Names and addresses of the interfaces.
    pub(super) interfaces: &'a [(String, IpAddr)],
}

/// What one firewall does to TCP connections, and to multicast DNS.
#[derive(Clone, Copy)]
struct Effect {
    tcp: Passage,
    mdns: Passage,
}

impl Firewalls {
    /// Looks at the firewall in use. Programs are started, which may take a second.
    pub(super) fn examine(&self, needed: &Needed<'_>) -> Finding {
        let port = needed.port;
        let with_mdns = |text: &dyn Fn(u16) -> String| needed.mdns_port.map(text).unwrap_or_default();
        if let Some(effect) = self.firewalld(needed) {
            let mdns = with_mdns(&|port| format!(" --add-port={port}/udp"));
            let command = format!(
                "sudo firewall-cmd --permanent --add-port={port}/tcp{mdns} && sudo firewall-cmd --reload"
            );
            return finding("firewalld", effect, needed, &command);
        }
        if self.uses_ufw() {
            let mdns = with_mdns(&|port| format!(" && sudo ufw allow {port}/udp"));
            return finding("ufw", self.ufw(needed), needed, &format!("sudo ufw allow {port}/tcp{mdns}"));
        }
        if let Some((effect, chain)) = self.nftables(needed) {
            let mdns = with_mdns(&|port| format!("; insert rule {chain} udp dport {port} accept"));
            let command = format!("sudo nft 'insert rule {chain} tcp dport {port} accept{mdns}'");
            return finding("nftables", effect, needed, &command);
        }
        Finding {
            subject: needed.subject,
            verdict: Verdict::Good,
            found: "neither firewalld nor ufw is on, and nftables is not set up at start".into(),
            remedy: String::new(),
        }
    }

    /// The output of a program; `None` if it is missing or fails.
    fn run(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let found = self.programs.iter().map(|folder| folder.join(program)).find(|path| path.exists())?;
        let output = Command::new(found)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// `None`: it does not run.
    fn firewalld(&self, needed: &Needed<'_>) -> Option<Effect> {
        if self.run("firewall-cmd", &["--state"])?.trim() != "running" {
            return None;
        }
        let mut effect = Effect { tcp: Passage::Open, mdns: Passage::Open };
        for (interface, _) in needed.interfaces {
            let zone = self.run("firewall-cmd", &[&format!("--get-zone-of-interface={interface}")]);
            let zone = match zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty()) {
                Some(zone) => zone.to_owned(),
                // An interface without a zone is in the default zone.
                None => {
                    self.run("firewall-cmd", &["--get-default-zone"]).unwrap_or_default().trim().to_owned()
                }
            };
            let Some(rules) = self.run("firewall-cmd", &[&format!("--zone={zone}"), "--list-all"]) else {
                return Some(Effect { tcp: Passage::Unknown, mdns: Passage::Unknown });
            };
            let here = zone_effect(&rules, needed);
            effect = Effect { tcp: stricter(effect.tcp, here.tcp), mdns: stricter(effect.mdns, here.mdns) };
        }
        Some(effect)
    }

    fn uses_ufw(&self) -> bool {
        setting(&self.etc.join("ufw/ufw.conf"), "ENABLED").is_some_and(|on| on.eq_ignore_ascii_case("yes"))
    }

    fn ufw(&self, needed: &Needed<'_>) -> Effect {
        let default = setting(&self.etc.join("default/ufw"), "DEFAULT_INPUT_POLICY");
        if default.is_some_and(|policy| policy.eq_ignore_ascii_case("accept")) {
            return Effect { tcp: Passage::Open, mdns: Passage::Open };
        }
        // Its own rules let multicast DNS in (/etc/ufw/before.rules).
        let mdns = Passage::Open;
        match self.run("ufw", &["status"]) {
            Some(status) => Effect { tcp: ufw_passage(&status, needed.port), mdns },
            None => Effect { tcp: Passage::Unknown, mdns },
        }
    }

    /// Also the chain of the remedy. `None`: there are no rules for incoming packets, or nothing says so.
    fn nftables(&self, needed: &Needed<'_>) -> Option<(Effect, String)> {
        /// The chain of Debian's own nftables.conf, and of most examples.
        const USUAL: &str = "inet filter input";
        if let Some(ruleset) = self.run("nft", &["-j", "list", "ruleset"]) {
            let all = |protocol, port, multicast| {
                let one = |(interface, address): &(String, IpAddr)| {
                    nft::passage(
                        &ruleset,
                        &Packet { protocol, port, multicast, interface, address: *address },
                    )
                };
                needed.interfaces.iter().try_fold(Passage::Open, |all, each| Some(stricter(all, one(each)?)))
            };
            let tcp = all("tcp", needed.port, false)?;
            let mdns = needed.mdns_port.map_or(Some(Passage::Open), |port| all("udp", port, true))?;
            let effect = Effect { tcp, mdns };
            return Some((effect, nft::closed_chain(&ruleset).unwrap_or_else(|| USUAL.to_owned())));
        }
        // Root alone reads the rules in force; anybody may read the file from which they are loaded at start.
        let is_enabled = ["sysinit", "multi-user"].iter().any(|target| {
            let wants = format!("systemd/system/{target}.target.wants/nftables.service");
            self.etc.join(wants).symlink_metadata().is_ok()
        });
        let text = std::fs::read_to_string(self.etc.join("nftables.conf")).ok().filter(|_| is_enabled)?;
        let drops = text.lines().any(|line| line.contains("hook input") && line.contains("policy drop"));
        drops.then(|| (Effect { tcp: Passage::Unknown, mdns: Passage::Unknown }, USUAL.to_owned()))
    }
}

fn stricter(one: Passage, other: Passage) -> Passage {
    match (one, other) {
        (Passage::Closed, _) | (_, Passage::Closed) => Passage::Closed,
        (Passage::Unknown, _) | (_, Passage::Unknown) => Passage::Unknown,
        _ => Passage::Open,
    }
}

/// The value of NAME=value or NAME="value" in a file for a shell.
fn setting(file: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// What a zone of firewalld does, as `firewall-cmd --list-all` prints it.
fn zone_effect(rules: &str, needed: &Needed<'_>) -> Effect {
    let of = |name: &str| {
        rules
            .lines()
            .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))
            .unwrap_or_default()
            .trim()
    };
    if of("target") == "ACCEPT" {
        return Effect { tcp: Passage::Open, mdns: Passage::Open };
    }
    let ports: Vec<&str> = of("ports").split_whitespace().collect();
    let has = |port: u16, protocol: &str| {
        ports.iter().filter_map(|one| one.split_once('/')).any(|(range, of)| {
            let (from, until) = range.split_once('-').unwrap_or((range, range));
            let within = |(from, until): (u16, u16)| (from..=until).contains(&port);
            of == protocol && from.parse().ok().zip(until.parse().ok()).is_some_and(within)
        })
    };
    let is_rich = rules
        .lines()
        .skip_while(|line| line.trim() != "rich rules:")
        .skip(1)
        .any(|line| !line.trim().is_empty());
    // Rich rules are not read here.
    let otherwise = if is_rich { Passage::Unknown } else { Passage::Closed };
    let mdns = needed.mdns_port.is_none_or(|port| has(port, "udp"))
        || of("services").split_whitespace().any(|service| service == "mdns");
    Effect {
        tcp: if has(needed.port, "tcp") { Passage::Open } else { otherwise },
        mdns: if mdns { Passage::Open } else { otherwise },
    }
}

/// Whether ufw lets connections to a port in, as `ufw status` prints it.
fn ufw_passage(status: &str, port: u16) -> Passage {
    let mut unknown = false;
    for line in status.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [to, action, from @ ..] = words.as_slice() else { continue };
        let is_allowed = match *action {
            "ALLOW" | "LIMIT" => true,
            "DENY" | "REJECT" => false,
            _ => continue,
        };
        let (range, protocol) = to.split_once('/').unwrap_or((to, "tcp"));
        let (begin, end) = range.split_once(':').unwrap_or((range, range));
        let concerns = match begin.parse::<u16>().ok().zip(end.parse::<u16>().ok()) {
            Some((begin, end)) => protocol == "tcp" && (begin..=end).contains(&port),
            None => *to == "Anywhere",
        };
        match (concerns, from.contains(&"Anywhere")) {
            (true, true) => return if is_allowed { Passage::Open } else { Passage::Closed },
            // For some senders only.
            (true, false) => unknown = true,
            (false, _) => {}
        }
    }
    if unknown { Passage::Unknown } else { Passage::Closed }
}

fn finding(firewall: &str, effect: Effect, needed: &Needed<'_>, command: &str) -> Finding {
    let Needed { port, whom, .. } = needed;
    let tcp = (effect.tcp, format!("TCP port {port}, by which {whom} connect"));
    let mdns = needed.mdns_port.map(|port| {
        (effect.mdns, format!("UDP port {port} (multicast DNS), by which devices find each other"))
    });
    let all: Vec<(Passage, String)> = [tcp].into_iter().chain(mdns).collect();
    let of =
        |wanted| all.iter().filter(move |(passage, _)| *passage == wanted).map(|(_, what)| what.as_str());
    let closed: Vec<&str> = of(Passage::Closed).collect();
    let unknown = of(Passage::Unknown).next().is_some();
    let (verdict, found) = if !closed.is_empty() {
        (Verdict::Limited, format!("{firewall} blocks {}", closed.join(" and ")))
    } else if unknown {
        (
            Verdict::Limited,
            format!(
                "{firewall} is on and may block TCP port {port}: which rules it has, only root can read in full"
            ),
        )
    } else {
        (Verdict::Good, format!("{firewall} lets {whom} in by TCP port {port}"))
    };
    let stays = needed.fixed_by.map_or_else(String::new, |option| {
        format!(" Then start qiyoud (or qiyou) with {option} {port}, so that the port stays the same.")
    });
    let remedy = match verdict {
        Verdict::Good => String::new(),
        _ if closed.is_empty() => format!("If {whom} cannot connect: {command}{stays}"),
        _ => format!("{command}{stays}"),
    };
    Finding { subject: needed.subject, verdict, found, remedy }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// Files below `/etc`, and programs as shell scripts.
    struct Device {
        folder: tempfile::TempDir,
    }

    impl Device {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("a folder") }
        }

        fn etc(self, file: &str, text: &str) -> Self {
            let path = self.folder.path().join("etc").join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
            self
        }

        fn program(self, name: &str, script: &str) -> Self {
            let path = self.folder.path().join("bin").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            // Written by a child: if this process had it open for writing while another test starts a program, that program's
            // process would hold it open until its exec, and the script could not be run (ETXTBSY).
            let mut child = Command::new("sh")
                .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
                .arg(&path)
                .stdin(Stdio::piped())
                .spawn()
                .expect("a shell");
            let text = format!("#!/bin/sh\n{script}\n");
            child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("written");
            assert!(child.wait().expect("it ends").success());
            self
        }

        fn examine(&self, port: u16, is_fixed: bool) -> Finding {
            let fixed_by = (!is_fixed).then_some("--lan-port");
            let (subject, whom) = ("firewall", "others");
            let mdns_port = Some(5353);
            self.examined(&Needed { subject, whom, port, fixed_by, mdns_port, interfaces: &[] })
        }

        /// What is found for the interface of these tests.
        fn examined(&self, needed: &Needed<'_>) -> Finding {
            let firewalls = Firewalls {
                etc: self.folder.path().join("etc"),
                programs: vec![self.folder.path().join("bin")],
            };
            let interfaces = [("eth0".to_owned(), "192.168.1.5".parse().expect("an address"))];
            firewalls.examine(&Needed { interfaces: &interfaces, ..*needed })
        }
    }

    #[test]
    fn a_device_without_a_firewall_needs_no_remedy() {
        let found = Device::new().etc("ufw/ufw.conf", "ENABLED=no\n").examine(47_415, true);
        assert_eq!((found.verdict, found.remedy.as_str()), (Verdict::Good, ""));
    }

    #[test]
    fn plain_nftables_is_judged_by_its_rules_where_they_can_be_read() {
        let rules = include_str!("ruleset.json");
        let device = Device::new().program("nft", &format!("cat <<'END'\n{rules}\nEND"));
        let found = device.examine(47_415, true);
        assert_eq!((found.verdict, found.remedy.as_str()), (Verdict::Good, ""));
        let found = device.examine(40_000, true);
        assert_eq!(found.verdict, Verdict::Limited);
        assert_eq!(found.found, "nftables blocks TCP port 40000, by which others connect");
        let command = "sudo nft 'insert rule inet filter input tcp dport 40000 accept; ";
        assert!(found.remedy.starts_with(command), "{}", found.remedy);
    }

    #[test]
    fn rules_that_only_root_can_read_are_told_of_by_the_file_they_are_loaded_from() {
        let device = Device::new()
            .program("nft", "echo 'Operation not permitted (you must be root)' >&2; exit 1")
            .etc(
                "nftables.conf",
                "table inet f {\n chain in { type filter hook input priority 0; policy drop; }\n}\n",
            );
        assert_eq!(device.examine(40_000, true).verdict, Verdict::Good, "the file is not loaded at start");
        let device = device.etc("systemd/system/sysinit.target.wants/nftables.service", "");
        let found = device.examine(40_000, true);
        assert_eq!(found.verdict, Verdict::Limited);
        assert!(found.found.starts_with("nftables is on and may block TCP port 40000"), "{}", found.found);
    }

    #[test]
    fn ufw_is_asked_for_its_status_and_says_nothing_to_a_user_who_is_not_root() {
        let on = |status: &str| {
            Device::new()
                .etc("ufw/ufw.conf", "# comment\nENABLED=yes\n")
                .etc("default/ufw", "DEFAULT_INPUT_POLICY=\"DROP\"\n")
                .program("ufw", status)
        };
        let status = "cat <<'END'\nStatus: active\n\nTo                         Action      From\n--                         ------      ----\n22/tcp                     ALLOW       Anywhere\n47400:47420/tcp            ALLOW       Anywhere\n5000/tcp                   ALLOW       10.0.0.0/8\n22/tcp (v6)                ALLOW       Anywhere (v6)\nEND";
        assert_eq!(on(status).examine(47_415, true).verdict, Verdict::Good);
        let found = on(status).examine(40_000, false);
        assert_eq!(found.found, "ufw blocks TCP port 40000, by which others connect");
        assert!(found.remedy.starts_with("sudo ufw allow 40000/tcp"), "{}", found.remedy);
        assert!(
            found.remedy.contains("--lan-port 40000"),
            "a port that changes is of no use: {}",
            found.remedy
        );
        assert!(!on(status).examine(40_000, true).remedy.contains("--lan-port"));
        assert!(on(status).examine(5_000, true).found.contains("may block"), "for some senders");
        let user =
            on("echo 'ERROR: You need to be root to run this script' >&2; exit 1").examine(47_415, true);
        assert!(user.found.contains("only root can read"), "{}", user.found);
        assert!(user.remedy.contains("sudo ufw allow 47415/tcp"), "{}", user.remedy);
    }

    #[test]
    fn guests_need_their_port_alone() {
        let closed =
            "table inet filter {\n chain input { type filter hook input priority 0; policy drop; }\n}\n";
        let device = Device::new()
            .etc("nftables.conf", closed)
            .etc("systemd/system/sysinit.target.wants/nftables.service", "");
        let (subject, whom) = ("guest_port", "guests");
        let needed = Needed {
            subject,
            whom,
            port: 40_000,
            fixed_by: Some("--guest-port"),
            mdns_port: None,
            interfaces: &[],
        };
        let found = device.examined(&needed);
        assert_eq!((found.subject, found.verdict), ("guest_port", Verdict::Limited));
        let remedy = "If guests cannot connect: sudo nft 'insert rule inet filter input tcp dport 40000 accept' \
            Then start qiyoud (or qiyou) with --guest-port 40000, so that the port stays the same.";
        assert_eq!(found.remedy, remedy);
        let ufw = Device::new()
            .etc("ufw/ufw.conf", "ENABLED=yes\n")
            .etc("default/ufw", "DEFAULT_INPUT_POLICY=\"DROP\"\n")
            .program("ufw", "echo 'Status: active'");
        let found = ufw.examined(&needed);
        assert_eq!(found.found, "ufw blocks TCP port 40000, by which guests connect");
        assert!(found.remedy.starts_with("sudo ufw allow 40000/tcp Then"), "{}", found.remedy);
    }

    #[test]
    fn the_zone_of_the_interface_counts_in_firewalld() {
        let zones = r#"case "$1" in
            --state) echo running;;
            --get-zone-of-interface=eth0) echo home;;
            --zone=home) cat <<'END'
home (active)
  target: default
  interfaces: eth0
  services: dhcpv6-client mdns ssh
  ports: 1025-2000/tcp 47415/tcp
  rich rules: 
END
;;
            *) exit 1;; esac"#;
        let device = Device::new().program("firewall-cmd", zones);
        assert_eq!(device.examine(47_415, true).verdict, Verdict::Good);
        assert_eq!(device.examine(1_500, true).verdict, Verdict::Good);
        let found = device.examine(40_000, true);
        assert_eq!(found.found, "firewalld blocks TCP port 40000, by which others connect");
        assert!(found.remedy.contains("--add-port=40000/tcp"), "{}", found.remedy);
        let public = zones.replace("mdns ", "");
        let found = Device::new().program("firewall-cmd", &public).examine(40_000, true);
        assert!(found.found.contains("40000") && found.found.contains("multicast DNS"), "{}", found.found);
        let trusted = zones.replace("target: default", "target: ACCEPT");
        assert_eq!(
            Device::new().program("firewall-cmd", &trusted).examine(40_000, true).verdict,
            Verdict::Good
        );
        let silent = zones.replace("--zone=home)", "--zone=none)");
        assert!(
            Device::new().program("firewall-cmd", &silent).examine(40_000, true).found.contains("may block")
        );
        let stopped = zones.replace("echo running", "exit 252");
        assert_eq!(
            Device::new().program("firewall-cmd", &stopped).examine(40_000, true).verdict,
            Verdict::Good
        );
    }
}
