//! What a search says at its end and on the way.

use super::Value;

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<M> {
    /// Expected play, never empty.
    pub line: Vec<M>,
    /// Seen from the side to move; see [`Value`].
    pub value: i32,
    /// Plies of full search completed.
    pub depth: u32,
    /// Positions visited, by all threads.
    pub nodes: u64,
}

impl<M> Finding<M> {
    /// Of what two threads found in one position what is worth more: a proven win, the shorter the better, or else the deeper
    /// search; this one where both are worth as much.
    pub(super) fn or_better(self, other: Self) -> Self {
        let worth = |finding: &Self| {
            let is_won = Value::is_proven(finding.value) && finding.value > 0;
            (is_won.then_some(finding.value), finding.depth)
        };
        if worth(&other) > worth(&self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_threads_the_deeper_one_answers_unless_the_other_has_proven_a_win() {
        let found =
            |line: &str, value, depth| Finding { line: vec![line.to_owned()], value, depth, nodes: 0 };
        let answer = |a, b| Finding::or_better(a, b).line.concat();
        assert_eq!(answer(found("here", 90, 8), found("there", -30, 9)), "there");
        assert_eq!(answer(found("here", -30, 9), found("there", 90, 9)), "here");
        let win = Value::WIN - 5;
        assert_eq!(answer(found("here", win, 6), found("there", 0, 12)), "here");
        assert_eq!(answer(found("here", 0, 12), found("there", win, 6)), "there");
        assert_eq!(answer(found("here", win, 6), found("there", win - 4, 12)), "here");
        assert_eq!(answer(found("here", -win, 6), found("there", 0, 12)), "there");
    }
}
