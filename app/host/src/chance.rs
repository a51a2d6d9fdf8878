//! Randomness.

/// Source of ids, nonces, seeds and jitter.
#[derive(Clone, Copy, Debug)]
pub enum Entropy {
    /// The operating system.
    System,
    /// Reproducible, for tests only. Identities always use the operating system.
    Seeded(u64),
}

/// Generates ids, nonces, seeds and jitter.
pub(crate) struct Chance {
    /// `None`: the operating system.
    seeded: Option<engine::Rng>,
}

impl Chance {
    /// Fails if the operating system provides no randomness; later draws cannot fail.
    pub(crate) fn new(entropy: Entropy) -> Result<Self, getrandom::Error> {
        match entropy {
            Entropy::System => {
                let mut probe = [0; 1];
                getrandom::fill(&mut probe)?;
                Ok(Self { seeded: None })
            }
            Entropy::Seeded(seed) => Ok(Self { seeded: Some(engine::Rng::new(seed)) }),
        }
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        match &mut self.seeded {
            None => getrandom::fill(&mut bytes).expect("the system gave randomness when the host started"),
            Some(rng) => {
                for chunk in bytes.chunks_mut(8) {
                    chunk.copy_from_slice(&rng.next_u64().to_le_bytes()[..chunk.len()]);
                }
            }
        }
        bytes
    }

    pub(crate) fn seed(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// Uniform in `0.0..1.0`.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.seed() >> 11) as f64 / (1u64 << 53) as f64
    }
}
