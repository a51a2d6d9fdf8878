//! The network: weights from a file, and inference.
//!
//! A residual tower of 3 x 3 convolutions with `CHANNELS` channels, two per block; every second block has global pooling.
//! Three heads: policy, value and ownership. `engine/training/go/network.py` defines the same network for training, and
//! writes the file.
//!
//! The board is stored in rows of `size + 1` points, where the last one is padding and always 0, with a padding row at
//! either end, so that the nine neighbours of a point are at fixed offsets and no edge checks are needed.

use std::sync::OnceLock;

use super::planes::{FACTS, GlobalInputs, InputPlanes};
use crate::kernel::{self, FusedKernel};

/// Channels of the trunk.
const CHANNELS: usize = 48;
/// Units of the value head's hidden layer.
const HIDDEN: usize = 48;
/// Channels of the policy head.
const POLICY: usize = 24;
/// Global inputs.
const WHOLE: usize = 2;
/// The board size is an input as (size - 13) / 6.
const PLAIN_SIZE: f32 = 13.0;

/// Points computed in one block. The total number of rows is padded to a multiple.
const TOGETHER: usize = 6;
/// Channels per block: `TOGETHER` times as many accumulators stay in registers.
const LANES: usize = 16;

/// Weights of a convolution, ordered by block of `LANES` output channels, by neighbour (nine), by input channel.
struct Convolution {
    inputs: usize,
    weights: Vec<[f32; LANES]>,
    bias: Vec<f32>,
}

/// Weights of a fully connected layer: for each input all outputs.
struct Layer {
    outputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

struct Block {
    one: Convolution,
    pool: Option<Layer>,
    two: Convolution,
}

/// A loaded network.
pub(in super::super) struct Network {
    first: Convolution,
    whole: Layer,
    blocks: Vec<Block>,
    hidden: Layer,
    policy: Layer,
    policy_whole: Layer,
    policy_out: Vec<f32>,
    owner: Layer,
    out: Layer,
    by_points: f32,
}

/// Policy, value and ownership of a position, for the side to move.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Output {
    /// Policy as logits, for each point and then the pass.
    pub(in super::super) moves: Vec<f32>,
    /// Winning chance, 0 to 1.
    pub(in super::super) chance: f32,
    /// Ownership of each point: 1 for the side to move, -1 for the enemy.
    pub(in super::super) owners: Vec<f32>,
}

/// Activations of one inference, kept so that nothing is allocated for each position.
#[derive(Default)]
pub(in super::super) struct Scratch {
    input: Vec<f32>,
    trunk: Vec<f32>,
    middle: Vec<f32>,
    after: Vec<f32>,
    pooled: Vec<f32>,
    hidden: Vec<f32>,
    told: Vec<f32>,
    policy: Vec<f32>,
    owner: Vec<f32>,
    pub(in super::super) output: Output,
}

/// Why a file is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum NetworkError {
    #[error("this is no network of Go")]
    Kind,
    #[error("the network has other sizes than this program computes with")]
    Shape,
    #[error("the file is {0} bytes long instead of {1}")]
    Length(usize, usize),
}

/// Reads tensors of 16-bit floats.
struct Reader<'a>(&'a [[u8; 2]]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Vec<f32> {
        let (these, rest) = self.0.split_at(count);
        self.0 = rest;
        these.iter().map(|&bytes| half(u16::from_le_bytes(bytes))).collect()
    }

    fn layer(&mut self, inputs: usize, outputs: usize, with_bias: bool) -> Layer {
        let read = self.take(inputs * outputs);
        let mut weights = vec![0.0; inputs * outputs];
        for output in 0..outputs {
            for input in 0..inputs {
                weights[input * outputs + output] = read[output * inputs + input];
            }
        }
        let bias = if with_bias { self.take(outputs) } else { vec![0.0; outputs] };
        Layer { outputs, weights, bias }
    }

    fn convolution(&mut self, inputs: usize) -> Convolution {
        let read = self.take(CHANNELS * inputs * 9);
        let mut weights = vec![[0.0; LANES]; CHANNELS / LANES * 9 * inputs];
        for output in 0..CHANNELS {
            for input in 0..inputs {
                for near in 0..9 {
                    let row = (output / LANES * 9 + near) * inputs + input;
                    weights[row][output % LANES] = read[(output * inputs + input) * 9 + near];
                }
            }
        }
        Convolution { inputs, weights, bias: self.take(CHANNELS) }
    }
}

