//! The inner loops of networks, compiled for each kind of processor, and the choice among them when the program runs.
//!
//! A kernel is ordinary Rust that the compiler vectorises. [`run`] is for integers, and for floats in a fixed order: every processor
//! gives the same bits. [`run_fused`] is for sums of many products of floats, whose bits depend on whether the processor fuses
//! multiplication and addition.

/// A kernel for [`run`]. What it calls must be inlined, or it is compiled for the baseline.
pub(crate) trait Kernel {
    type Output;

    /// Must be `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// A kernel for [`run_fused`]. What it calls must be inlined, or it is compiled for the baseline.
pub(crate) trait FusedKernel {
    type Output;

    /// Must be `#[inline(always)]`. `FUSED`: the processor has an instruction that multiplies and adds; without one, `mul_add`
    /// calls a function.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs a kernel: with AVX2 where the processor has it, whose vectors are twice as wide as the baseline's. The baseline of 64-bit
/// Arm includes NEON.
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    #[allow(
        unsafe_code,
        reason = "a third of the search's time in gomoku, nearly all of a judgement in xiangqi; EXPERIMENTS.md"
    )]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor supports AVX2, for which the function is compiled.
        return unsafe { by_avx2(kernel) };
    }
    kernel.run()
}

/// Runs a kernel with AVX-512, or AVX2 and FMA, where the processor has them.
pub(crate) fn run_fused<K: FusedKernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "4.8 and 4.1 times the speed of Go's network; EXPERIMENTS.md")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor supports the feature, for which the function is compiled.
        return unsafe { fused_by_avx512(kernel) };
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: as above.
        return unsafe { fused_by_avx2(kernel) };
    }
    // Every 64-bit Arm has a fused multiply-add instruction; baseline x86-64 would call a function for it.
    kernel.run::<{ cfg!(target_arch = "aarch64") }>()
}

/// Whether [`run_fused`] fuses on this processor.
#[cfg(test)]
pub(crate) fn is_fused() -> bool {
    struct Asked;

    impl FusedKernel for Asked {
        type Output = bool;

        #[allow(clippy::inline_always, reason = "as of every kernel")]
        #[inline(always)]
        fn run<const FUSED: bool>(self) -> bool {
            FUSED
        }
    }

    run_fused(Asked)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fused_by_avx512<K: FusedKernel>(kernel: K) -> K::Output {
    kernel.run::<true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused_by_avx2<K: FusedKernel>(kernel: K) -> K::Output {
    kernel.run::<true>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fused_arithmetic_is_chosen_where_the_processor_has_it() {
        #[cfg(target_arch = "x86_64")]
        let has = is_x86_feature_detected!("avx512f")
            || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let has = cfg!(target_arch = "aarch64");
        assert_eq!(is_fused(), has);
    }
}
