//! Weights of move features.
//!
//! Trained on self-play games; see `EXPERIMENTS.md`.

use std::sync::OnceLock;

use super::features::{Feature, PLAIN, hash_of_code};
use super::stones::{BLACK, WHITE};

/// The weights of known features. Unknown features have 0.
pub(super) struct FeatureWeights {
    plain: [f32; PLAIN],
    /// A hash table from features to weights; 0 marks an empty slot.
    slots: Vec<(Feature, f32)>,
    /// Relative probability of a move by its eight neighbours, by code and colour; [`WEIGHT`] stands for 1.
    around: Vec<[u16; 2]>,
}

/// Scale of [`FeatureWeights::around`].
pub(super) const WEIGHT: f32 = 64.0;

/// Scale of the bytes in the file: 1/[`UNIT`].
const UNIT: f32 = 24.0;

impl FeatureWeights {
    /// The built-in weights.
    pub(super) fn shared() -> &'static Self {
        static SHARED: OnceLock<FeatureWeights> = OnceLock::new();
        SHARED.get_or_init(|| Self::from_bytes(include_bytes!("patterns.bin")))
    }

    pub(super) fn new(weights: impl Iterator<Item = (Feature, f32)> + Clone) -> Self {
        let count = weights.clone().filter(|&(feature, _)| feature as usize >= PLAIN).count();
        let mut known = Self {
            plain: [0.0; PLAIN],
            slots: vec![(0, 0.0); (2 * count + 2).next_power_of_two()],
            around: Vec::new(),
        };
        for (feature, weight) in weights {
            if let Some(plain) = known.plain.get_mut(feature as usize) {
                *plain = weight;
            } else {
                let mut slot = feature as usize >> 3;
                loop {
                    slot &= known.slots.len() - 1;
                    if known.slots[slot].0 == 0 {
                        known.slots[slot] = (feature, weight);
                        break;
                    }
                    slot += 1;
                }
            }
        }
        let weight = |code, turn| {
            let weight = known.get(hash_of_code(code, turn));
            (weight.exp() * WEIGHT).round().clamp(1.0, 16_000.0) as u16
        };
        known.around = (0..=u16::MAX).map(|code| [weight(code, BLACK), weight(code, WHITE)]).collect();
        known
    }

    /// The relative probability in [`Self::around`].
    #[inline]
    pub(super) fn around(&self, code: u16, turn: u8) -> u32 {
        self.around[usize::from(code)][usize::from(turn) - 1].into()
    }

    /// Five bytes per feature: its hash, little-endian, and its weight in units of 1/[`UNIT`], signed.
    pub(super) fn to_bytes(weights: impl Iterator<Item = (Feature, f32)>) -> Vec<u8> {
        let mut weights: Vec<(Feature, i8)> = weights
            .map(|(feature, weight)| (feature, (weight * UNIT).round().clamp(-127.0, 127.0) as i8))
            .collect();
        weights.retain(|&(_, weight)| weight != 0);
        weights.sort_unstable();
        weights
            .into_iter()
            .flat_map(|(feature, weight)| feature.to_le_bytes().into_iter().chain([weight as u8]))
            .collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self::new(bytes.chunks_exact(5).map(|five| {
            let feature = Feature::from_le_bytes([five[0], five[1], five[2], five[3]]);
            (feature, f32::from(five[4] as i8) / UNIT)
        }))
    }

    #[inline]
    pub(super) fn get(&self, feature: Feature) -> f32 {
        if let Some(&plain) = self.plain.get(feature as usize) {
            return plain;
        }
        let mut slot = feature as usize >> 3;
        loop {
            slot &= self.slots.len() - 1;
            let (known, weight) = self.slots[slot];
            if known == feature {
                return weight;
            }
            if known == 0 {
                return 0.0;
            }
            slot += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let written = [(3, 1.5), (900, -0.5), (901, 2.0), (4_000_000_000, 0.25), (1_000, 0.0)];
        let bytes = FeatureWeights::to_bytes(written.into_iter());
        assert_eq!(bytes.len(), 5 * 4, "what counts nothing is not kept");
        let read = FeatureWeights::from_bytes(&bytes);
        for (feature, weight) in written {
            assert!((read.get(feature) - weight).abs() <= 0.5 / UNIT, "{feature}");
        }
        assert_eq!(read.get(77_777).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn those_that_come_with_the_engine_are_small_and_prefer_taking_to_throwing_away() {
        let bytes = include_bytes!("patterns.bin");
        assert!(bytes.len() <= 1 << 20 && bytes.len().is_multiple_of(5));
        let (taking, throwing_away) = (0, 24);
        assert!(FeatureWeights::shared().get(taking) > FeatureWeights::shared().get(throwing_away) + 1.0);
    }
}