/// Converts a 16-bit float (IEEE 754 binary16), without infinities, which weights never are.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

impl Network {
    /// The built-in network.
    pub(in super::super) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Network>> = OnceLock::new();
        SHARED.get_or_init(|| Self::read(include_bytes!("network.bin")).ok()).as_ref()
    }

    /// Parses the output of `network.py`.
    pub(in super::super) fn read(bytes: &[u8]) -> Result<Self, NetworkError> {
        let (head, body) = bytes.split_at_checked(12).ok_or(NetworkError::Kind)?;
        if &head[..4] != b"QGN1" {
            return Err(NetworkError::Kind);
        }
        let size = |n: usize| usize::from(u16::from_le_bytes([head[4 + 2 * n], head[5 + 2 * n]]));
        let blocks = size(1);
        if [size(0), size(2), size(3)] != [CHANNELS, HIDDEN, POLICY] || !(1..=64).contains(&blocks) {
            return Err(NetworkError::Shape);
        }
        let wide = CHANNELS * CHANNELS * 9 + CHANNELS;
        let pools = blocks / 2 * (3 * CHANNELS * CHANNELS + CHANNELS);
        let heads = (3 * CHANNELS + WHOLE) * HIDDEN
            + HIDDEN
            + CHANNELS * POLICY
            + POLICY
            + HIDDEN * POLICY
            + POLICY
            + CHANNELS
            + 1
            + 2 * HIDDEN
            + 2
            + 1;
        let whole = WHOLE * CHANNELS + CHANNELS;
        let expected = FACTS * CHANNELS * 9 + CHANNELS + whole + blocks * 2 * wide + pools + heads;
        let (halves, odd) = body.as_chunks::<2>();
        if halves.len() != expected || !odd.is_empty() {
            return Err(NetworkError::Length(bytes.len(), 12 + 2 * expected));
        }
        let mut reader = Reader(halves);
        let first = reader.convolution(FACTS);
        let whole = reader.layer(WHOLE, CHANNELS, true);
        let blocks = (0..blocks)
            .map(|n| Block {
                one: reader.convolution(CHANNELS),
                pool: (n % 2 == 1).then(|| reader.layer(3 * CHANNELS, CHANNELS, true)),
                two: reader.convolution(CHANNELS),
            })
            .collect();
        Ok(Self {
            first,
            whole,
            blocks,
            hidden: reader.layer(3 * CHANNELS + WHOLE, HIDDEN, true),
            policy: reader.layer(CHANNELS, POLICY, true),
            policy_whole: reader.layer(HIDDEN, POLICY, false),
            policy_out: reader.take(POLICY),
            owner: reader.layer(CHANNELS, 1, true),
            out: reader.layer(HIDDEN, 2, true),
            by_points: reader.take(1)[0],
        })
    }

    /// Evaluates a position into `scratch.output`. The input planes are for a board of this size, in the order of its
    /// points.
    pub(in super::super) fn think(
        &self,
        size: u8,
        facts: &[InputPlanes],
        whole: GlobalInputs,
        scratch: &mut Scratch,
    ) {
        let field = Field::new(size);
        let whole = whole.values();
        field.lay(facts, &mut scratch.input);
        scratch.trunk.resize(field.length * CHANNELS, 0.0);
        scratch.middle.resize(field.length * CHANNELS, 0.0);
        scratch.after.resize(field.length * CHANNELS, 0.0);
        self.whole.run(&whole, &mut scratch.told);
        field.convolve(&self.first, &scratch.input, &mut scratch.trunk);
        field.finish(&mut scratch.trunk, None, Some(&scratch.told));
        for block in &self.blocks {
            field.convolve(&block.one, &scratch.trunk, &mut scratch.middle);
            field.finish(&mut scratch.middle, None, None);
            if let Some(pool) = &block.pool {
                field.pool(&scratch.middle, &mut scratch.pooled);
                pool.run(&scratch.pooled, &mut scratch.told);
                field.add(&mut scratch.middle, &scratch.told);
            }
            field.convolve(&block.two, &scratch.middle, &mut scratch.after);
            field.finish(&mut scratch.after, Some(&scratch.trunk), None);
            std::mem::swap(&mut scratch.trunk, &mut scratch.after);
        }
        field.pool(&scratch.trunk, &mut scratch.pooled);
        scratch.pooled.extend(whole);
        self.hidden.run(&scratch.pooled, &mut scratch.hidden);
        for number in &mut scratch.hidden {
            *number = number.max(0.0);
        }
        let Output { moves, chance, owners } = &mut scratch.output;
        self.policy_whole.run(&scratch.hidden, &mut scratch.told);
        moves.clear();
        owners.clear();
        let (policy, owner) = (&mut scratch.policy, &mut scratch.owner);
        for at in field.points() {
            let here = &scratch.trunk[at * CHANNELS..(at + 1) * CHANNELS];
            self.policy.run(here, policy);
            let each = policy.iter().zip(&scratch.told).zip(&self.policy_out);
            moves.push(each.map(|((own, told), out)| (own + told).max(0.0) * out).sum());
            self.owner.run(here, owner);
            owners.push(owner[0].tanh());
        }
        self.out.run(&scratch.hidden, &mut scratch.told);
        moves.push(scratch.told[0]);
        let ahead = owners.iter().sum::<f32>() + 10.0 * whole[0];
        *chance = 1.0 / (1.0 + (-(scratch.told[1] + self.by_points * ahead)).exp());
    }
}

