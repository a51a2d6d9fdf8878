//! The program that libFuzzer drives: `qiyou-fuzz [libFuzzer's arguments]` with `QIYOU_FUZZ_TARGET=name`. scripts/fuzz builds it
//! with coverage and runs it.
//!
//! An input that takes more than 2 s of CPU time counts as a failure, or more than `QIYOU_FUZZ_MILLISECONDS`, to which `make night`
//! sets 100. It is measured three times and the least counts, because a busy machine makes CPU time longer too. scripts/fuzz limits
//! memory, and finds what hangs.

#![no_main]

use std::sync::LazyLock;

use fuzz::Target;
use rustix::time::{ClockId, clock_gettime};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("QIYOU_FUZZ_TARGET").expect("QIYOU_FUZZ_TARGET names a target");
    Target::of(&name).unwrap_or_else(|| panic!("no target is named {name}"))
});

/// Most CPU time of one input. Whoever sends many such inputs must not be able to freeze a device. 2 s is for builds without
/// optimisation, with coverage: optimised, no input may take 100 ms.
static MOST_MILLISECONDS: LazyLock<u64> = LazyLock::new(|| {
    std::env::var("QIYOU_FUZZ_MILLISECONDS")
        .map_or(2_000, |most| most.parse().expect("QIYOU_FUZZ_MILLISECONDS is a number"))
});

fn cpu_milliseconds() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}

fn timed(input: &[u8]) -> u64 {
    let start = cpu_milliseconds();
    (TARGET.check)(input);
    cpu_milliseconds() - start
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut fastest = timed(input);
    for _ in 0..2 {
        if fastest > *MOST_MILLISECONDS {
            fastest = fastest.min(timed(input));
        }
    }
    assert!(fastest <= *MOST_MILLISECONDS, "{fastest} ms for {} bytes", input.len());
});
