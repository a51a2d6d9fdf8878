//! The result of a search.

use super::Value;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<M> {
    /// Principal variation, never empty.
    pub line: Vec<M>,
    /// Value for the side to move; see [`Value`].
    pub value: i32,
    /// Full plies completed.
    pub depth: u32,
    /// Nodes visited by all threads.
    pub nodes: u64,
}

impl<M> Finding<M> {
    /// The better of the results of two threads for one position: a proven win, the shorter one first; otherwise the deeper
    /// search; `self` if equal.
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
