//! What the program's own code takes of the memory.
//!
//! Code and constants are pages of the program's file, which the kernel maps as they are touched, sixteen at a time. Starting touches
//! most kinds of code once, and what it has touched stays mapped and counts as the program's memory for as long as it runs.

use std::fs;
use std::io;

/// Lets go of the program's code: what is needed again is mapped again when it is, from the kernel's cache while it is there and
/// from the disk else; the rest the kernel may use for something better. Best once, when starting is over. Does nothing where the
/// system has no such list of mappings.
pub(crate) fn let_go_of_code() {
    let Ok((maps, own)) = own_mappings() else { return };
    for range in maps.lines().filter_map(|line| code(line, &own)) {
        let_go(range);
    }
}

/// The mappings of this process and the name of its program in them.
fn own_mappings() -> io::Result<(String, String)> {
    let own = fs::read_link("/proc/self/exe")?;
    Ok((fs::read_to_string("/proc/self/maps")?, own.to_string_lossy().into_owned()))
}

/// The first address and the one after the last, if this line of `maps` is code of the program: private, and no one may write it.
fn code(line: &str, own: &str) -> Option<(usize, usize)> {
    // `from-to rights offset device inode    path`, see proc_pid_maps(5).
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
    // SAFETY: the kernel has just named the range as one mapping, of the running program's own file, which stays mapped. Nobody
    // may write it, so its pages are the file's: after the advice the next touch of a page, from any thread, maps the same again.
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
        /// KiB of the mapping that begins there.
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
