//! The program that libFuzzer drives: `qiyou-fuzz [libFuzzer's arguments]` with `QIYOU_FUZZ_TARGET=name`. scripts/fuzz builds it
//! with coverage and runs it.
//!
//! An input that takes more CPU time or memory than [`most_milliseconds`] and [`most_bytes`] say counts as a failure. It is tried three
//! times and the least counts, because a busy machine makes CPU time longer too, and the first input makes what is kept for all.
//! scripts/fuzz limits what the process holds, and finds what hangs.

#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicIsize, Ordering};

use fuzz::Target;
use rustix::time::{ClockId, clock_gettime};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("QIYOU_FUZZ_TARGET").expect("QIYOU_FUZZ_TARGET names a target");
    Target::of(&name).unwrap_or_else(|| panic!("no target is named {name}"))
});

/// Whether each input starts whole hosts, which compute on threads of their own too.
static HAS_HOSTS: LazyLock<bool> = LazyLock::new(|| matches!(TARGET.name, "socket" | "journal" | "backup"));

static MOST_MILLISECONDS: LazyLock<u64> = LazyLock::new(most_milliseconds);

/// Most CPU time of one input. Whoever sends many such inputs must not be able to freeze a device: optimised, no input may take 100 ms,
/// which `make night` says by `QIYOU_FUZZ_MILLISECONDS`. Builds without optimisation, with coverage, get 500 ms where an input is short
/// and makes nothing larger than itself, and 2 s where it may be long or make a board of a million lights. Hosts start several times
/// for an input, and what their threads compute counts too: four times as much, or 4 s.
fn most_milliseconds() -> u64 {
    let given = std::env::var("QIYOU_FUZZ_MILLISECONDS").ok();
    let given: Option<u64> = given.map(|most| most.parse().expect("QIYOU_FUZZ_MILLISECONDS is a number"));
    match (TARGET.name, given) {
        (_, Some(most)) if *HAS_HOSTS => 4 * most,
        (_, None) if *HAS_HOSTS => 4_000,
        (_, Some(most)) => most,
        ("frame" | "friend-code" | "card", None) => 500,
        (_, None) => 2_000,
    }
}

/// Most bytes that one input may have allocated at a time. Without hosts: a board of a million lights in its several forms, and a tree
/// of what was read, whose parts are of a few hundred bytes. With hosts: up to 32 rooms with bots, each with a table of 1 MiB.
fn most_bytes(input: &[u8]) -> usize {
    if *HAS_HOSTS { 256 << 20 } else { (64 << 20) + (input.len() << 10) }
}

/// Counts what Rust code allocates on all threads. libFuzzer's own limit (`-malloc_limit_mb`) works with sanitizers only.
struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);
/// The most that was held since the last reset.
static MOST: AtomicIsize = AtomicIsize::new(0);

fn count(more: usize, fewer: usize) {
    let change = more as isize - fewer as isize;
    let held = HELD.fetch_add(change, Ordering::Relaxed) + change;
    if held > MOST.load(Ordering::Relaxed) {
        MOST.fetch_max(held, Ordering::Relaxed);
    }
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn cpu_milliseconds() -> u64 {
    let clock = if *HAS_HOSTS { ClockId::ProcessCPUTime } else { ClockId::ThreadCPUTime };
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}

/// What an input took.
struct Cost {
    milliseconds: u64,
    bytes: usize,
}

impl Cost {
    fn of(input: &[u8]) -> Self {
        let held = HELD.load(Ordering::Relaxed);
        MOST.store(held, Ordering::Relaxed);
        let start = cpu_milliseconds();
        (TARGET.check)(input);
        let milliseconds = cpu_milliseconds() - start;
        let bytes = MOST.load(Ordering::Relaxed).saturating_sub(held).max(0) as usize;
        Self { milliseconds, bytes }
    }

    fn is_allowed(&self, input: &[u8]) -> bool {
        self.milliseconds <= *MOST_MILLISECONDS && self.bytes <= most_bytes(input)
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut least = Cost::of(input);
    for _ in 0..2 {
        if !least.is_allowed(input) {
            let again = Cost::of(input);
            least.milliseconds = least.milliseconds.min(again.milliseconds);
            least.bytes = least.bytes.min(again.bytes);
        }
    }
    let Cost { milliseconds, bytes } = least;
    assert!(
        least.is_allowed(input),
        "{milliseconds} ms and {bytes} bytes of memory for {} bytes",
        input.len()
    );
});
