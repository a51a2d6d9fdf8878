//! The transposition table in huge pages.

use std::mem::MaybeUninit;

/// Advises the system (madvise MADV_HUGEPAGE) to use pages of 2 MB for memory that has not been touched yet, as far as it
/// covers whole ones. Random accesses to the table then cause far fewer TLB misses: xiangqi visits a fifth more nodes per
/// second (EXPERIMENTS.md). Errors are ignored.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "std has no such call; waiting for the table was a quarter of xiangqi's time")]
pub(super) fn large<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = memory.as_mut_ptr();
    let (from, to) =
        (bytes.addr().next_multiple_of(LARGE), (bytes.addr() + size_of_val(memory)) / LARGE * LARGE);
    if from < to {
        let start = bytes.cast::<libc::c_void>().with_addr(from);
        // SAFETY: the range lies within memory that the caller owns exclusively. The advice changes neither the content nor
        // the access rights.
        unsafe {
            libc::madvise(start, to - from, libc::MADV_HUGEPAGE);
        }
    }
}

/// Other systems choose page sizes themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn large<T>(_memory: &mut [MaybeUninit<T>]) {}

/// Alignment of huge pages on x86-64, and on arm64 with a base page size of 4 kB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;
