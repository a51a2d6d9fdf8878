//! The Rust code that the Slint compiler generates from `ui/`: the window, the globals (adapters) for data and callbacks,
//! and their types.
//!
//! A crate of its own, since it is by far the largest of the workspace: it is compiled once for the app, its tests and its
//! examples, and only when a page changes. The `.slint` files contain the documentation.

#![allow(warnings, clippy::all, clippy::pedantic)]

slint::include_modules!();
