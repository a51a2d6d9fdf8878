//! A player that never tires: plays the app, with a real host in this process, by what is on the screen and by what a screen reader
//! says of it. See docs/play-through.md.

#[path = "../../../../tests/src/seed.rs"]
mod seed;

mod debts;
mod evening;
mod everywhere;
mod eyes;
mod files;
mod games;
mod lessons;
mod log;
mod notes;
mod player;
mod puzzles;
mod ruler;
mod two;
mod walk;
