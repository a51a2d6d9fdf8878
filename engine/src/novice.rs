//! Players that have just read the rules: what the first levels are made of, and what levels are measured beside.
//!
//! A novice looks at single moves, and at the best single reply at most. It knows the worth of a move only where the rules show it at
//! once: a win, and what is captured.

use crate::gomoku::Gomoku;
use crate::xiangqi::Kind;
use crate::{Action, AnyGame, Bot, Game as _, GameKind, Limits, Point, Report, Rng, Score, Tier, bot};

/// What a novice looks at before it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Nothing: any legal move.
    Nothing,
    /// What each of its own moves wins or captures at once.
    Gains,
    /// Also what the best reply to it would win or capture.
    Threats,
}

/// Chances of a thousand.
type Permille = u32;

/// A player that has just read the rules. The same seed and position give the same move.
pub struct Novice {
    sight: Sight,
    /// How often it moves as if it could see nothing, but for a win at hand if its sight is [`Sight::Threats`].
    overlooks: Permille,
    /// Whether it prefers moves that look natural: near other stones, with a piece of use.
    natural: bool,
    seed: u64,
    /// Decides what is no move on the board: choices of an opening, stones of a handicap, which stones are dead.
    engine: Box<dyn Bot>,
}

/// Worth of a win, above all that can be captured.
const WIN: i32 = 1_000_000;
/// So many moves are all compared when threats are looked at; of more only those below.
const FEW: usize = 64;
/// Moves without a gain that are compared where there are many.
const SAMPLE: usize = 6;

impl Novice {
    /// A stand-in for a person who has just read the rules, for measuring: any legal move, but for what it sees.
    pub fn proxy(kind: GameKind, sight: Sight, seed: u64) -> Self {
        Self { sight, overlooks: 0, natural: false, seed, engine: bot(kind, Tier::MIN, seed) }
    }

    /// An opponent for such a person: it moves more naturally, and overlooks what it could see in so many of a thousand moves.
    pub fn opponent(kind: GameKind, sight: Sight, overlooks: u32, seed: u64) -> Self {
        Self { sight, overlooks, natural: true, seed, engine: bot(kind, Tier::MIN, seed) }
    }

    /// Its move among those accepted. It passes where it sees nothing else to do, accepted or not.
    fn pick(&self, game: &AnyGame, among: &dyn Fn(Action) -> bool) -> Option<Action> {
        let mut rng = Rng::new(self.seed ^ game.key());
        let mut moves = sensible(game);
        moves.retain(|&action| among(action));
        // If none comes to mind, such as when each point near a stone is forbidden.
        let any = moves.first().copied();
        let order = self.in_order(game, moves, &mut rng);
        let Some(&first) = order.first() else {
            return any.or_else(|| game.legal_actions().contains(&Action::Pass).then_some(Action::Pass));
        };
        let looks = self.sight > Sight::Nothing && rng.below(1000) >= self.overlooks;
        if !looks && self.sight < Sight::Threats {
            return Some(first);
        }
        let gains: Vec<i32> = order.iter().map(|&action| gain(game, action).0).collect();
        let best = gains.iter().copied().max().unwrap_or(0);
        let with = |wanted: i32| order[gains.iter().position(|&gain| gain == wanted).unwrap_or(0)];
        if best == WIN {
            return Some(with(WIN));
        }
        if is_after_pass(game) && best <= 0 {
            return Some(Action::Pass);
        }
        if !looks {
            return Some(first);
        }
        if self.sight < Sight::Threats {
            return Some(with(best.max(0)));
        }
        Self::compare(game, &order, &gains)
    }

    /// The move that gains most when the best reply to it is counted against it; the first in the order of those alike.
    fn compare(game: &AnyGame, order: &[Action], gains: &[i32]) -> Option<Action> {
        let replies = |action: Action| {
            let (_, after) = gain(game, action);
            // Its own turn goes on: what it may capture has been counted.
            let after = after.filter(|after| after.turn() != game.turn())?;
            let replies = after.legal_actions().into_iter().filter(|reply| *reply != Action::Pass);
            let gained = replies.map(|reply| (gain(&after, reply).0, reply));
            gained.max_by_key(|&(gained, _)| gained).filter(|&(gained, _)| gained > 0)
        };
        let mut compared: Vec<usize> = if order.len() <= FEW {
            (0..order.len()).collect()
        } else {
            (0..order.len()).filter(|&at| at < SAMPLE || gains[at] > 0).collect()
        };
        // Where a reply would gain something, to be there first may prevent it.
        if order.len() > FEW
            && let Some((_, reply)) = replies(order[0])
            && let Some(at) = order.iter().position(|&action| action == reply)
            && !compared.contains(&at)
        {
            compared.push(at);
        }
        let worth = |at: usize| gains[at] - replies(order[at]).map_or(0, |(gained, _)| gained);
        let mut best: Option<(i32, usize)> = None;
        for at in compared {
            let worth = worth(at);
            if best.is_none_or(|(before, _)| worth > before) {
                best = Some((worth, at));
            }
        }
        best.map(|(_, at)| order[at])
    }

