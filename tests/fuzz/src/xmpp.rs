//! The stream of an XMPP server: before the parser of elements, and with online play also what an account makes of its stanzas.

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
    #[cfg(feature = "online")]
    hear(bytes);
}

/// An account hears the lines that are stanzas, whoever they say that they are from. On a stream a damaged stanza would be the last;
/// here it hides no other. At an empty line time passes.
#[cfg(feature = "online")]
fn hear(bytes: &[u8]) {
    /// The beginning of a stream, so that a line is cut as a stanza is.
    const BEGUN: &[u8] = b"<stream>";
    /// Longer than any wait of a link before it repeats something.
    const A_WHILE: std::time::Duration = std::time::Duration::from_secs(21);
    /// How often time passes: an input of empty lines alone would only wait.
    const WAITS: usize = 64;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let mut account = link::online::Harness::begin();
        account.dial_and_wait();
        let mut waits = 0..WAITS;
        for line in bytes.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                if waits.next().is_some() {
                    tokio::time::sleep(A_WHILE).await;
                }
                continue;
            }
            let kept = passed([BEGUN, line]);
            let stanza = kept.strip_prefix(BEGUN).expect("a beginning passes");
            account.check(&String::from_utf8_lossy(stanza)).await;
        }
    });
}

fn passed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut pruner, mut out) = (Pruner::default(), Vec::new());
    for part in parts {
        pruner.pass(part, &mut out);
    }
    out
}
