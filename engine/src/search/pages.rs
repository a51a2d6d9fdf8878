//! TableEntry in large pages.

use std::mem::MaybeUninit;

/// Asks the system to put memory that nobody has touched yet into pages of 2 MB instead of 4 kB, as far as it lies in whole ones.
/// A table that is read all over then misses the processor's list of pages far less often: xiangqi visits a fifth more
/// positions a second (EXPERIMENTS.md). Without an answer all stays as it is.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "std has no such call; waiting for the table was a quarter of xiangqi's time")]
pub(super) fn large<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = memory.as_mut_ptr();
    let (from, to) =
        (bytes.addr().next_multiple_of(LARGE), (bytes.addr() + size_of_val(memory)) / LARGE * LARGE);
    if from < to {
        let start = bytes.cast::<libc::c_void>().with_addr(from);
        // SAFETY: the range lies within memory that the caller has for itself. The advice is about how it is kept: it changes
        // neither what is there nor who may read or write it.
        unsafe {
            libc::madvise(start, to - from, libc::MADV_HUGEPAGE);
        }
    }
}

/// Other systems decide for themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn large<T>(_memory: &mut [MaybeUninit<T>]) {}

/// What large pages begin at multiples of, on x86-64 and on arm64 with pages of 4 kB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;
