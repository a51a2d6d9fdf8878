//! Random mutations of seeds.

/// Pieces that parsers trip over: numbers at a bound, lengths, brackets, text of several bytes.
const PIECES: [&[u8]; 12] = [
    &[0; 4],
    &[0xFF; 10],
    &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
    b"99999999999999999999",
    b"-1",
    b"1e99",
    b"null",
    b"[[[[[[[[",
    b"\\u0000",
    b"%00",
    b"\n",
    "棋".as_bytes(),
];

/// Signs with a meaning in one of the formats.
const SIGNS: &[u8] = b"[](){}<>;:\\\"/ .,-+=&%@?\n\r\x0019azAZbw#x";

/// Mutates seeds; the same number gives the same mutations.
pub struct Mutator<'seeds> {
    random: u64,
    seeds: &'seeds [Vec<u8>],
}

impl<'seeds> Mutator<'seeds> {
    /// Of these seeds, of which there is at least one.
    pub fn new(number: u64, seeds: &'seeds [Vec<u8>]) -> Self {
        Self { random: number.max(1), seeds }
    }

    /// A seed with one to four changes: transmission errors and typical attacks.
    pub fn mutated(&mut self) -> Vec<u8> {
        let mut bytes = self.any_seed().clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below((bytes.len() - at + 1).min(40));
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let other = self.any_seed();
                let from = self.below(other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
            4 => drop(bytes.splice(at..end, PIECES[self.below(PIECES.len())].iter().copied())),
            5 => bytes.insert(at, SIGNS[self.below(SIGNS.len())]),
            6 => bytes.insert(at, self.next() as u8),
            _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ => {}
        }
    }

    fn any_seed(&mut self) -> &'seeds Vec<u8> {
        &self.seeds[self.below(self.seeds.len())]
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Xorshift64 (Marsaglia 2003): needs no crate.
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}
