//! Output and input beside pages: sounds, music, vibration, gamepads, and whether the screen stays on.
//!
//! This crate knows no game, no page and no host. It computes every sound ([`synth`], [`music`]); the program contains no
//! recording. A missing loudspeaker, motor or gamepad means silence, not an error, and is logged at `debug` at most. Each
//! device has its own thread, so a caller never waits.

#![forbid(unsafe_code)]

pub mod motor;
pub mod music;
pub mod pads;
mod player;
pub mod screen;
pub mod synth;

pub use motor::{Feel, Motor};
pub use pads::Press;
pub use player::Player;
pub use screen::Screen;
pub use synth::{Cue, RATE};

/// The highest level; 0 is mute.
pub const LOUDEST: u8 = 10;

/// Gain of a level: 0 at 0, 1 at [`LOUDEST`], about 3 dB a step between.
#[cfg(any(feature = "sound", test))]
pub(crate) fn gain(level: u8) -> f32 {
    if level == 0 { 0.0 } else { 0.7_f32.powi(i32::from(LOUDEST) - i32::from(level.min(LOUDEST))) }
}

/// Pseudo-random numbers from a seed (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to but not 1.
    pub(crate) fn part(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// From -1 up to but not 1.
    pub(crate) fn swing(&mut self) -> f32 {
        self.part() * 2.0 - 1.0
    }

    /// A random choice with these weights; the weights' sum is above 0.
    pub(crate) fn weighed<T: Copy>(&mut self, of: &[(T, f32)]) -> T {
        let mut left = self.part() * of.iter().map(|(_, weight)| weight).sum::<f32>();
        for (one, weight) in of {
            left -= weight;
            if left < 0.0 {
                return *one;
            }
        }
        of[of.len() - 1].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_louder_than_the_one_below_and_0_is_mute() {
        let gains: Vec<f32> = (0..=LOUDEST).map(gain).collect();
        assert_eq!((gains[0], gains[usize::from(LOUDEST)]), (0.0, 1.0));
        assert!(gains.is_sorted_by(|one, next| one < next), "{gains:?}");
        assert_eq!(Some(&gain(200)), gains.last());
    }
}
