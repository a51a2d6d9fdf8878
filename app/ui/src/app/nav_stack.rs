//! The navigation stack, from home to the present page.

use proto::control::GameChoice;

use crate::screens::Page;

/// The pages from home on, the present one last. Home is always first, and no page occurs twice.
///
/// | input | resulting stack |
/// |---|---|
/// | open a page | the page is appended; if it is on the stack, the stack is cut behind it |
/// | back | one page less; home stays |
/// | open a match | home, board: the pages that led to the match are removed |
/// | open a puzzle | up to the puzzles, then the board |
/// | open a puzzle from the review of a match | the review, then the board |
/// | leave a board | up to the page before the board; pages opened over the board are removed |
/// | leave the board of a club evening's game | the same, then the evening |
#[derive(Debug, PartialEq)]
pub(crate) struct NavStack {
    pages: Vec<Page>,
    /// The choice with a position that was set up, from which new matches of its game begin; until home is shown.
    pub(super) start: Option<GameChoice>,
}

impl Default for NavStack {
    fn default() -> Self {
        Self { pages: vec![Page::Home], start: None }
    }
}

impl NavStack {
    /// The present page.
    pub(crate) fn page(&self) -> Page {
        *self.pages.last().expect("home is always there")
    }

    /// Opens a page.
    pub(crate) fn go(&mut self, page: Page) {
        if let Some(at) = self.pages.iter().position(|known| *known == page) {
            self.pages.truncate(at);
        }
        self.pages.push(page);
    }

    /// Goes back by one page.
    pub(crate) fn back(&mut self) {
        if self.pages.len() > 1 {
            self.pages.pop();
        }
    }

    /// Opens the board of a match, or of a puzzle.
    pub(crate) fn sit_down(&mut self, puzzle: bool) {
        self.pages.retain(|page| *page != Page::Board);
        if !puzzle {
            self.pages.truncate(1);
        } else if self.page() != Page::Replay {
            self.go(Page::Puzzles);
        }
        self.pages.push(Page::Board);
    }

    /// Whether this page is on the way from home to the present one.
    pub(crate) fn has(&self, page: Page) -> bool {
        self.pages.contains(&page)
    }

    /// Whether the board is left for the review of a match.
    pub(crate) fn is_from_review(&self) -> bool {
        self.pages.ends_with(&[Page::Replay, Page::Board])
    }

    /// Cuts the stack before this page, because its subject is gone. Home is never removed.
    pub(crate) fn leave(&mut self, page: Page) {
        if let Some(at) = self.pages.iter().position(|known| *known == page) {
            self.pages.truncate(at.max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `go`, then goes back until home; returns the pages seen on the way.
    fn back_from(go: impl FnOnce(&mut NavStack)) -> Vec<Page> {
        let mut nav = NavStack::default();
        go(&mut nav);
        let mut seen = Vec::new();
        while nav.page() != Page::Home {
            nav.back();
            seen.push(nav.page());
        }
        seen
    }

    #[test]
    fn back_goes_the_way_that_was_come() {
        assert_eq!(back_from(|nav| nav.go(Page::Settings)), [Page::Home]);
        let seen = back_from(|nav| {
            for page in [Page::NewGame, Page::Puzzles, Page::Settings] {
                nav.go(page);
            }
        });
        assert_eq!(seen, [Page::Puzzles, Page::NewGame, Page::Home]);
    }

    #[test]
    fn a_page_that_was_on_the_way_is_gone_back_to() {
        let seen = back_from(|nav| {
            for page in [Page::Settings, Page::Friends, Page::Settings] {
                nav.go(page);
            }
        });
        assert_eq!(seen, [Page::Home]);
    }

    #[test]
    fn the_way_back_from_a_mistake_that_is_tried_again_is_the_review_of_its_match() {
        for over_a_board in [false, true] {
            let seen = back_from(|nav| {
                if over_a_board {
                    nav.sit_down(false);
                } else {
                    nav.go(Page::Records);
                }
                nav.go(Page::Replay);
                nav.sit_down(true);
                assert!(nav.is_from_review());
                // The next one.
                nav.sit_down(true);
            });
            let before: &[Page] = if over_a_board { &[] } else { &[Page::Records] };
            assert_eq!(seen, [&[Page::Replay], before, &[Page::Home]].concat());
        }
    }

    #[test]
    fn the_way_back_from_a_match_is_home_and_from_a_puzzle_the_puzzles() {
        let seen = back_from(|nav| {
            nav.go(Page::NewGame);
            nav.sit_down(false);
        });
        assert_eq!(seen, [Page::Home]);
        let seen = back_from(|nav| {
            nav.go(Page::NewGame);
            nav.go(Page::Puzzles);
            nav.sit_down(true);
        });
        assert_eq!(seen, [Page::Puzzles, Page::NewGame, Page::Home]);
        let by_notification = back_from(|nav| nav.sit_down(true));
        assert_eq!(by_notification, [Page::Puzzles, Page::Home]);
    }

    #[test]
    fn a_board_that_was_left_is_on_the_way_no_more() {
        let mut nav = NavStack::default();
        nav.go(Page::Puzzles);
        nav.sit_down(true);
        nav.go(Page::Settings);
        nav.leave(Page::Board);
        assert_eq!(nav.page(), Page::Puzzles);
        nav.leave(Page::Board);
        assert_eq!(nav.page(), Page::Puzzles);
        nav.leave(Page::Home);
        assert_eq!(nav, NavStack::default());
    }

    #[test]
    fn whatever_is_touched_home_is_first_and_no_page_comes_twice() {
        const PAGES: [Page; 15] = [
            Page::Home,
            Page::NewGame,
            Page::Nearby,
            Page::Board,
            Page::Settings,
            Page::Records,
            Page::Replay,
            Page::Editor,
            Page::Friends,
            Page::Lesson,
            Page::Puzzles,
            Page::Manual,
            Page::Chapter,
            Page::Club,
            Page::Position,
        ];
        let mut rng = engine::Rng::new(24);
        let mut nav = NavStack::default();
        for _ in 0..10_000 {
            let page = PAGES[rng.below(15) as usize];
            match rng.below(5) {
                0 => nav.back(),
                1 => nav.sit_down(rng.below(2) == 0),
                2 => nav.leave(page),
                _ => nav.go(page),
            }
            assert_eq!(nav.pages[0], Page::Home);
            let twice = (1..nav.pages.len()).any(|at| nav.pages[..at].contains(&nav.pages[at]));
            assert!(!twice, "{nav:?}");
        }
    }
}