impl Layer {
    fn run(&self, input: &[f32], output: &mut Vec<f32>) {
        output.clear();
        output.extend_from_slice(&self.bias);
        for (&number, weights) in input.iter().zip(self.weights.chunks_exact(self.outputs)) {
            for (sum, weight) in output.iter_mut().zip(weights) {
                *sum += number * weight;
            }
        }
    }
}

/// [`Field::convolve`], compiled for each kind of processor.
struct Convolving<'a> {
    field: Field,
    convolution: &'a Convolution,
    input: &'a [f32],
    output: &'a mut [f32],
}

impl FusedKernel for Convolving<'_> {
    type Output = ();

    #[allow(clippy::inline_always, reason = "compiled anew for each kind of processor")]
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { field, convolution, input, output } = self;
        field.convolve_by::<FUSED>(convolution, input, output);
    }
}

/// Memory layout of a board of one size.
#[derive(Clone, Copy)]
struct Field {
    size: usize,
    width: usize,
    /// Index of the first point; padding of zeros is before it.
    begin: usize,
    /// Number of blocks of [`TOGETHER`] points from there on.
    groups: usize,
    /// Number of points including padding.
    length: usize,
}

impl Field {
    fn new(size: u8) -> Self {
        let size = usize::from(size);
        let width = size + 1;
        let groups = (size * width).div_ceil(TOGETHER);
        let begin = width + 1;
        Self { size, width, begin, groups, length: begin + groups * TOGETHER + width + 1 }
    }

    fn points(self) -> impl Iterator<Item = usize> {
        (0..self.size).flat_map(move |row| {
            let first = self.begin + row * self.width;
            first..first + self.size
        })
    }

    fn lay(self, facts: &[InputPlanes], input: &mut Vec<f32>) {
        input.clear();
        input.resize(self.length * FACTS, 0.0);
        for (at, facts) in self.points().zip(facts) {
            for (n, number) in input[at * FACTS..(at + 1) * FACTS].iter_mut().enumerate() {
                *number = f32::from(facts >> n & 1);
            }
        }
    }

    /// Computes the convolution at every point; values in the padding are invalid.
    fn convolve(self, convolution: &Convolution, input: &[f32], output: &mut [f32]) {
        kernel::run_fused(Convolving { field: self, convolution, input, output });
    }

    /// Written so that the compiler keeps the sums in registers: all lengths are constants, and rows are selected
    /// beforehand. With iterators the sums are in memory, at a twelfth of the speed.
    #[expect(clippy::inline_always, reason = "compiled anew for each kind of processor")]
    #[inline(always)]
    fn convolve_by<const FUSED: bool>(self, convolution: &Convolution, input: &[f32], output: &mut [f32]) {
        let inputs = convolution.inputs;
        let near: [usize; 9] = std::array::from_fn(|n| (n / 3) * self.width + n % 3);
        for (lane, weights) in convolution.weights.chunks_exact(9 * inputs).enumerate() {
            let bias: &[f32; LANES] =
                convolution.bias[lane * LANES..].first_chunk().expect("a bias for each number");
            for group in 0..self.groups {
                let first = group * TOGETHER;
                let mut sums: [[f32; LANES]; TOGETHER] = [*bias; TOGETHER];
                for (near, weights) in near.iter().zip(weights.chunks_exact(inputs)) {
                    let from = &input[(first + near) * inputs..][..TOGETHER * inputs];
                    let rows: [&[f32]; TOGETHER] = std::array::from_fn(|n| &from[n * inputs..][..inputs]);
                    for n in 0..inputs {
                        let weight = weights[n];
                        for point in 0..TOGETHER {
                            let number = rows[point][n];
                            let sums = &mut sums[point];
                            for lane in 0..LANES {
                                sums[lane] = if FUSED {
                                    number.mul_add(weight[lane], sums[lane])
                                } else {
                                    sums[lane] + number * weight[lane]
                                };
                            }
                        }
                    }
                }
                for (point, sums) in sums.iter().enumerate() {
                    let at = (self.begin + first + point) * CHANNELS + lane * LANES;
                    output[at..at + LANES].copy_from_slice(sums);
                }
            }
        }
    }

