//! What the Slint compiler makes of `ui/`: the window, the globals through which the app speaks with its pages, and their types.
//!
//! A crate of its own, because it is the workspace's largest by far: it is compiled once for the app, its tests, its examples and
//! their lints, and only when a page changes. The `.slint` files carry the docs.

#![allow(warnings, clippy::all, clippy::pedantic)]

slint::include_modules!();
