//! Each fuzz target over its seeds and over random mutations of them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use fuzz::{Mutator, TARGETS, Target};

#[path = "../../src/seed.rs"]
mod seed;

/// All targets in parallel, however few tests the harness runs in parallel.
#[test]
fn no_bytes_break_what_reads_bytes() {
    std::thread::scope(|scope| {
        for target in TARGETS {
            scope.spawn(move || mutate(target));
        }
    });
}

fn mutate(target: Target) {
    let seeds = target.seeds();
    for seed in &seeds {
        run(target, seed);
    }
    let mut mutator = Mutator::new(seed::begin(target.name, 1), &seeds);
    for _ in 0..target.mutations {
        run(target, &mutator.mutated());
    }
}

fn run(target: Target, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.check)(input))) {
        let hex: Vec<String> = input.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("{}: failing input: {}\n{}", target.name, hex.join(" "), String::from_utf8_lossy(input));
        resume_unwind(panic);
    }
}
