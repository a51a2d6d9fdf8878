//! The app from outside: its words, its pages, its fingers and keys.

#[path = "../support/mod.rs"]
mod support;

mod pages;
mod people;
mod play;
mod puzzles;
mod touches;
mod words;
