//! Diagnosis of Bluetooth on this machine: findings, each with a remedy.

use std::path::Path;
use std::time::Duration;

use bluer::{Adapter, Session};
use link::{Finding, Verdict};
use tokio::time::timeout;

use super::bus::Bus;
use super::rfkill::{self, Block};
use super::{is_permission, pick, self_test};
use crate::plan::Ability;

const WITHIN: Duration = Duration::from_secs(10);

/// BlueZ does not publish these on the bus.
const BLUEZ_SETTINGS: &str = "/etc/bluetooth/main.conf";

/// The names of this machine: the kernel's, and the one that hostnamed keeps for people (machine-info(5)). BlueZ names adapters by
/// one of them, unless an alias is set.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
const MACHINE_INFO: &str = "/etc/machine-info";

/// The kernel's supervision timeout where nobody sets another (net/bluetooth/hci_core.c), in units of 10 ms.
const KERNEL_SUPERVISION: u16 = 42;

/// From this on a link outlasts the gaps that a busy 2.4 GHz band makes, in units of 10 ms.
const ENOUGH_SUPERVISION: u16 = 200;

/// All findings that need no change of the system.
pub(super) async fn diagnose(wanted: Option<&str>) -> Vec<Finding> {
    let mut findings = vec![bluez_version().await, switches(rfkill::block(Path::new(rfkill::CLASS)))];
    let settings = std::fs::read_to_string(BLUEZ_SETTINGS).ok();
    findings.push(privacy(settings.as_deref()));
    findings.extend(
        settings.as_deref().into_iter().flat_map(|settings| [supervision(settings), discovery(settings)]),
    );
    match timeout(WITHIN, adapter(wanted)).await {
        Ok(Ok(more)) => findings.extend(more),
        Ok(Err(finding)) => findings.push(finding),
        Err(_) => findings.push(broken("bluez", "bluetoothd does not answer", "systemctl restart bluetooth")),
    }
    findings
}

fn finding(subject: &'static str, verdict: Verdict, found: impl Into<String>, remedy: &str) -> Finding {
    Finding { subject, verdict, found: found.into(), remedy: remedy.into() }
}

fn good(subject: &'static str, found: impl Into<String>) -> Finding {
    finding(subject, Verdict::Good, found, "")
}

fn limited(subject: &'static str, found: impl Into<String>, remedy: &str) -> Finding {
    finding(subject, Verdict::Limited, found, remedy)
}

fn broken(subject: &'static str, found: impl Into<String>, remedy: &str) -> Finding {
    finding(subject, Verdict::Broken, found, remedy)
}

/// The version from `bluetoothctl`: BlueZ does not publish it on the bus.
async fn bluez_version() -> Finding {
    let ask = || {
        let output = std::process::Command::new("bluetoothctl").arg("--version").output().ok()?;
        version_in(&String::from_utf8_lossy(&output.stdout))
    };
    match tokio::task::spawn_blocking(ask).await.ok().flatten() {
        Some(version) => judge_version(&version),
        None => limited(
            "bluez",
            "version unknown: bluetoothctl is not installed",
            "install the package bluez, 5.66 or later",
        ),
    }
}

