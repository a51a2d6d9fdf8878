//! The switches that turn radios off, read from `/sys/class/rfkill`. Never written: the user's choice wins.

use std::fs;
use std::path::Path;

/// The kind of switch that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Block {
    /// By software: flight mode, `rfkill block`.
    Soft,
    /// By a switch on the device, or its firmware.
    Hard,
}

/// Whether Bluetooth is switched off anywhere below `class`. Systems without rfkill have no such directory.
pub(super) fn block(class: &Path) -> Option<Block> {
    let reads = |path: &Path, name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
    let switches = fs::read_dir(class).ok()?.flatten().map(|entry| entry.path());
    let of = |path: &Path| {
        if reads(path, "type").trim() != "bluetooth" {
            None
        } else if reads(path, "hard").trim() == "1" {
            Some(Block::Hard)
        } else if reads(path, "soft").trim() == "1" {
            Some(Block::Soft)
        } else {
            None
        }
    };
    switches.filter_map(|path| of(&path)).max()
}

/// Linux's folder of rfkill switches.
pub(super) const CLASS: &str = "/sys/class/rfkill";

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(class: &Path, name: &str, kind: &str, soft: &str, hard: &str) {
        let path = class.join(name);
        fs::create_dir_all(&path).expect("a directory");
        for (file, text) in [("type", kind), ("soft", soft), ("hard", hard)] {
            fs::write(path.join(file), format!("{text}\n")).expect("a file");
        }
    }

    #[test]
    fn only_bluetooth_switches_count_and_hard_ones_more() {
        let class = tempfile::tempdir().expect("a directory");
        let class = class.path();
        assert_eq!(block(class), None);
        assert_eq!(block(&class.join("missing")), None);
        switch(class, "rfkill0", "wlan", "1", "1");
        switch(class, "rfkill1", "bluetooth", "0", "0");
        assert_eq!(block(class), None);
        switch(class, "rfkill2", "bluetooth", "1", "0");
        assert_eq!(block(class), Some(Block::Soft));
        switch(class, "rfkill3", "bluetooth", "0", "1");
        assert_eq!(block(class), Some(Block::Hard));
    }
}
