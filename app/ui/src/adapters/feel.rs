//! Sounds, vibration and screen reader announcements for moves, derived from the host's events alone.

use std::rc::Rc;

use proto::board::{self as wire, action};
use proto::control::{self, Board, Help, MarkKind, PuzzleProgress, Room};
use senses::{Cue, Feel, LOUDEST};
use slint::ComponentHandle;

use super::{game, new_game, side, touched};
use crate::app::Controller;
use crate::screens::{FeelAdapter, MainWindow};

pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
    let page = window.global::<FeelAdapter>();
    let level = |level: i32| level.clamp(0, i32::from(LOUDEST)) as u8;
    page.on_set_sound(touched!(app, |_pages, cx, chosen| {
        cx.preferences.change(move |known| known.sound_level = level(chosen));
        // Plays a sound at the chosen level.
        cx.feel.hear(Cue::Stone);
    }));
    page.on_toggle_sound(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| {
            if known.sound_level == 0 {
                known.sound_level = known.last_sound_level.clamp(1, LOUDEST);
            } else {
                known.last_sound_level = std::mem::take(&mut known.sound_level);
            }
        });
        cx.feel.hear(Cue::Stone);
    }));
    page.on_set_music(touched!(app, |_pages, cx, chosen| {
        cx.preferences.change(move |known| known.music_level = level(chosen));
    }));
    page.on_toggle_vibration(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| known.vibration = !known.vibration);
        cx.feel.shake(Feel::Strong);
    }));
    page.on_toggle_keep_screen_on(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| known.keep_screen_on = !known.keep_screen_on);
    }));
    page.on_low_time(touched!(app, |_pages, cx| cx.feel.hear(Cue::Tick)));
}

pub(super) fn show(window: &MainWindow, app: &Controller) {
    let page = window.global::<FeelAdapter>();
    let known = app.read();
    page.set_sound(known.preferences.sound_level.into());
    page.set_music(known.preferences.music_level.into());
    page.set_vibration(known.preferences.vibration);
    page.set_keep_screen_on(known.preferences.keep_screen_on);
    page.set_has_motor(app.has_motor());
}

/// Handles a change of the match on the board page.
pub(crate) fn changed(app: &Controller, before: &Room, after: &Room) {
    let ended = before.result.is_none() && after.result.is_some();
    let moves = !app.read().preferences.is_still();
    match cue(before, after) {
        Some((last, _)) if ended && moves => app.board.moment.begin(before, after, last),
        Some((cue, feel)) => {
            app.hear(cue);
            app.feel(feel);
        }
        None => {}
    }
    announce(app, before, after);
}

/// The sound and vibration for a change; `None` if there was no move and no end.
fn cue(before: &Room, after: &Room) -> Option<(Cue, Feel)> {
    let progress = |room: &Room| room.puzzle.as_ref().map(control::PuzzleState::progress);
    if progress(before) != progress(after) {
        match progress(after) {
            Some(PuzzleProgress::PuzzleSolved) => {
                let own = after.puzzle.as_ref().is_some_and(|puzzle| !puzzle.helped);
                return Some((if own { Cue::Win } else { Cue::End }, Feel::Strong));
            }
            Some(PuzzleProgress::PuzzleWrong) => return Some((Cue::Loss, Feel::Strong)),
            _ => {}
        }
    }
    if before.result.is_none()
        && let Some(result) = &after.result
    {
        let alone = after.mine.len() != 1;
        // What was shown is not one's own.
        let shown = after.achieved.as_ref().is_some_and(|achieved| achieved.help() == Help::Solved);
        let cue = if game::is_solo(super::wire_game(after.setup.as_ref())) && after.race.is_none() {
            if shown { Cue::End } else { Cue::Win }
        } else if alone || result.winner() == wire::Side::Unspecified {
            Cue::End
        } else if after.mine.contains(&result.winner) {
            Cue::Win
        } else {
            Cue::Loss
        };
        return Some((cue, Feel::Strong));
    }
    let (was, is) = moved(before, after)?;
    let mine = before.mine.contains(&was.turn) || is.game() == wire::Game::LightsOut;
    let (mine_feel, theirs) = (Feel::Light, Feel::Strong);
    Some(if in_check(is) {
        (Cue::Check, Feel::Strong)
    } else if taken(was, is) > 0 {
        (Cue::Capture, if mine { mine_feel } else { theirs })
    } else if !mine && after.can_act {
        (Cue::YourTurn, theirs)
    } else {
        (Cue::Stone, mine_feel)
    })
}

/// The boards before and after, if a move was made between them.
fn moved<'a>(before: &'a Room, after: &'a Room) -> Option<(&'a Board, &'a Board)> {
    let boards = before.board.as_ref().zip(after.board.as_ref())?;
    (before.revision == after.revision && boards.1.ply > boards.0.ply).then_some(boards)
}

fn in_check(board: &Board) -> bool {
    board.marks.iter().any(|mark| mark.kind() == MarkKind::MarkCheck)
}

/// Number of pieces that the move captured, or marked as captured.
fn taken(was: &Board, is: &Board) -> usize {
    // A fifth move that is only offered places nothing.
    let placed = usize::from(matches!(
        is.last.as_ref().and_then(|last| last.kind.as_ref()),
        Some(action::Kind::Place(at)) if is.pieces.iter().any(|piece| piece.at == *at)
    ));
    let marked =
        |board: &Board| board.marks.iter().filter(|mark| mark.kind() == MarkKind::MarkCaptured).count();
    let gone = (was.pieces.len() + placed).saturating_sub(is.pieces.len());
    gone + marked(is).saturating_sub(marked(was))
}

/// Announces the last move in words; nothing after an undo.
fn announce(app: &Controller, before: &Room, after: &Room) {
    let Some(window) = app.window.upgrade() else { return };
    let page = window.global::<FeelAdapter>();
    let Some((was, is)) = moved(before, after) else {
        if before.revision != after.revision {
            page.set_move("".into());
        }
        return;
    };
    let chinese = app.read().chinese();
    let said = new_game::said(after.spoken.last(), chinese);
    let written = after.record.last().map_or("", String::as_str);
    let words = if said.is_empty() { game::written(written) } else { said.to_owned() };
    page.set_game(game::shown(is.game()));
    page.set_mover(side(was.turn()));
    page.set_taken(taken(was, is) as i32);
    page.set_check(in_check(is));
    page.set_move(words.into());
}