/// "bluetoothctl: 5.66" gives "5.66".
fn version_in(output: &str) -> Option<String> {
    let version = output.split_whitespace().last()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

fn judge_version(version: &str) -> Finding {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let number = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if number >= (5, 66) {
        good("bluez", version)
    } else if number >= (5, 62) {
        limited("bluez", version, "tried from 5.66 on; upgrade if links fail")
    } else {
        // Before 5.62 BlueZ does not report the MTU.
        limited("bluez", version, "before 5.62 the MTU is unknown and transfers are slow: upgrade")
    }
}

/// Whether the adapter's address changes. `settings`: the text of [`BLUEZ_SETTINGS`], `None` where it cannot be read.
fn privacy(settings: Option<&str>) -> Finding {
    let Some(settings) = settings else {
        return limited(
            "privacy",
            format!("{BLUEZ_SETTINGS} cannot be read: the adapter's address is likely fixed"),
            MAKES_PRIVATE,
        );
    };
    match setting(settings, "General", "Privacy").map(str::to_ascii_lowercase).as_deref() {
        Some("device" | "network" | "limited-device" | "limited-network" | "on") => {
            good("privacy", "the adapter's address changes")
        }
        _ => limited(
            "privacy",
            "the adapter's address is fixed: whoever has heard it once recognises this device by it",
            MAKES_PRIVATE,
        ),
    }
}

const MAKES_PRIVATE: &str =
    "set Privacy = device under [General] in /etc/bluetooth/main.conf, then: systemctl restart bluetooth";

/// Whether the adapter's alias is a name of this machine. BlueZ offers the alias as the GAP device name to every device that is
/// connected, and a connection needs no handshake of ours.
fn device_name(alias: &str, host_names: &[String]) -> Finding {
    // Of several adapters BlueZ numbers all but the first: "box #2".
    let unnumbered = match alias.rsplit_once(" #") {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => alias,
    };
    if host_names.iter().any(|name| name.eq_ignore_ascii_case(unnumbered)) {
        limited(
            "device_name",
            "the adapter has the host name of this machine: any device in reach can connect and read it",
            "bluetoothctl system-alias NAME, with a name that tells nothing",
        )
    } else {
        good("device_name", "what connects does not read the host name of this machine")
    }
}

/// The names in the texts of [`HOST_NAME`] and [`MACHINE_INFO`].
fn host_names(kernel: &str, info: &str) -> Vec<String> {
    let pretty = info.lines().filter_map(|line| line.trim().strip_prefix("PRETTY_HOSTNAME="));
    let names = std::iter::once(kernel).chain(pretty);
    names
        .map(|name| name.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The value of a key in a section of BlueZ's settings; the last one holds. Lines that begin with # are the defaults as comments.
fn setting<'a>(settings: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let (mut inside, mut found) = (false, None);
    for line in settings.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = name == section;
        } else if let Some((name, value)) = line.split_once('=')
            && inside
            && name.trim() == key
        {
            found = Some(value.trim());
        }
    }
    found
}

/// After how long without a packet the kernel gives a link up, in units of 10 ms.
fn supervision(settings: &str) -> Finding {
    let set =
        setting(settings, "LE", "ConnectionSupervisionTimeout").and_then(|value| value.parse::<u16>().ok());
    let units = set.unwrap_or(KERNEL_SUPERVISION);
    let found = format!("a link without a packet for {} ms is given up", u32::from(units) * 10);
    if units >= ENOUGH_SUPERVISION {
        return good("supervision", found);
    }
    limited(
        "supervision",
        found + ": near other radios links break, and are made again",
        "set ConnectionSupervisionTimeout = 300 under [LE] in /etc/bluetooth/main.conf, then: systemctl restart bluetooth",
    )
}

/// Whether bluetoothd reads the services of each device that connects, which some protect by pairing.
fn discovery(settings: &str) -> Finding {
    let off = ["false", "off", "0"];
    match setting(settings, "General", "ReverseServiceDiscovery").map(str::to_ascii_lowercase) {
        Some(value) if off.contains(&&*value) => {
            good("discovery", "what connects is not asked for its services")
        }
        _ => limited(
            "discovery",
            "bluetoothd asks each device that connects for its services: some then want to be paired, and a dialog may open",
            "set ReverseServiceDiscovery = false under [General] in /etc/bluetooth/main.conf, then: systemctl restart bluetooth",
        ),
    }
}

fn switches(block: Option<Block>) -> Finding {
    match block {
        None => good("rfkill", "nothing blocked"),
        Some(Block::Soft) => {
            broken("rfkill", "blocked by software", "leave flight mode, or: rfkill unblock bluetooth")
        }
        Some(Block::Hard) => {
            broken("rfkill", "blocked by a switch of the device", "turn the wireless switch on")
        }
    }
}

