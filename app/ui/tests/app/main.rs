//! Tests of the app through its window: pages, taps and keys.

#[path = "../../../../tests/src/seed.rs"]
mod seed;
#[path = "../support/mod.rs"]
mod support;

mod board;
mod club;
mod contrast;
mod doctor;
mod drawn;
mod ends;
mod engines;
mod feel;
mod field_test;
mod gamepad;
mod gifts;
mod golden;
mod guests;
mod keys;
mod letters;
mod levels;
mod lights;
mod manual;
mod matches;
mod moments;
mod notes;
mod odds;
mod pages;
mod people;
mod picture;
mod play;
mod position;
mod puzzles;
mod replay;
mod several;
mod touches;
mod two_here;
mod ways;
mod work;
