//! Compressed array of distances (plies to the end), with random access.
//!
//! ```text
//! table   = halves marks late far trailer
//! halves  = four bits a number, the first of a byte in its low half: 0 for no end, 1 to 13 plies, 14 and 15 for more of them,
//!           even and odd ("late")
//! marks   = for each block of 1024 numbers how many late ones come before it, four bytes
//! late    = four bits for each late number: (plies - 14) / 2, or 15 for 44 plies and more ("far")
//! far     = for each far number the number, four bytes, and its plies, one byte; in rising order of numbers
//! trailer = what the table is of (8 bytes), how many late and far numbers there are (four bytes each), "QYENDS01"
//! ```
//! Numbers of several bytes are little-endian.

use std::fs::File;
use std::io::{self, Write};

/// Distances by index.
pub(super) struct Table {
    store: Store,
    count: usize,
    late: usize,
    /// All far entries; there are few.
    far: Vec<(u32, u8)>,
}

enum Store {
    Memory(Vec<u8>),
    File(File),
}

/// Identifies the rules of a table, which must match.
pub(super) type Kind = [u8; 8];

const MAGIC: &[u8; 8] = b"QYENDS01";
const TRAILER: usize = 24;
/// Indices per block, two per byte.
const BLOCK: usize = 1024;
/// Bytes of a mark.
const MARK: usize = 4;
/// Bytes of a far entry.
const FAR: usize = 5;
/// The smallest distance that does not fit the four bits of a late entry.
const FAR_FROM: u8 = Found::EXACT + 1 + 2 * 15;

impl Table {
    /// Compresses the results.
    pub(super) fn new(kind: Kind, count: usize, found: Found) -> Self {
        let Found { halves, late: lists } = found;
        let late: usize = lists.iter().map(Vec::len).sum();
        let mut marks = Vec::with_capacity(MARK * count.div_ceil(BLOCK));
        let mut before = 0_u32;
        for block in halves.chunks(BLOCK / 2) {
            marks.extend(before.to_le_bytes());
            before += late_in(block);
        }
        let mut bits = vec![0_u8; late.div_ceil(2)];
        let mut far = Vec::new();
        for (plies, numbers) in (Found::EXACT + 1..).zip(lists) {
            for number in numbers {
                let rank = rank(&halves, &marks, number as usize);
                let code = if plies >= FAR_FROM {
                    far.push((number, plies));
                    15
                } else {
                    (plies - Found::EXACT - 1) / 2
                };
                bits[rank / 2] |= code << (4 * (rank % 2));
            }
        }
        far.sort_unstable();
        let mut bytes = halves;
        bytes.reserve_exact(marks.len() + bits.len() + FAR * far.len() + TRAILER);
        bytes.extend(marks);
        bytes.extend(bits);
        for &(number, plies) in &far {
            bytes.extend(number.to_le_bytes());
            bytes.push(plies);
        }
        bytes.extend(kind);
        bytes.extend((late as u32).to_le_bytes());
        bytes.extend((far.len() as u32).to_le_bytes());
        bytes.extend(MAGIC);
        Self { store: Store::Memory(bytes), count, late, far }
    }

    /// Opens a file; fails if it is not a complete table of this kind and size.
    pub(super) fn open(kind: Kind, count: usize, file: File) -> io::Result<Self> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "no table of these endings");
        let size = usize::try_from(file.metadata()?.len()).map_err(|_| wrong())?;
        let end = size.checked_sub(TRAILER).ok_or_else(wrong)?;
        let mut trailer = [0; TRAILER];
        read_at(&file, &mut trailer, end as u64)?;
        let [late, far] = [8, 12].map(|at| four(&trailer[at..]) as usize);
        let mut table = Self { store: Store::File(file), count, late, far: Vec::new() };
        let fits = trailer[..8] == kind && trailer[16..] == *MAGIC && end == table.far_at() + FAR * far;
        if !fits {
            return Err(wrong());
        }
        let mut bytes = vec![0; FAR * far];
        table.read(table.far_at(), &mut bytes)?;
        table.far = bytes.chunks_exact(FAR).map(|bytes| (four(bytes), bytes[4])).collect();
        Ok(table)
    }

    /// Writes the table in the format of [`Self::open`].
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        match &self.store {
            Store::Memory(bytes) => to.write_all(bytes),
            Store::File(_) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, "the table is in a file already"))
            }
        }
    }

    /// The distance for an index; 0 for a draw.
    pub(super) fn plies(&self, number: usize) -> io::Result<u8> {
        let mut half = [0];
        self.read(number / 2, &mut half)?;
        let code = half[0] >> (4 * (number % 2)) & 15;
        if code <= Found::EXACT {
            return Ok(code);
        }
        let mut block = [0; BLOCK / 2];
        let from = number / BLOCK * (BLOCK / 2);
        let block = &mut block[..=number / 2 - from];
        self.read(from, block)?;
        let mut mark = [0; MARK];
        self.read(self.marks_at() + number / BLOCK * MARK, &mut mark)?;
        let rank = four(&mark) as usize + late_before(block, number % BLOCK) as usize;
        self.read(self.late_at() + rank / 2, &mut half)?;
        match half[0] >> (4 * (rank % 2)) & 15 {
            15 => {
                let at = self.far.binary_search_by_key(&(number as u32), |&(number, _)| number);
                let at = at.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a number is missing"))?;
                Ok(self.far[at].1)
            }
            more => Ok(code + 2 * more),
        }
    }

    fn marks_at(&self) -> usize {
        self.count.div_ceil(2)
    }

    fn late_at(&self) -> usize {
        self.marks_at() + MARK * self.count.div_ceil(BLOCK)
    }

    fn far_at(&self) -> usize {
        self.late_at() + self.late.div_ceil(2)
    }

    fn read(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        match &self.store {
            Store::Memory(bytes) => {
                into.copy_from_slice(&bytes[at..at + into.len()]);
                Ok(())
            }
            Store::File(file) => read_at(file, into, at as u64),
        }
    }
}

