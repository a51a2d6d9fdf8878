//! The seat at the far side when two people sit opposite each other: drawn off the screen and rotated by 180°, because the
//! renderer rotates no text.

use std::cell::RefCell;

use slint::platform::WindowEvent;
use slint::{
    ComponentHandle, Image, Model, PhysicalSize, PlatformError, Rgba8Pixel, SharedPixelBuffer, SharedString,
};

use crate::app::Controller;
use crate::screens::{Art, BoardAdapter, FarSeat, Game, MainWindow, Seat, Side, Task, Theme};

/// The window that the seat is drawn in, and what the last picture shows.
#[derive(Default)]
pub(crate) struct FarSeats {
    window: RefCell<Option<FarSeat>>,
    drawn: RefCell<Option<Drawn>>,
}

/// Everything that the picture of a seat depends on.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    /// In device pixels.
    width: u32,
    /// Device pixels per logical pixel.
    scale: f32,
    text_scale: f32,
    /// Tone, style of the board, set of pieces.
    theme: (i32, i32, i32),
    chinese: bool,
    seat: Seat,
    taken: Vec<i32>,
    game: Game,
    me: Side,
    winner: Side,
    /// Over, the end is being shown, paused, counted by area.
    flags: [bool; 4],
    task: Task,
    captures_due: i32,
    waiting_point: i32,
    /// Half seconds of the running clock.
    tick: i32,
}

impl FarSeats {
    /// Draws the seat, if it faces the far side and looks different from the last picture.
    pub(crate) fn draw(&self, window: &MainWindow, app: &Controller) {
        let page = window.global::<BoardAdapter>();
        let scale = window.window().scale_factor();
        let width = (page.get_far_width() * scale).round() as u32;
        if !page.get_faced() || width == 0 {
            return;
        }
        let now = Drawn::of(window, app, width, scale);
        if self.drawn.borrow().as_ref() == Some(&now) {
            return;
        }
        match self.picture(window, app, &now) {
            Ok((image, height, spoken)) => {
                page.set_far_seat(image);
                page.set_far_height(height);
                page.set_far_spoken(spoken);
                *self.drawn.borrow_mut() = Some(now);
            }
            Err(error) => tracing::warn!(%error, "the far seat could not be drawn"),
        }
    }

    fn picture(
        &self,
        from: &MainWindow,
        app: &Controller,
        drawn: &Drawn,
    ) -> Result<(Image, f32, SharedString), PlatformError> {
        let mut kept = self.window.borrow_mut();
        let seat = match &mut *kept {
            Some(seat) => seat,
            none => {
                let seat = FarSeat::new()?;
                app.sprites.serve(&seat.global::<Art>());
                none.insert(seat)
            }
        };
        let (theirs, theme) = (from.global::<Theme>(), seat.global::<Theme>());
        theme.set_choice(theirs.get_shown());
        theme.set_board_style(theirs.get_board_style());
        theme.set_piece_set(theirs.get_piece_set());
        theme.set_text_scale(theirs.get_text_scale());
        theme.set_reduced_motion(true);
        let (page, own) = (from.global::<BoardAdapter>(), seat.global::<BoardAdapter>());
        own.set_game(drawn.game);
        own.set_me(drawn.me);
        own.set_winner(drawn.winner);
        let [over, moment, paused, area] = drawn.flags;
        own.set_over(over);
        own.set_moment(moment);
        own.set_paused(paused);
        own.set_area(area);
        own.set_task(drawn.task);
        own.set_captures_due(drawn.captures_due);
        own.set_waiting_point(drawn.waiting_point);
        own.set_tick(drawn.tick);
        own.set_their_taken(page.get_their_taken());
        own.set_theirs(drawn.seat.clone());
        let window = seat.window();
        window.dispatch_event(WindowEvent::ScaleFactorChanged { scale_factor: drawn.scale });
        window.set_size(PhysicalSize::new(drawn.width, drawn.width));
        let height = (seat.get_needed() * drawn.scale).ceil();
        window.set_size(PhysicalSize::new(drawn.width, height as u32));
        let pixels = window.take_snapshot()?;
        Ok((Image::from_rgba8(rotated(&pixels)), height / drawn.scale, seat.get_spoken()))
    }
}

impl Drawn {
    fn of(window: &MainWindow, app: &Controller, width: u32, scale: f32) -> Self {
        let (page, theme) = (window.global::<BoardAdapter>(), window.global::<Theme>());
        let seat = page.get_theirs();
        Self {
            width,
            scale,
            text_scale: theme.get_text_scale(),
            theme: (theme.get_tone(), theme.get_board_style(), theme.get_piece_set()),
            chinese: app.read().chinese(),
            taken: page.get_their_taken().iter().collect(),
            game: page.get_game(),
            me: page.get_me(),
            winner: page.get_winner(),
            flags: [page.get_over(), page.get_moment(), page.get_paused(), page.get_area()],
            task: page.get_task(),
            captures_due: page.get_captures_due(),
            waiting_point: page.get_waiting_point(),
            tick: if seat.clock_runs { page.get_tick() } else { 0 },
            seat,
        }
    }
}

/// The picture rotated by 180°.
fn rotated(pixels: &SharedPixelBuffer<Rgba8Pixel>) -> SharedPixelBuffer<Rgba8Pixel> {
    let mut turned = pixels.clone();
    turned.make_mut_slice().reverse();
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pixel_becomes_the_last_one() {
        let mut pixels = SharedPixelBuffer::<Rgba8Pixel>::new(2, 2);
        for (at, pixel) in pixels.make_mut_slice().iter_mut().enumerate() {
            pixel.r = at as u8;
        }
        let turned: Vec<u8> = rotated(&pixels).as_slice().iter().map(|pixel| pixel.r).collect();
        assert_eq!(turned, [3, 2, 1, 0]);
    }
}
