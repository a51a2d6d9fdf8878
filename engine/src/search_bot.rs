//! Bots whose decisions are alpha-beta searches within the limits of a level.
//!
//! A game's bot holds a [`SearchBot`]. If it only searches it implements [`SearchedGame`], and with that it is a [`Bot`].

use std::path::Path;

use crate::bot::lines_apart;
use crate::parameters::{Parameter, ParameterError};
use crate::search::{AlphaBeta, AlphaBetaGame, Finding, Strength, Value};
use crate::{Action, AnyGame, Bot, Game, Limits, Report};

/// A search with the limits of a level. It allocates its tables at the first decision.
pub(crate) struct SearchBot<P: AlphaBetaGame> {
    pub(crate) strength: Strength,
    table_bytes: usize,
    pub(crate) search: AlphaBeta<P>,
}

impl<P: AlphaBetaGame> SearchBot<P> {
    /// A search of this strength; the seed determines its noise. Its table has at most this many bytes.
    pub(crate) fn new(strength: Strength, table_bytes: usize, seed: u64) -> Self {
        Self { strength, table_bytes, search: AlphaBeta::new(table_bytes, strength.options(seed)) }
    }

    /// Whether only the caller limits the search.
    pub(crate) const fn is_unlimited(&self) -> bool {
        self.strength.nodes == u64::MAX
    }

    /// Sets the number of threads, if only the caller limits the search: more threads would make a node-limited level stronger.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        if self.is_unlimited() {
            self.search.set_threads(threads);
        }
    }

    /// Clears all tables.
    pub(crate) fn forget(&mut self) {
        self.search.forget(self.table_bytes);
    }

    /// Clears all tables if there is no time limit, so that the result depends only on the arguments. The table then has no
    /// more bytes than the limits can fill.
    pub(crate) fn start_afresh(&mut self, limits: &Limits<'_>) {
        if limits.time.is_none() {
            self.search.forget(Strength::room(self.table_bytes, limits));
        }
    }
}

/// What a search has found in a game.
pub(crate) type Found<G> = Finding<<G as Game>::Move>;

/// What a game adds to [`SearchBot`].
pub(crate) trait SearchedGame: Send {
    /// The rules.
    type Game: Game;
    /// The position that is searched.
    type Position: AlphaBetaGame<Move = <Self::Game as Game>::Move>;

    /// The game, if it is this bot's.
    fn game(game: &AnyGame) -> Option<&Self::Game>;

    /// The search.
    fn search_bot(&mut self) -> &mut SearchBot<Self::Position>;

    /// Called before a decision, once for all its variations.
    fn begin(&mut self, _limits: &Limits<'_>) {}

    /// Searches among the moves that `among` accepts. `None` when the game is over, or no move is accepted.
    fn think_among(
        &mut self,
        game: &Self::Game,
        among: &dyn Fn(<Self::Game as Game>::Move) -> bool,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Found<Self::Game>),
    ) -> Option<Found<Self::Game>>;

    /// See [`Bot::set_folder`].
    fn keep_folder(&mut self, _folder: &Path) {}
}

/// A finding as a [`Report`].
pub(crate) fn in_words<M: Copy>(finding: &Finding<M>, action: impl Fn(M) -> Action) -> Report {
    Report {
        line: finding.line.iter().map(|&mv| action(mv)).collect(),
        score: Value::score(finding.value),
        depth: finding.depth,
        nodes: finding.nodes,
    }
}

impl<B: SearchedGame> Bot for B {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let game = B::game(game)?;
        self.begin(limits);
        let mut told = |finding: &Found<B::Game>| report(&in_words(finding, <B::Game as Game>::action));
        self.think_among(game, &|_| true, limits, &mut told)
            .map(|finding| in_words(&finding, <B::Game as Game>::action))
    }

    fn choose_among(
        &mut self,
        game: &AnyGame,
        among: &dyn Fn(Action) -> bool,
        limits: &Limits<'_>,
    ) -> Option<Report> {
        let game = B::game(game)?;
        self.begin(limits);
        self.think_among(game, &|mv| among(<B::Game as Game>::action(mv)), limits, &mut |_| {})
            .map(|finding| in_words(&finding, <B::Game as Game>::action))
    }

    fn choose_lines(
        &mut self,
        game: &AnyGame,
        count: usize,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Vec<Report> {
        let Some(game) = B::game(game) else { return Vec::new() };
        self.begin(limits);
        lines_apart(count, limits, &mut |taken, limits| {
            let among = |mv: <B::Game as Game>::Move| !taken.contains(&<B::Game as Game>::action(mv));
            let mut told = |finding: &Found<B::Game>| {
                if taken.is_empty() {
                    report(&in_words(finding, <B::Game as Game>::action));
                }
            };
            self.think_among(game, &among, limits, &mut told)
                .map(|finding| in_words(&finding, <B::Game as Game>::action))
        })
    }

    fn set_folder(&mut self, folder: &Path) {
        self.keep_folder(folder);
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        self.search_bot().search.parameters()
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.search_bot().search.set_parameter(name, value)
    }

    fn set_threads(&mut self, threads: usize) {
        self.search_bot().set_threads(threads);
    }
}