    /// Adds the residual input and the per-channel bias of the global pooling, applies ReLU, and clears the padding.
    fn finish(self, numbers: &mut [f32], past: Option<&[f32]>, told: Option<&[f32]>) {
        numbers[..self.begin * CHANNELS].fill(0.0);
        let end = self.begin + self.size * self.width;
        numbers[end * CHANNELS..].fill(0.0);
        for row in 0..self.size {
            let first = (self.begin + row * self.width) * CHANNELS;
            let last = first + self.size * CHANNELS;
            let (here, beyond) = numbers[first..last + CHANNELS].split_at_mut(last - first);
            beyond.fill(0.0);
            if let Some(told) = told {
                for point in here.chunks_exact_mut(CHANNELS) {
                    for (number, told) in point.iter_mut().zip(told) {
                        *number += told;
                    }
                }
            }
            match past {
                Some(past) => {
                    for (number, past) in here.iter_mut().zip(&past[first..last]) {
                        *number = (*number + past).max(0.0);
                    }
                }
                None => {
                    for number in here {
                        *number = number.max(0.0);
                    }
                }
            }
        }
    }

    /// Adds a per-channel value to every point of the board.
    fn add(self, numbers: &mut [f32], told: &[f32]) {
        for at in self.points() {
            for (number, told) in numbers[at * CHANNELS..(at + 1) * CHANNELS].iter_mut().zip(told) {
                *number += told;
            }
        }
    }

