//! Reduces the memory used by the program's code.
//!
//! Code and constants are pages of the program's file, which the kernel maps when they are touched, sixteen at a time. The
//! start touches most kinds of code once, and pages stay mapped and count as the program's memory as long as it runs.

use std::fs;
use std::io;

/// Unmaps the program's code pages (madvise MADV_DONTNEED). Pages that are needed again are mapped again, from the page
/// cache or the disk. Most useful once, after the start. Does nothing on systems without /proc/self/maps.
pub(crate) fn let_go_of_code() {
    let Ok((maps, own)) = own_mappings() else { return };
    for range in maps.lines().filter_map(|line| code(line, &own)) {
        let_go(range);
    }
}

/// The mappings of this process, and the path of its program in them.
fn own_mappings() -> io::Result<(String, String)> {
    let own = fs::read_link("/proc/self/exe")?;
    Ok((fs::read_to_string("/proc/self/maps")?, own.to_string_lossy().into_owned()))
}

/// Start and end (exclusive) of the mapping in this line of `maps`, if it is code of the program: private and not writable.
fn code(line: &str, own: &str) -> Option<(usize, usize)> {
    // `from-to rights offset device inode path`, see proc_pid_maps(5).
    let mut words = line.splitn(6, ' ');
    let (from, to) = words.next()?.split_once('-')?;
    if words.next()? != "r-xp" || words.nth(3)?.trim_start() != own {
        return None;
    }
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
}

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "std has no such call; the program's code was more than half of the app's memory"
)]
fn let_go((from, to): (usize, usize)) {
    // SAFETY: the kernel has just listed the range as one mapping of the running program's own file, which stays mapped. It
    // is not writable, so its pages equal the file's: the next access to a page, from any thread, maps the same content
    // again.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(from), to - from, libc::MADV_DONTNEED);
    }
}

#[cfg(not(target_os = "linux"))]
fn let_go(_range: (usize, usize)) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_that_nobody_may_write_is_let_go_of() {
        let own = "/opt/the games/qiyou";
        let line = |rights| format!("7f00-7f80 {rights} 00e0a000 fe:00 5328719                    {own}");
        assert_eq!(code(&line("r-xp"), own), Some((0x7f00, 0x7f80)));
        for rights in ["r--p", "rw-p", "rwxp", "r-xs"] {
            assert_eq!(code(&line(rights), own), None);
        }
        assert_eq!(code("7f00-7f80 r-xp 00000000 fe:00 12                    /usr/lib/libc.so.6", own), None);
        for line in [
            "",
            "7f00",
            "7f00-7f80",
            "7f00-7f80 r-xp 0 fe:00 12",
            "what-ever r-xp 0 fe:00 12 /opt/the games/qiyou",
        ] {
            assert_eq!(code(line, own), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn code_that_is_let_go_of_takes_no_memory_until_it_is_needed() {
        /// Resident size of the mapping at this address, in KiB.
        fn resident(from: usize) -> u64 {
            let all = fs::read_to_string("/proc/self/smaps").expect("Linux tells");
            let mut own = all.lines().skip_while(|line| !line.starts_with(&format!("{from:x}-")));
            let rss = own.find_map(|line| line.strip_prefix("Rss:")).expect("each has one");
            rss.trim().trim_end_matches(" kB").parse().expect("a number")
        }
        let (maps, own) = own_mappings().expect("Linux tells");
        let (from, _) = maps.lines().find_map(|line| code(line, &own)).expect("a program has code");
        let before = resident(from);
        let_go_of_code();
        let after = resident(from);
        assert!(after < before, "{after} KiB of {before} KiB are left");
    }
}
