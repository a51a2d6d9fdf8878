//! What a report says of this device: versions, controllers, and what the host has found. It names nobody, so nothing is removed
//! from it.

use std::fmt::Write as _;
use std::path::Path;

use proto::control::{CheckState, Diagnosis};

/// Versions of programs and system, a line each.
pub fn this_device() -> String {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let pretty = system.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let desktop = [variable("XDG_CURRENT_DESKTOP"), variable("XDG_SESSION_TYPE")];
    let desktop: Vec<String> = desktop.into_iter().flatten().collect();
    let machine = ["product_name", "board_name"]
        .iter()
        .find_map(|file| std::fs::read_to_string(format!("/sys/class/dmi/id/{file}")).ok())
        .or_else(|| std::fs::read_to_string("/proc/device-tree/model").ok());
    let line = |name: &str, value: &str| {
        let value = value.trim_matches(|sign: char| sign.is_whitespace() || sign == '\0' || sign == '"');
        format!("{name}: {}\n", if value.is_empty() { "unknown" } else { value })
    };
    line("version", env!("CARGO_PKG_VERSION"))
        + &line("system", pretty.unwrap_or_default())
        + &line("kernel", kernel.trim())
        + &line("architecture", std::env::consts::ARCH)
        + &line("machine", machine.as_deref().unwrap_or_default())
        + &line("desktop", &desktop.join(", "))
}

/// Bluetooth controllers by what the kernel knows of them: no addresses.
pub fn controllers() -> String {
    let folders = std::fs::read_dir("/sys/class/bluetooth").into_iter().flatten().flatten();
    let each = folders.filter_map(|folder| {
        let name = folder.file_name().into_string().ok()?;
        let device = folder.path().join("device");
        let id = std::fs::read_to_string(device.join("modalias")).unwrap_or_default();
        let driver = std::fs::read_link(device.join("driver")).ok();
        let driver = driver.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        // A link to a peer, such as hci0:64, is no controller.
        (!name.contains(':'))
            .then(|| format!("{name} {} {}", id.trim(), driver.unwrap_or_default()).trim().to_owned())
    });
    let all: Vec<String> = each.collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// A line for each check.
pub fn checks(diagnosis: &Diagnosis) -> String {
    diagnosis.checks.iter().fold(String::new(), |mut text, check| {
        let mark = match check.state() {
            CheckState::CheckOk => "ok",
            CheckState::CheckWarning => "warning",
            CheckState::CheckFailed => "FAILED",
        };
        let _ = writeln!(text, "{mark}: {}: {}", check.subject, check.found);
        text
    })
}