async fn adapter(wanted: Option<&str>) -> Result<Vec<Finding>, Finding> {
    let (bus, there) = Bus::connect()
        .await
        .map_err(|error| broken("bluez", format!("no system bus: {error}"), "start dbus and bluetooth"))?;
    if !there {
        // No further question: a call would start bluetoothd.
        return Err(broken(
            "bluez",
            "bluetoothd isn't running",
            "qiyouctl power-on; or install the package bluez, then: systemctl enable --now bluetooth",
        ));
    }
    let refused = |error: bluer::Error| {
        let text = error.to_string();
        if is_permission(&text) {
            broken(
                "permission",
                text,
                "add yourself to the group: sudo usermod -aG bluetooth $USER, then log in again; never run as root",
            )
        } else {
            broken("bluez", text, "systemctl restart bluetooth")
        }
    };
    let session = Session::new().await.map_err(refused)?;
    let names = session.adapter_names().await.map_err(refused)?;
    let all = names.join(", ");
    let others = names.len() > 1;
    let Some(name) = pick(names, wanted) else {
        return Err(match wanted.filter(|_| !all.is_empty()) {
            Some(wanted) => broken(
                "adapter",
                format!("{wanted} was chosen and isn't plugged in; found: {all}"),
                "plug it in, or choose another one: qiyouctl adapter first",
            ),
            None => broken("adapter", "none", "plug a Bluetooth LE adapter in"),
        });
    };
    let adapter = session.adapter(&name).map_err(refused)?;
    let powered = adapter.is_powered().await.map_err(refused)?;
    let address = adapter.address().await.map_err(refused)?;
    let mut findings = vec![good("permission", "may use bluetoothd")];
    let choice =
        if others { format!(", of {all}; another one by: qiyouctl adapter NAME") } else { String::new() };
    findings.push(if powered {
        good("adapter", format!("{name}, {address}, powered{choice}"))
    } else {
        let remedy = "switch Bluetooth on: bluetoothctl power on";
        broken("adapter", format!("{name}, {address}, off{choice}"), remedy)
    });
    if let Ok(alias) = adapter.alias().await {
        let [kernel, info] =
            [HOST_NAME, MACHINE_INFO].map(|file| std::fs::read_to_string(file).unwrap_or_default());
        findings.push(device_name(&alias, &host_names(&kernel, &info)));
    }
    findings.extend(abilities(&bus, &adapter, powered).await);
    Ok(findings)
}

