//! The closed set of games, for callers that know the game only at run time.

use crate::go::{Go, GoSetup};
use crate::lights_out::{LightsOut, LightsOutSetup, Start};
use crate::liuzhou::{Liuzhou, LiuzhouSetup};
use crate::options::{ChoiceError, GameOption, NamedSetup, Options};
use crate::xiangqi::{Notation, Odds, Xiangqi, XiangqiSetup};
use crate::{
    Action, BoardView, Choice, Game, Gomoku, GomokuSetup, IllegalAction, Language, Names, Outcome, Point,
    SetupError, Side,
};

/// Defines [`GameKind`], [`Setup`], [`AnyGame`] and [`AnyMove`] from the list of games. A new game needs its module, a line
/// here and an arm in [`crate::bot()`].
macro_rules! games {
    ($($(#[$doc:meta])* $name:ident($setup:ident) = $number:literal, $word:literal;)+) => {
        /// A game. The numbers are those of the wire and the saves, and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum GameKind {
            $($(#[$doc])* $name = $number,)+
        }

        impl GameKind {
            /// All games, in the order in which a menu shows them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The game's name on command lines and in files: `gomoku`.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The game with this number, if there is one.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$name),)+ _ => None }
            }

            /// The names of the game and of its sides.
            pub fn names(self, language: Language) -> Names {
                match self { $(Self::$name => <$name as Game>::names(language),)+ }
            }

            /// The outcome of a game of this kind, as one sentence: `Black wins: five in a row.`
            pub fn outcome_words(self, outcome: &Outcome, language: Language) -> String {
                match self { $(Self::$name => outcome.words::<$name>(language),)+ }
            }

            /// The name of a point: `h8`; in Go `H8`, without `I`; in xiangqi with rows from 0.
            pub fn point_name(self, point: Point) -> String {
                match self { $(Self::$name => <$name as Game>::point_name(point),)+ }
            }

            /// The game with this name, if there is one.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.word() == word)
            }

            /// The presets of this game, the default first; empty if only the default has a name.
            pub fn presets(self) -> Vec<NamedSetup<Setup>> {
                match self {
                    $(Self::$name => <$setup as Options>::presets()
                        .into_iter()
                        .map(|NamedSetup { word, name, setup, decides }| NamedSetup {
                            word,
                            name,
                            setup: Setup::$name(setup),
                            decides,
                        })
                        .collect(),)+
                }
            }

            /// The setup of a new match by default.
            pub fn default_setup(self) -> Setup {
                match self { $(Self::$name => Setup::$name($setup::default()),)+ }
            }
        }

        /// The rules and sizes that both players agree on before the first move.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Setup {
            $($(#[$doc])* $name($setup),)+
        }

        impl Setup {
            /// Its game.
            pub const fn kind(&self) -> GameKind {
                match self { $(Self::$name(_) => GameKind::$name,)+ }
            }

            /// The options, with the chosen values.
            pub fn options(&self) -> Vec<GameOption> {
                match self { $(Self::$name(setup) => setup.options(),)+ }
            }

            /// Sets an option to a value, both given by their words.
            pub fn choose(&mut self, option: &str, value: &str) -> Result<(), ChoiceError> {
                match self { $(Self::$name(setup) => setup.choose(option, value),)+ }
            }

            /// The rules without what the setup says about its start: numbered sentences, one per line.
            fn plain_rule_sheet(&self, language: Language) -> String {
                match self { $(Self::$name(setup) => <$name as Game>::rule_sheet(setup, language),)+ }
            }
        }

        /// A position of any game.
        #[derive(Clone)]
        pub enum AnyGame {
            $($(#[$doc])* $name($name),)+
        }

        /// A legal move of any game; valid only for the position that it was made from.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnyMove {
            $($(#[$doc])* $name(<$name as Game>::Move),)+
        }

        impl AnyGame {
            /// The initial position of this setup.
            pub fn new(setup: &Setup) -> Result<Self, SetupError> {
                match setup { $(Setup::$name(setup) => <$name as Game>::new(setup).map(Self::$name),)+ }
            }

            /// The setup of the game.
            pub fn setup(&self) -> Setup {
                match self { $(Self::$name(game) => Setup::$name(Game::setup(game).clone()),)+ }
            }

            /// See [`Game::legal_moves`]; as actions.
            pub fn legal_actions(&self) -> Vec<Action> {
                match self { $(Self::$name(game) => {
                    let mut moves = Vec::new();
                    Game::legal_moves(game, &mut moves);
                    moves.into_iter().map(<$name as Game>::action).collect()
                })+ }
            }

            /// See [`Game::legal_move`].
            pub fn legal_move(&self, action: Action) -> Result<AnyMove, IllegalAction> {
                match self { $(Self::$name(game) => Game::legal_move(game, action).map(AnyMove::$name),)+ }
            }

            /// Plays a move that was made from this position; see [`Game::play`].
            ///
            /// # Panics
            /// If the move is of another game, which is a bug of the caller.
            pub fn play(&mut self, mv: AnyMove) {
                match (self, mv) {
                    $((Self::$name(game), AnyMove::$name(mv)) => Game::play(game, mv),)+
                    _ => panic!("a move belongs to the game that made it"),
                }
            }
        }

        /// Evaluates an expression for whichever game it is.
        macro_rules! each_game {
            ($any:expr, $game:ident => $body:expr) => {
                match $any { $(AnyGame::$name($game) => $body,)+ }
            };
        }
    };
}

games! {
    /// Gomoku 五子棋: five in a row.
    Gomoku(GomokuSetup) = 1, "gomoku";
    /// Liuzhou chess 六洲棋: formations that capture.
    Liuzhou(LiuzhouSetup) = 2, "liuzhou";
    /// Go 围棋.
    Go(GoSetup) = 3, "go";
    /// Xiangqi 象棋.
    Xiangqi(XiangqiSetup) = 4, "xiangqi";
    /// Lights Out 关灯: a puzzle for one player, or a race of two.
    LightsOut(LightsOutSetup) = 5, "lights-out";
}

impl GameKind {
    /// The setup of the preset with this word.
    pub fn preset(self, word: &str) -> Result<Setup, ChoiceError> {
        let presets = self.presets();
        let known: Vec<&str> = presets.iter().map(|preset| preset.word).collect();
        let found = presets.iter().find(|preset| preset.word == word).map(|preset| preset.setup.clone());
        found.ok_or_else(|| ChoiceError::Preset(word.into(), known.join(", ")))
    }
}

impl Setup {
    /// The setup of a rematch: the same, except for the seed of a random Lights Out board.
    #[must_use]
    pub fn next(&self) -> Self {
        let mut next = self.clone();
        if let Self::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, .. }) = &mut next {
            *seed = seed.wrapping_add(1);
        }
        next
    }

    /// Whether both are equal, except for the seed of a random Lights Out board.
    pub fn is_alike(&self, other: &Self) -> bool {
        let unseeded = |setup: &Self| {
            let mut setup = setup.clone();
            if let Self::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, .. }) = &mut setup {
                *seed = 0;
            }
            setup
        };
        unseeded(self) == unseeded(other)
    }

    /// The rules of this setup: numbered sentences, one per line. See [`Game::rule_sheet`].
    pub fn rule_sheet(&self, language: Language) -> String {
        let Some(start) = self.start() else { return self.plain_rule_sheet(language) };
        let (side, mut rules) = (start.turn(), self.clone());
        if let Self::Xiangqi(xiangqi) = &mut rules {
            xiangqi.black_first = side == Side::Second;
        }
        let sheet = rules.plain_rule_sheet(language);
        let number = sheet.lines().count() + 1;
        let side = self.kind().names(language).side(side);
        let chinese = language == Language::Chinese;
        let odds = match self {
            Self::Xiangqi(xiangqi) => Odds::of(xiangqi),
            _ => None,
        };
        let last = match odds {
            Some(odds) => odds.rule(language).to_owned(),
            None if chinese => format!("从摆好的局面开始，{side}先走。"),
            None => format!("The game begins from a position that was set up, with {side} to move."),
        };
        format!("{}\n{number}. {last}\n", sheet.trim_end())
    }

    /// The side that gives odds at the beginning: stones of a handicap in Go, pieces or moves in xiangqi.
    pub fn gives_odds(&self) -> Option<Side> {
        match self {
            Self::Go(go) => (go.handicap.stones() > 0 && go.start.is_none()).then_some(Side::Second),
            Self::Xiangqi(xiangqi) => Odds::of(xiangqi).map(Odds::giver),
            Self::Gomoku(_) | Self::Liuzhou(_) | Self::LightsOut(_) => None,
        }
    }

    /// Why the choices do not go together, as a sentence for players, where the game has words for it. [`AnyGame::new`] refuses
    /// such a setup.
    pub fn misfit(&self, language: Language) -> Option<&'static str> {
        match self {
            Self::Gomoku(gomoku) => gomoku.misfit().map(|misfit| misfit.words(language)),
            Self::Liuzhou(_) | Self::Go(_) | Self::Xiangqi(_) | Self::LightsOut(_) => None,
        }
    }

    /// Whether it is a race, which needs a board for each side. See [`crate::lights_out`].
    pub fn is_race(&self) -> bool {
        matches!(self, Self::LightsOut(LightsOutSetup { race: true, .. }))
    }

    /// The word of the matching preset: one whose deciding options have the same values.
    pub fn preset(&self) -> Option<&'static str> {
        let rules = self.clone().without_start();
        let decided = |setup: &Self, decides: &[&str]| -> Vec<String> {
            let options = setup.options().into_iter();
            options.filter(|option| decides.contains(&option.word)).map(|option| option.chosen).collect()
        };
        let is_played = |preset: &NamedSetup<Self>| match preset.decides {
            [] => preset.setup == rules,
            decides => decided(&preset.setup, decides) == decided(self, decides),
        };
        self.kind().presets().into_iter().find(is_played).map(|preset| preset.word)
    }
}

