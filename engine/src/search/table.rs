//! What the search remembers of positions it has seen.

/// How a remembered value relates to the true one. 0 is left for an entry never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    /// The true value is at most this.
    Upper = 1,
    /// The true value is at least this.
    Lower = 2,
    /// This is the value.
    Exact = 3,
}

impl Bound {
    /// Whether a value remembered with this bound says all that a window asks.
    pub(super) const fn decides(self, value: i32, alpha: i32, beta: i32) -> bool {
        match self {
            Self::Exact => true,
            Self::Lower => value >= beta,
            Self::Upper => value <= alpha,
        }
    }
}

/// What is remembered of one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// [`super::AlphaBetaGame::number`] of the best move, [`NO_MOVE`] if there is none.
    pub(super) mv: u16,
    /// Seen from the node, see `Value::to_node`.
    pub(super) value: i32,
    /// The judgement without looking ahead.
    pub(super) eval: i32,
    /// In the search's parts of a ply.
    pub(super) depth: i32,
    pub(super) bound: Bound,
}

/// Stands for no move.
pub(super) const NO_MOVE: u16 = u16::MAX;

#[derive(Clone, Copy)]
struct Entry {
    check: u32,
    mv: u16,
    value: i16,
    eval: i16,
    depth: u8,
    /// Bound in the low two bits, 0 if never written; generation above.
    flags: u8,
}

impl Entry {
    const fn is_written(self) -> bool {
        self.flags.trailing_zeros() < 2
    }

    const fn is_of(self, key: u64) -> bool {
        self.check == key as u32 && self.is_written()
    }
}

const EMPTY: Entry = Entry { check: 0, mv: NO_MOVE, value: 0, eval: 0, depth: 0, flags: 0 };

/// Entries that share a cache line.
const BUCKET: usize = 5;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([Entry; BUCKET]);

/// A table of fixed size: a new position takes the place of the least useful one in its bucket.
pub(super) struct Table {
    buckets: Vec<Bucket>,
    bytes: usize,
    /// Grows with each search, so that leftovers of earlier ones are replaced first. Six bits.
    generation: u8,
}

impl Table {
    /// A table of about this size. It takes no memory before [`Self::begin`].
    pub(super) const fn new(bytes: usize) -> Self {
        Self { buckets: Vec::new(), bytes, generation: 0 }
    }

    /// To be called before each search.
    pub(super) fn begin(&mut self) {
        if self.buckets.is_empty() {
            let count = (self.bytes / size_of::<Bucket>()).max(1);
            self.buckets = vec![Bucket([EMPTY; BUCKET]); count];
        }
        self.generation = (self.generation + 1) & 63;
    }

    /// Forgets everything and gives the memory back; the next search takes this many bytes.
    pub(super) fn clear(&mut self, bytes: usize) {
        *self = Self::new(bytes);
    }

    fn place(&self, key: u64) -> usize {
        ((u128::from(key) * self.buckets.len() as u128) >> 64) as usize
    }

    pub(super) fn get(&self, key: u64) -> Option<Memory> {
        let bucket = &self.buckets[self.place(key)];
        let entry = bucket.0.iter().find(|entry| entry.is_of(key))?;
        Some(Memory {
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

    pub(super) fn put(&mut self, key: u64, memory: Memory) {
        let place = self.place(key);
        let generation = self.generation;
        let bucket = &mut self.buckets[place].0;
        let worth = |entry: &Entry| {
            let age = (generation + 64 - (entry.flags >> 2)) & 63;
            i32::from(entry.depth) - 32 * i32::from(age) - if entry.is_written() { 0 } else { 10_000 }
        };
        let slot = bucket
            .iter()
            .position(|entry| entry.is_of(key))
            .unwrap_or_else(|| (0..BUCKET).min_by_key(|&n| worth(&bucket[n])).expect("a bucket has entries"));
        let old = bucket[slot];
        let same = old.is_of(key);
        // A bound from a much shallower search of the same position is worth less than what is there.
        let deeper = memory.depth + 8 > i32::from(old.depth) || memory.bound == Bound::Exact;
        if same && !deeper && old.flags >> 2 == generation {
            return;
        }
        bucket[slot] = Entry {
            check: key as u32,
            mv: if memory.mv == NO_MOVE && same { old.mv } else { memory.mv },
            value: memory.value as i16,
            eval: memory.eval as i16,
            depth: memory.depth.clamp(0, 255) as u8,
            flags: memory.bound as u8 | generation << 2,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn memory(depth: i32) -> Memory {
        Memory { mv: 7, value: -29_990, eval: 12, depth, bound: Bound::Lower }
    }

    #[test]
    fn what_was_put_in_last_is_found_again() {
        let mut table = Table::new(1 << 16);
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
        let mut table = Table::new(size_of::<Bucket>());
        table.begin();
        table.put(1, memory(100));
        for key in 2..50 {
            table.put(key, memory(4));
        }
        assert!(table.get(1).is_some());
    }

    #[test]
    fn a_table_that_no_search_has_used_holds_no_memory() {
        let mut table = Table::new(64 << 20);
        assert_eq!(table.buckets.capacity(), 0);
        table.begin();
        table.clear(1 << 20);
        assert_eq!(table.buckets.capacity(), 0);
    }
}