async fn abilities(bus: &Bus, adapter: &Adapter, powered: bool) -> Vec<Finding> {
    let roles = bus.roles(adapter.name()).await;
    let told = roles.as_ref().map_or_else(|| "unknown".to_owned(), |roles| roles.join(", "));
    let ability = self_test(Some(bus), adapter).await.ability();
    let roles = match ability {
        Ability::Both => good("roles", told),
        Ability::InTurns => limited(
            "roles",
            told,
            "finds and is found in turns, more slowly; another adapter does both at once",
        ),
        Ability::ScanOnly => {
            limited("roles", told, "finds others but cannot be found: invite from this device")
        }
    };
    let free = adapter.supported_advertising_instances().await.unwrap_or(0);
    let active = adapter.active_advertising_instances().await.unwrap_or(0);
    let found = format!("{active} in use, {free} free");
    let instances = if free > 0 || active > 0 {
        good("advert_instances", found)
    } else if powered {
        limited("advert_instances", found, "cannot be found: invite from this device, or use another adapter")
    } else {
        good("advert_instances", "unknown while off")
    };
    let mut findings = vec![roles, instances];
    if adapter.is_pairable().await.unwrap_or(false) {
        findings.push(limited(
            "pairing",
            "other devices may ask to be paired: Qiyou needs no pairing, and a dialog may open",
            "bluetoothctl pairable off",
        ));
    }
    // The flags of our advertisement then lack "BR/EDR not supported".
    if adapter.is_discoverable().await.unwrap_or(false) {
        findings.push(limited(
            "adapter",
            "discoverable: peers may try Bluetooth Classic and lose the link after some seconds",
            "bluetoothctl discoverable off, or ControllerMode = le in /etc/bluetooth/main.conf",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bluez_versions_are_read_and_judged() {
        assert_eq!(version_in("bluetoothctl: 5.66\n").as_deref(), Some("5.66"));
        assert_eq!(version_in("command not found"), None);
        assert_eq!(version_in(""), None);
        assert_eq!(judge_version("5.66").verdict, Verdict::Good);
        assert_eq!(judge_version("5.100").verdict, Verdict::Good);
        assert_eq!(judge_version("5.64").verdict, Verdict::Limited);
        assert_eq!(judge_version("5.50").verdict, Verdict::Limited);
    }

    #[test]
    fn an_address_that_never_changes_is_told_with_what_changes_it() {
        for settings in ["", "[General]\n#Privacy = device\n", "[General]\nPrivacy = off\n", "Privacy"] {
            let finding = privacy(Some(settings));
            assert_eq!(finding.verdict, Verdict::Limited, "{settings:?}");
            assert!(finding.remedy.contains("Privacy = device"));
        }
        for settings in [
            "[General]\nPrivacy = device\n",
            "[General]\nPrivacy=network",
            "[General]\nPrivacy = off\nPrivacy = device",
        ] {
            assert_eq!(privacy(Some(settings)).verdict, Verdict::Good, "{settings:?}");
        }
        let unread = privacy(None);
        assert_eq!(
            unread.verdict,
            Verdict::Limited,
            "without settings the address is fixed: {}",
            unread.found
        );
        assert!(unread.remedy.contains("Privacy = device"));
    }

    #[test]
    fn an_adapter_with_a_name_of_the_machine_is_told_with_what_changes_it() {
        let names = host_names("box\n", "ICON_NAME=computer\nPRETTY_HOSTNAME=\"Anna's laptop\"\n");
        assert_eq!(names, ["box", "Anna's laptop"]);
        assert!(host_names("", "PRETTY_HOSTNAME=\n").is_empty());
        for alias in ["box", "Box", "box #2", "Anna's laptop"] {
            let finding = device_name(alias, &names);
            assert_eq!(finding.verdict, Verdict::Limited, "{alias}");
            assert!(finding.remedy.contains("bluetoothctl system-alias"));
            assert!(!finding.found.contains(alias), "it is no part of a report");
        }
        for alias in ["", "player", "box 2", "boxer", "box #x"] {
            assert_eq!(device_name(alias, &names).verdict, Verdict::Good, "{alias}");
        }
        assert_eq!(device_name("", &[]).verdict, Verdict::Good);
    }

    #[test]
    fn a_setting_holds_in_its_section_only_and_the_last_one_holds() {
        let settings = "[General]\nName = x\n#Name = y\n[LE]\nName = z\nName=w\n[Policy]\nName = v\n";
        assert_eq!(setting(settings, "General", "Name"), Some("x"));
        assert_eq!(setting(settings, "LE", "Name"), Some("w"));
        assert_eq!(setting(settings, "GATT", "Name"), None);
        assert_eq!(setting("Name = x", "General", "Name"), None, "before any section");
    }

    #[test]
    fn a_short_supervision_timeout_is_told_with_what_makes_it_longer() {
        let with = |line: &str| supervision(&format!("[LE]\n{line}\n"));
        for line in [
            "",
            "#ConnectionSupervisionTimeout=300",
            "ConnectionSupervisionTimeout = 199",
            "ConnectionSupervisionTimeout = x",
        ] {
            assert_eq!(with(line).verdict, Verdict::Limited, "{line}");
        }
        assert!(with("").found.contains("420 ms") && with("").remedy.contains("= 300 under [LE]"));
        let good = with("ConnectionSupervisionTimeout = 300");
        assert_eq!((good.verdict, good.found.contains("3000 ms")), (Verdict::Good, true));
    }

    #[test]
    fn services_of_those_who_connect_are_asked_for_unless_it_is_switched_off() {
        for (line, expected) in [
            ("", Verdict::Limited),
            ("ReverseServiceDiscovery = true", Verdict::Limited),
            ("ReverseServiceDiscovery = false", Verdict::Good),
        ] {
            assert_eq!(discovery(&format!("[General]\n{line}\n")).verdict, expected, "{line}");
        }
    }

    #[test]
    fn each_trouble_in_the_hardware_notes_has_a_line_here_or_none_that_would_help() {
        let own =
            include_str!("doctor.rs").split("#[cfg(test)]").next().expect("the code is before its tests");
        let notes = include_str!("../../../hardware-notes.md");
        let (_, section) =
            notes.split_once("## What goes wrong, and what a person can change\n").expect("a section");
        let section = section.split("\n## ").next().expect("its text");
        let mut named = Vec::new();
        for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let line = row.split(" | ").nth(1).expect("a second column");
            let subjects: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
            assert_eq!(subjects.is_empty(), line.starts_with("nothing a person can change"), "{row}");
            named.extend(subjects);
        }
        for subject in &named {
            assert!(own.contains(&format!("\"{subject}\",")), "the doctor has no line {subject}");
        }
        let kinds = ["good(", "limited(", "broken("].into_iter();
        let told = kinds.flat_map(|kind| own.split(kind).skip(1));
        let told = told.filter_map(|call| call.trim_start().strip_prefix('"')?.split('"').next());
        let mut told: Vec<&str> = told.collect();
        assert!(told.len() > 20, "{told:?}");
        told.retain(|subject| !named.contains(subject));
        assert!(told.is_empty(), "of no trouble in the notes: {told:?}");
    }

    #[test]
    fn a_radio_that_is_switched_off_comes_with_a_remedy() {
        for block in [Some(Block::Soft), Some(Block::Hard)] {
            let finding = switches(block);
            assert_eq!(finding.verdict, Verdict::Broken);
            assert!(!finding.remedy.is_empty());
        }
        assert!(switches(None).remedy.is_empty());
    }
}