    /// The moves in the order in which they come to mind.
    fn in_order(&self, game: &AnyGame, moves: Vec<Action>, rng: &mut Rng) -> Vec<Action> {
        let mut order: Vec<(u64, Action)> = (moves.into_iter())
            .filter_map(|action| {
                let weight = if self.natural { weight(game, action) } else { 1 };
                // The largest of so many draws: a move of weight 2 comes before one of weight 1 in two cases of three.
                (0..weight).map(|_| rng.next_u64()).max().map(|draw| (draw, action))
            })
            .collect();
        order.sort_unstable_by_key(|&(draw, _)| std::cmp::Reverse(draw));
        order.into_iter().map(|(_, action)| action).collect()
    }
}

impl Bot for Novice {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        if game.outcome().is_some() || is_no_move(game) {
            return self.engine.choose(game, limits, report);
        }
        let found =
            Report { line: vec![self.pick(game, &|_| true)?], score: Score::Points(0), depth: 1, nodes: 1 };
        report(&found);
        Some(found)
    }

    fn choose_among(
        &mut self,
        game: &AnyGame,
        among: &dyn Fn(Action) -> bool,
        limits: &Limits<'_>,
    ) -> Option<Report> {
        if game.outcome().is_some() || is_no_move(game) {
            return self.engine.choose_among(game, among, limits);
        }
        let action = self.pick(game, among).filter(|&action| among(action))?;
        Some(Report { line: vec![action], score: Score::Points(0), depth: 1, nodes: 1 })
    }
}

/// Whether the decision is not about a move on the board.
pub(crate) fn is_no_move(game: &AnyGame) -> bool {
    match game {
        AnyGame::Gomoku(game) => game.is_opening() || !game.choices().is_empty(),
        AnyGame::Go(game) => game.is_agreeing() || game.is_placing_handicap(),
        AnyGame::LightsOut(_) => true,
        AnyGame::Liuzhou(_) | AnyGame::Xiangqi(_) => false,
    }
}

fn is_after_pass(game: &AnyGame) -> bool {
    matches!(game, AnyGame::Go(game) if game.is_after_pass())
}

/// Legal moves that whoever knows the rules would think of: no pass, no stone in an own eye, none that the rules forbid.
fn sensible(game: &AnyGame) -> Vec<Action> {
    let mut moves = game.legal_actions();
    match game {
        AnyGame::Go(go) => {
            moves.retain(|action| matches!(action, Action::Place(at) if !is_own_eye(go, *at)));
        }
        AnyGame::Gomoku(gomoku) => {
            let forbidden = gomoku.forbidden();
            let is_forbidden = |at: Point| forbidden.iter().any(|&(point, _)| point == at);
            moves.retain(|action| !matches!(action, Action::Place(at) if is_forbidden(*at)));
        }
        AnyGame::Liuzhou(_) | AnyGame::Xiangqi(_) | AnyGame::LightsOut(_) => {}
    }
    moves
}

/// Whether a point is surrounded by stones of the side to move that no single enemy stone cuts apart.
pub(crate) fn is_own_eye(go: &crate::go::Go, at: Point) -> bool {
    let size = i32::from(go.setup().size);
    let on_board = |dc: i32, dr: i32| {
        let (column, row) = (i32::from(at.column) + dc, i32::from(at.row) + dr);
        let inside = (0..size).contains(&column) && (0..size).contains(&row);
        inside.then(|| Point::new(column as u16, row as u16))
    };
    let own = Some(go.turn());
    let beside = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    if beside.into_iter().filter_map(|(dc, dr)| on_board(dc, dr)).any(|at| go.at(at) != own) {
        return false;
    }
    let corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)].map(|(dc, dr)| on_board(dc, dr));
    let enemies = corners.iter().flatten().filter(|&&at| go.at(at) == Some(go.turn().other())).count();
    enemies == 0 || (enemies == 1 && corners.iter().all(Option::is_some))
}

