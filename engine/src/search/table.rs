//! The transposition table: results of searched positions, by hash.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::pages;

/// Relation of a stored value to the true value. 0 marks an empty entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    /// The true value is at most this.
    Upper = 1,
    /// The true value is at least this.
    Lower = 2,
    /// The true value is this.
    Exact = 3,
}

impl Bound {
    /// Whether a value with this bound answers a query for this window.
    pub(super) const fn decides(self, value: i32, alpha: i32, beta: i32) -> bool {
        match self {
            Self::Exact => true,
            Self::Lower => value >= beta,
            Self::Upper => value <= alpha,
        }
    }
}

/// The content of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableEntry {
    /// [`super::AlphaBetaGame::number`] of the best move, [`NO_MOVE`] if there is none.
    pub(super) mv: u16,
    /// Value relative to the node, see `Value::to_node`.
    pub(super) value: i32,
    /// The static evaluation.
    pub(super) eval: i32,
    /// Depth in fractions of a ply.
    pub(super) depth: i32,
    pub(super) bound: Bound,
}

impl TableEntry {
    /// Whether the node was cut off by its static evaluation, before the game was queried for a forced win.
    pub(super) const fn is_glance(&self) -> bool {
        self.depth == 0 && matches!(self.bound, Bound::Lower)
    }
}

/// No move.
pub(super) const NO_MOVE: u16 = u16::MAX;

/// A [`TableEntry`] in 64 bits, with the generation of its search.
#[derive(Clone, Copy)]
struct PackedEntry {
    mv: u16,
    value: i16,
    eval: i16,
    depth: u8,
    /// Bound in the low two bits, 0 if empty; generation in the others.
    flags: u8,
}

impl PackedEntry {
    const fn pack(self) -> u64 {
        self.mv as u64
            | (self.value as u16 as u64) << 16
            | (self.eval as u16 as u64) << 32
            | (self.depth as u64) << 48
            | (self.flags as u64) << 56
    }

    const fn unpack(packed: u64) -> Self {
        Self {
            mv: packed as u16,
            value: (packed >> 16) as i16,
            eval: (packed >> 32) as i16,
            depth: (packed >> 48) as u8,
            flags: (packed >> 56) as u8,
        }
    }

    const fn is_written(self) -> bool {
        self.flags.trailing_zeros() < 2
    }
}

/// The low half of the key XORed with the entry (Hyatt's lockless hashing): if two threads write a slot at once and entry
/// and check are of different writes, they do not match and the slot counts as empty.
const fn check(key: u64, packed: u64) -> u32 {
    key as u32 ^ packed as u32 ^ (packed >> 32) as u32
}

/// Entries that share a cache line.
const BUCKET: usize = 5;

#[derive(Default)]
#[repr(align(64))]
struct Bucket {
    entries: [AtomicU64; BUCKET],
    checks: [AtomicU32; BUCKET],
}

impl Bucket {
    fn entry(&self, n: usize) -> PackedEntry {
        PackedEntry::unpack(self.entries[n].load(Relaxed))
    }

    /// The slot and entry of this key.
    fn find(&self, key: u64) -> Option<(usize, PackedEntry)> {
        (0..BUCKET).find_map(|n| {
            let packed = self.entries[n].load(Relaxed);
            let entry = PackedEntry::unpack(packed);
            (self.checks[n].load(Relaxed) == check(key, packed) && entry.is_written()).then_some((n, entry))
        })
    }
}

/// A table of fixed size. A new entry replaces the least valuable one of its bucket: older generations and shallow depths
/// first. Clones share the table, so that threads of one search use it without a lock.
#[derive(Clone)]
pub(super) struct TranspositionTable {
    buckets: Arc<Vec<Bucket>>,
    bytes: usize,
    /// Generation: incremented with each search, so that older entries are replaced first. Six bits.
    generation: u8,
}

impl TranspositionTable {
    /// A table of about this size, allocated by [`Self::begin`].
    pub(super) fn new(bytes: usize) -> Self {
        Self { buckets: Arc::default(), bytes, generation: 0 }
    }

    /// Must be called before each search.
    pub(super) fn begin(&mut self) {
        if self.buckets.is_empty() {
            let count = (self.bytes / size_of::<Bucket>()).max(1);
            let mut buckets = Vec::with_capacity(count);
            pages::large(buckets.spare_capacity_mut());
            buckets.resize_with(count, Bucket::default);
            self.buckets = Arc::new(buckets);
        }
        self.generation = (self.generation + 1) & 63;
    }