    /// Global pooling: means, means scaled by board size, and maxima.
    fn pool(self, numbers: &[f32], pooled: &mut Vec<f32>) {
        let (mut sums, mut most) = ([0.0_f32; CHANNELS], [f32::NEG_INFINITY; CHANNELS]);
        for at in self.points() {
            for (n, &number) in numbers[at * CHANNELS..(at + 1) * CHANNELS].iter().enumerate() {
                sums[n] += number;
                most[n] = most[n].max(number);
            }
        }
        let part = 1.0 / (self.size * self.size) as f32;
        let by_size = (self.size as f32 - PLAIN_SIZE) / 6.0;
        pooled.clear();
        pooled.extend(sums.iter().map(|sum| sum * part));
        pooled.extend(sums.iter().map(|sum| sum * part * by_size));
        pooled.extend(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn drawn(size: u8, seed: u64) -> Vec<InputPlanes> {
        let mut rng = Rng::new(seed);
        (0..u32::from(size) * u32::from(size)).map(|_| rng.below(1 << FACTS) as InputPlanes).collect()
    }

    fn shared() -> &'static Network {
        Network::shared().expect("the network that comes with the program can be read")
    }

    /// A reference implementation of the convolution on a board in rows of `size`.
    fn by_definition(convolution: &Convolution, size: usize, input: &[f32]) -> Vec<f32> {
        let inputs = convolution.inputs;
        let mut output = Vec::new();
        for at in 0..size * size {
            let (row, column) = (at / size, at % size);
            for number in 0..CHANNELS {
                let mut sum = convolution.bias[number];
                for near in 0..9 {
                    let (row, column) =
                        ((row + near / 3).wrapping_sub(1), (column + near % 3).wrapping_sub(1));
                    if row < size && column < size {
                        for n in 0..inputs {
                            let weights = convolution.weights[(number / LANES * 9 + near) * inputs + n];
                            sum += input[(row * size + column) * inputs + n] * weights[number % LANES];
                        }
                    }
                }
                output.push(sum);
            }
        }
        output
    }

    #[test]
    fn convolutions_are_as_defined_on_every_size_whatever_the_processor() {
        let convolution = &shared().blocks[0].one;
        for size in [7_u8, 9, 12, 13, 19] {
            let field = Field::new(size);
            let mut rng = Rng::new(u64::from(size));
            let mut input = vec![0.0; field.length * CHANNELS];
            let mut dense = Vec::new();
            for at in field.points() {
                for number in &mut input[at * CHANNELS..(at + 1) * CHANNELS] {
                    *number = rng.below(2_000) as f32 / 1_000.0 - 1.0;
                    dense.push(*number);
                }
            }
            let expected = by_definition(convolution, usize::from(size), &dense);
            let mut output = vec![f32::NAN; field.length * CHANNELS];
            for plain in [false, true] {
                if plain {
                    field.convolve_by::<false>(convolution, &input, &mut output);
                } else {
                    field.convolve(convolution, &input, &mut output);
                }
                let found = field.points().flat_map(|at| output[at * CHANNELS..(at + 1) * CHANNELS].iter());
                for (found, expected) in found.zip(&expected) {
                    assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn a_fused_convolution_has_the_same_bits_on_every_processor() {
        let convolution = &shared().blocks[0].one;
        let field = Field::new(9);
        let mut rng = Rng::new(7);
        let mut input = vec![0.0; field.length * CHANNELS];
        for at in field.points() {
            for number in &mut input[at * CHANNELS..(at + 1) * CHANNELS] {
                *number = rng.below(2_000) as f32 / 1_000.0 - 1.0;
            }
        }
        let digest = |convolve: &dyn Fn(&mut [f32])| {
            let mut output = vec![0.0; field.length * CHANNELS];
            convolve(&mut output);
            let numbers = field.points().flat_map(|at| &output[at * CHANNELS..(at + 1) * CHANNELS]);
            numbers.fold(0_u64, |said, number| {
                (said ^ u64::from(number.to_bits())).wrapping_mul(0x100_0000_01b3)
            })
        };
        // From x86-64 without such an instruction, which calls a function for it. Another network has another number.
        let known = 4_378_385_844_880_511_475;
        assert_eq!(digest(&|output| field.convolve_by::<true>(convolution, &input, output)), known);
        if kernel::is_fused() {
            assert_eq!(digest(&|output| field.convolve(convolution, &input, output)), known);
        }
    }

    #[test]
    fn nothing_of_one_thought_is_left_in_the_next() {
        let whole = GlobalInputs { komi: -7.5, passed: false };
        let think = |scratch: &mut Scratch, size: u8| {
            shared().think(size, &drawn(size, 1), whole, scratch);
            scratch.output.clone()
        };
        let mut used = Scratch::default();
        for size in [19, 9, 13, 9] {
            let found = think(&mut used, size);
            assert_eq!(found.moves.len(), usize::from(size) * usize::from(size) + 1);
            let fresh = think(&mut Scratch::default(), size);
            assert_eq!((found.moves, found.chance, found.owners), (fresh.moves, fresh.chance, fresh.owners));
        }
    }

    #[test]
    fn more_komi_makes_winning_likelier() {
        let board = vec![1 << (FACTS - 1); 81];
        let mut scratch = Scratch::default();
        let mut chance = |komi: f32| {
            shared().think(9, &board, GlobalInputs { komi, passed: false }, &mut scratch);
            scratch.output.chance
        };
        let chances = [-30.0, -7.5, 0.0, 20.0].map(&mut chance);
        assert!(chances.is_sorted() && chances[0] < 0.1 && chances[3] > 0.9, "{chances:?}");
    }

    #[test]
    fn a_file_that_is_no_network_is_refused() {
        let bytes = include_bytes!("network.bin");
        let refused = |bytes: &[u8]| Network::read(bytes).err();
        assert_eq!(refused(&[]), Some(NetworkError::Kind));
        assert_eq!(refused(&bytes[4..]), Some(NetworkError::Kind));
        let (length, whole) = (bytes.len() - 2, bytes.len());
        assert_eq!(refused(&bytes[..length]), Some(NetworkError::Length(length, whole)));
        assert_eq!(refused(&bytes[..whole - 1]), Some(NetworkError::Length(whole - 1, whole)));
        for at in [4, 6, 8, 10] {
            let mut wrong = bytes.to_vec();
            wrong[at] = 0;
            assert_eq!(refused(&wrong), Some(NetworkError::Shape));
        }
    }

    #[test]
    fn halves_are_read_as_written() {
        let known =
            [(0, 0.0), (0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2.0_f32.powi(-24)), (0x7bff, 65_504.0)];
        for (bits, number) in known {
            assert_eq!(half(bits).to_bits(), f32::to_bits(number));
        }
    }
}
