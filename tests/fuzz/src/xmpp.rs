//! The stream of an XMPP server, before the parser of elements.

use link::prune::Pruner;

/// What passes does not depend on where the input is cut, is no longer than the input, and is not pruned again: it is as deep and
/// as long as the parser takes at most.
pub(crate) fn check(bytes: &[u8]) {
    let whole = passed([bytes]);
    assert!(whole.len() <= bytes.len());
    let middle = bytes.first().map_or(0, |byte| usize::from(*byte) * bytes.len() / 256);
    assert_eq!(passed([&bytes[..middle], &bytes[middle..]]), whole, "cut at {middle}");
    assert_eq!(passed(bytes.chunks(1)), whole, "byte by byte");
    assert_eq!(passed([&whole[..]]), whole, "what passes once passes again");
}

fn passed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut pruner, mut out) = (Pruner::default(), Vec::new());
    for part in parts {
        pruner.pass(part, &mut out);
    }
    out
}