impl AnyGame {
    /// Its game.
    pub fn kind(&self) -> GameKind {
        self.setup().kind()
    }
    /// See [`Game::turn`].
    pub fn turn(&self) -> Side {
        each_game!(self, game => game.turn())
    }
    /// See [`Game::color`].
    pub fn color(&self, player: Side) -> Side {
        each_game!(self, game => game.color(player))
    }
    /// See [`Game::ply`].
    pub fn ply(&self) -> u32 {
        each_game!(self, game => game.ply())
    }
    /// See [`Game::outcome`].
    pub fn outcome(&self) -> Option<Outcome> {
        each_game!(self, game => game.outcome())
    }
    /// See [`Game::key`].
    pub fn key(&self) -> u64 {
        each_game!(self, game => game.key())
    }
    /// See [`Game::fresh_key`].
    pub fn fresh_key(&self) -> u64 {
        each_game!(self, game => game.fresh_key())
    }
    /// See [`Game::view`].
    pub fn view(&self) -> BoardView {
        each_game!(self, game => game.view())
    }
    /// See [`Game::notation`].
    pub fn notation(&self, action: Action) -> String {
        each_game!(self, game => game.notation(action))
    }
    /// A sentence for both players about what just happened or is due: an opening's stones and choices, the formations of Liuzhou
    /// chess and what they capture, the state of a count in Go. `None` if the board says everything.
    pub fn told(&self, language: Language) -> Option<String> {
        match self {
            Self::Gomoku(game) => game.told(language),
            Self::Liuzhou(game) => game.told(language),
            Self::Go(game) => game.told(language),
            Self::Xiangqi(_) | Self::LightsOut(_) => None,
        }
    }
    /// The action in players' notation, Chinese and English, if different from [`Self::notation`]: 炮二平五 and `C2=5` in
    /// xiangqi, capital letters for points in gomoku and Liuzhou chess. `None` for other games, and for actions that the
    /// piece cannot make.
    pub fn spoken(&self, action: Action) -> Option<[String; 2]> {
        let name = |point| self.kind().point_name(point);
        match self {
            Self::Xiangqi(game) => {
                let mv = game.legal_move(action).ok()?;
                Some([Notation::Chinese, Notation::Wxf].map(|notation| game.write(mv, notation)))
            }
            Self::Gomoku(_) | Self::Liuzhou(_) => {
                let said = match action {
                    Action::Place(at) if matches!(self, Self::Gomoku(game) if game.is_offering()) => {
                        // In brackets as in renju's records: it may not be played.
                        format!("({})", name(at))
                    }
                    Action::Place(at) => name(at),
                    Action::Step { from, to } => format!("{}–{}", name(from), name(to)),
                    Action::Capture(at) => format!("×{}", name(at)),
                    Action::Choose(choice) => {
                        let [zh, en] = match choice {
                            Choice::Black => ["执黑", "Black"],
                            Choice::White => ["执白", "White"],
                            Choice::TwoMore => ["加两子", "two more"],
                            Choice::Fifths(_) => {
                                return Some(
                                    [Language::Chinese, Language::English]
                                        .map(|language| choice.words(language)),
                                );
                            }
                        };
                        return Some([zh.into(), en.into()]);
                    }
                    Action::Pass => return Some(["停一手".into(), "pass".into()]),
                    _ => return None,
                };
                Some([said.clone(), said])
            }
            Self::Go(_) | Self::LightsOut(_) => None,
        }
    }
    /// See [`Game::parse`].
    pub fn parse(&self, text: &str) -> Option<Action> {
        each_game!(self, game => game.parse(text))
    }
    /// `legal_move` followed by `play`.
    pub fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        let mv = self.legal_move(action)?;
        self.play(mv);
        Ok(())
    }
}
