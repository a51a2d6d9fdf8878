//! Steps of numbers: those of options, clocks and boards.

use proto::control::GameOption;

/// The next value up or down: among the offered values, and beyond them among numbers.
pub(super) fn stepped(option: &GameOption, step: i32) -> Option<String> {
    let at = option.values.iter().position(|value| value.value == option.chosen)?;
    let next = if step > 0 { at.checked_add(1) } else { at.checked_sub(1) };
    if let Some(next) = next.and_then(|next| option.values.get(next)) {
        return Some(next.value.clone());
    }
    let chosen: u32 = option.numbers.then(|| option.chosen.parse().ok())??;
    let number =
        if step > 0 { up_from(chosen).min(option.most) } else { down_from(chosen).max(option.least) };
    (number != chosen).then(|| number.to_string())
}

/// The next number upwards; steps grow with the number, so that the maximum is not a hundred touches away: to the next
/// multiple of [`roundness`].
pub(in crate::adapters) fn up_from(number: u32) -> u32 {
    let round = roundness(number);
    (number / round + 1) * round
}

pub(in crate::adapters) fn down_from(number: u32) -> u32 {
    let round = roundness(number.saturating_sub(1));
    number.saturating_sub(1) / round * round
}

/// The step at this number: 1 below 10, 5 below 50, 10 below 100, 50 below 500, 100 from there.
const fn roundness(number: u32) -> u32 {
    match number {
        0..10 => 1,
        10..50 => 5,
        50..100 => 10,
        100..500 => 50,
        _ => 100,
    }
}

#[cfg(test)]
mod tests {
    use proto::control;

    use super::*;

    fn number(values: &[u32], chosen: u32, most: u32) -> GameOption {
        GameOption {
            values: (values.iter())
                .map(|value| control::OptionValue { value: value.to_string(), name: None })
                .collect(),
            chosen: chosen.to_string(),
            numbers: true,
            least: 1,
            most,
            ..GameOption::default()
        }
    }

    #[test]
    fn a_stepper_goes_through_what_is_offered_and_then_on_in_growing_steps() {
        let steps = |values: &[u32], chosen, step| stepped(&number(values, chosen, 1_000), step);
        assert_eq!(steps(&[3, 5, 8], 5, 1).as_deref(), Some("8"));
        assert_eq!(steps(&[3, 5, 8], 3, -1).as_deref(), Some("2"));
        assert_eq!(steps(&[3, 15], 15, 1).as_deref(), Some("20"));
        assert_eq!(steps(&[3, 15, 20], 20, 1).as_deref(), Some("25"));
        assert_eq!(steps(&[3, 15, 950], 950, 1).as_deref(), Some("1000"));
        assert_eq!(steps(&[3, 1_000], 1_000, 1), None);
        assert_eq!(steps(&[1, 3], 1, -1), None);
        let listed = GameOption { numbers: false, ..number(&[2, 3], 3, 9) };
        assert_eq!(stepped(&listed, 1), None);
    }

    #[test]
    fn from_the_offered_end_a_thousand_is_within_a_minute_of_touches() {
        let mut touches = 0;
        let mut at = 15;
        while at < 1_000 {
            at = up_from(at);
            touches += 1;
        }
        assert!(touches <= 30, "{touches}");
        while at > 10 {
            let below = down_from(at);
            assert!(below < at);
            at = below;
        }
    }
}