/// Fills `into` from the file at offset `at`. Several threads may read at the same time.
#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

/// On other systems a file has one position, shared by all readers: reads are serialised.
#[cfg(not(unix))]
fn read_at(mut file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(into)
}

fn four(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Number of late entries in these bytes.
fn late_in(bytes: &[u8]) -> u32 {
    let late = |code: u8| u32::from(code > Found::EXACT);
    bytes.iter().map(|&both| late(both & 15) + late(both >> 4)).sum()
}

/// Number of late entries before this one.
fn late_before(block: &[u8], number: usize) -> u32 {
    let half = number % 2 == 1 && block[number / 2] & 15 > Found::EXACT;
    late_in(&block[..number / 2]) + u32::from(half)
}

/// Rank of this entry among all late ones.
fn rank(halves: &[u8], marks: &[u8], number: usize) -> usize {
    let block = &halves[number / BLOCK * (BLOCK / 2)..];
    four(&marks[number / BLOCK * MARK..]) as usize + late_before(block, number % BLOCK) as usize
}

/// Distances during the computation.
pub(super) struct Found {
    /// As in a table.
    pub(super) halves: Vec<u8>,
    /// Indices of late entries by distance, from the first late distance on.
    pub(super) late: Vec<Vec<u32>>,
}

impl Found {
    /// Distances above this are late.
    pub(super) const EXACT: u8 = 13;
    /// Upper bound of all distances: four against four has 66.
    pub(super) const MOST: u8 = 250;

    pub(super) fn new(count: usize) -> Self {
        Self {
            halves: vec![0; count.div_ceil(2)],
            late: vec![Vec::new(); usize::from(Self::MOST - Self::EXACT)],
        }
    }

    /// The distance, or 14 or 15 for late ones: odd is a win in any case.
    #[inline]
    pub(super) fn code(&self, number: usize) -> u8 {
        self.halves[number / 2] >> (4 * (number % 2)) & 15
    }

    /// Sets the distance of an index that had none.
    pub(super) fn set(&mut self, number: usize, plies: u8) {
        let code = if plies <= Self::EXACT {
            plies
        } else {
            self.late[usize::from(plies - Self::EXACT - 1)].push(number as u32);
            14 + plies % 2
        };
        self.halves[number / 2] |= code << (4 * (number % 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn every_number_is_read_as_it_was_found_from_memory_and_from_a_file() {
        let mut rng = Rng::new(1);
        for count in [1, 7, 1_024, 5_001] {
            let mut found = Found::new(count);
            let plies: Vec<u8> = (0..count)
                .map(|_| match rng.below(4) {
                    0 => 0,
                    1 => rng.below(14) as u8,
                    2 => 14 + rng.below(30) as u8,
                    _ => rng.below(u32::from(Found::MOST) + 1) as u8,
                })
                .collect();
            for (number, &plies) in plies.iter().enumerate().filter(|&(_, &plies)| plies > 0) {
                found.set(number, plies);
            }
            let table = Table::new(*b"somekind", count, found);
            let mut file = tempfile::tempfile().expect("a file");
            table.write(&mut file).expect("there is room");
            let copy = |file: &File| file.try_clone().expect("it is open");
            let opened = Table::open(*b"somekind", count, copy(&file)).expect("it is whole");
            for (number, &plies) in plies.iter().enumerate() {
                assert_eq!(table.plies(number).expect("memory can be read"), plies);
                assert_eq!(opened.plies(number).expect("the file is there"), plies);
            }
            assert!(Table::open(*b"anotherk", count, copy(&file)).is_err());
            assert!(Table::open(*b"somekind", count + 2, copy(&file)).is_err());
        }
    }
}