    /// Frees the table; the next search allocates this many bytes.
    pub(super) fn clear(&mut self, bytes: usize) {
        *self = Self::new(bytes);
    }

    fn bucket(&self, key: u64) -> &Bucket {
        &self.buckets[((u128::from(key) * self.buckets.len() as u128) >> 64) as usize]
    }

    /// Prefetches the cache line of this key's bucket.
    #[inline]
    #[allow(
        unsafe_code,
        reason = "waiting for memory in `get` took a fifth of xiangqi's time; std knows no safe way to ask"
    )]
    pub(super) fn prefetch(&self, key: u64) {
        let bucket = std::ptr::from_ref(self.bucket(key));
        // SAFETY: the instruction is a hint with the address of a live bucket; it neither reads nor writes memory, and
        // belongs to the base architecture (SSE on x86-64, Armv8 on arm64).
        #[cfg(target_arch = "x86_64")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(bucket.cast());
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) bucket, options(nostack, readonly, preserves_flags));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = bucket;
    }

    pub(super) fn get(&self, key: u64) -> Option<TableEntry> {
        let (_, entry) = self.bucket(key).find(key)?;
        Some(TableEntry {
            mv: entry.mv,
            value: i32::from(entry.value),
            eval: i32::from(entry.eval),
            depth: i32::from(entry.depth),
            bound: match entry.flags & 3 {
                1 => Bound::Upper,
                2 => Bound::Lower,
                _ => Bound::Exact,
            },
        })
    }

    pub(super) fn put(&self, key: u64, found: TableEntry) {
        let generation = self.generation;
        let bucket = self.bucket(key);
        let worth = |entry: PackedEntry| {
            let age = (generation + 64 - (entry.flags >> 2)) & 63;
            i32::from(entry.depth) - 32 * i32::from(age) - if entry.is_written() { 0 } else { 10_000 }
        };
        let same = bucket.find(key);
        let slot = same.map_or_else(
            || (0..BUCKET).min_by_key(|&n| worth(bucket.entry(n))).expect("a bucket has entries"),
            |(slot, _)| slot,
        );
        let mut mv = found.mv;
        if let Some((_, old)) = same {
            // A bound from a much shallower search of the same position does not replace the entry.
            let deeper = found.depth + 8 > i32::from(old.depth) || found.bound == Bound::Exact;
            if !deeper && old.flags >> 2 == generation {
                return;
            }
            if mv == NO_MOVE {
                mv = old.mv;
            }
        }
        let packed = PackedEntry {
            mv,
            value: found.value as i16,
            eval: found.eval as i16,
            depth: found.depth.clamp(0, 255) as u8,
            flags: found.bound as u8 | generation << 2,
        }
        .pack();
        bucket.entries[slot].store(packed, Relaxed);
        bucket.checks[slot].store(check(key, packed), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn memory(depth: i32) -> TableEntry {
        TableEntry { mv: 7, value: -29_990, eval: 12, depth, bound: Bound::Lower }
    }

    #[test]
    fn what_was_put_in_last_is_found_again() {
        let mut table = TranspositionTable::new(1 << 16);
        table.begin();
        let mut rng = Rng::new(1);
        for _ in 0..100_000 {
            let key = rng.next_u64();
            table.put(key, memory(40));
            let found = table.get(key).expect("it was just put there");
            assert_eq!((found.mv, found.value, found.eval, found.depth), (7, -29_990, 12, 40));
        }
    }

    #[test]
    fn deep_results_of_this_search_outlive_shallow_ones() {
        let mut table = TranspositionTable::new(size_of::<Bucket>());
        table.begin();
        table.put(1, memory(100));
        for key in 2..50 {
            table.put(key, memory(4));
        }
        assert!(table.get(1).is_some());
    }

    #[test]
    fn of_an_entry_that_two_threads_wrote_at_once_nothing_is_found() {
        let mut table = TranspositionTable::new(size_of::<Bucket>());
        table.begin();
        table.put(1, memory(40));
        let bucket = table.bucket(1);
        let (slot, _) = bucket.find(1).expect("it was just put there");
        let other = PackedEntry { mv: 9, ..bucket.entry(slot) };
        bucket.entries[slot].store(other.pack(), Relaxed);
        assert!(table.get(1).is_none());
    }

    #[test]
    fn a_table_that_no_search_has_used_holds_no_memory() {
        let mut table = TranspositionTable::new(64 << 20);
        assert!(table.buckets.is_empty());
        table.begin();
        table.clear(1 << 20);
        assert!(table.buckets.is_empty());
    }
}
