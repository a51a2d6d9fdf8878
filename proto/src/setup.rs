//! What a setup says, wherever its match begins.

use crate::board::{Setup, setup, started};

impl Setup {
    /// The game with its rules, without the position from which the match begins.
    pub fn rules(&self) -> Option<setup::Game> {
        match self.game.as_ref()? {
            setup::Game::Started(started) => Some(match started.rules.as_ref()? {
                started::Rules::Gomoku(gomoku) => setup::Game::Gomoku(*gomoku),
                started::Rules::Liuzhou(liuzhou) => setup::Game::Liuzhou(*liuzhou),
                started::Rules::Go(go) => setup::Game::Go(*go),
                started::Rules::Xiangqi(xiangqi) => setup::Game::Xiangqi(*xiangqi),
                started::Rules::XiangqiChinese(xiangqi) => setup::Game::XiangqiChinese(*xiangqi),
            }),
            game => Some(game.clone()),
        }
    }

    /// Whether the match begins from a position that was set up.
    pub fn is_started(&self) -> bool {
        matches!(self.game, Some(setup::Game::Started(_)))
    }
}