/// What a move wins or captures at once, and the position after it; nothing if it is not legal.
fn gain(game: &AnyGame, action: Action) -> (i32, Option<AnyGame>) {
    let mover = game.turn();
    let mut after = game.clone();
    if after.act(action).is_err() {
        return (-WIN, None);
    }
    if let Some(outcome) = after.outcome() {
        let worth = outcome.winner.map_or(0, |winner| if winner == mover { WIN } else { -WIN });
        return (worth, Some(after));
    }
    let worth = match (game, &after) {
        (AnyGame::Go(before), AnyGame::Go(after)) => {
            after.prisoners(mover) as i32 - before.prisoners(mover) as i32
        }
        (AnyGame::Liuzhou(before), AnyGame::Liuzhou(after)) => {
            i32::from(after.captures_due()) - i32::from(before.captures_due())
                + i32::from(matches!(action, Action::Capture(_)))
        }
        (AnyGame::Xiangqi(before), AnyGame::Xiangqi(_)) => match action {
            Action::Step { to, .. } => before.board().at(square(to)).map_or(0, |(_, kind)| value(kind)),
            _ => 0,
        },
        _ => 0,
    };
    (worth, Some(after))
}

/// Worth of a piece as books for beginners have it, in tenths of a soldier.
fn value(kind: Kind) -> i32 {
    match kind {
        Kind::General => WIN,
        Kind::Chariot => 90,
        Kind::Cannon => 45,
        Kind::Horse => 40,
        Kind::Adviser | Kind::Elephant => 20,
        Kind::Soldier => 10,
    }
}

/// How readily a move comes to mind; 0: never.
fn weight(game: &AnyGame, action: Action) -> u32 {
    match (game, action) {
        (AnyGame::Gomoku(game), Action::Place(at)) => near_stones(game, at),
        (AnyGame::Go(game), Action::Place(at)) => {
            // Beginners find the edge early, but not as often as chance does.
            let last = u16::from(game.setup().size) - 1;
            let is_edge = |at: u16| at == 0 || at == last;
            1 + u32::from(!is_edge(at.column) && !is_edge(at.row))
        }
        (AnyGame::Xiangqi(game), Action::Step { from, .. }) => {
            match game.board().at(square(from)).map(|(_, kind)| kind) {
                Some(Kind::Chariot | Kind::Horse | Kind::Cannon) => 5,
                Some(Kind::Soldier) => 3,
                Some(Kind::Adviser | Kind::Elephant) => 2,
                Some(Kind::General) | None => 1,
            }
        }
        _ => 1,
    }
}

/// Readiness by the distance to the nearest stone; on an empty board to its middle.
fn near_stones(game: &Gomoku, at: Point) -> u32 {
    let (column, row) = (i32::from(at.column), i32::from(at.row));
    let within = |reach: i32| {
        let mut around =
            (-reach..=reach).flat_map(|dc| (-reach..=reach).map(move |dr| (column + dc, row + dr)));
        if game.stone_count() == 0 {
            let middle = i32::from(game.setup().size / 2);
            return around.any(|(column, row)| (column, row) == (middle, middle));
        }
        around.any(|(column, row)| game.at(column, row).is_some())
    };
    if within(1) {
        6
    } else if within(2) {
        3
    } else {
        0
    }
}

fn square(at: Point) -> u8 {
    (at.row * 9 + at.column) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameKind;

    #[test]
    fn on_a_board_that_was_set_up_it_plays_near_the_stones_also_if_the_middle_is_full() {
        let line = "15/15/15/15/15/5bbwwb5/5wwbbw5/5bbwwb5/5wwbbw5/5bbwwb5/15/15/15/15/15 w";
        let setup = GameKind::Gomoku.default_setup_for(line);
        let game = AnyGame::from_position(&setup, line).expect("a position");
        for seed in 0..20 {
            let novice = Novice::opponent(GameKind::Gomoku, Sight::Nothing, 1000, seed);
            let Some(Action::Place(at)) = novice.pick(&game, &|_| true) else { panic!("no move") };
            assert!((3..=11).contains(&at.column) && (3..=11).contains(&at.row), "{at:?}");
        }
    }
}
