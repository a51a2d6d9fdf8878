//! Cuts elements that are too deep or too long for the parser out of an XMPP stream.
//!
//! The parser builds the payload of a stanza by recursion without a limit, so that one message of a stranger with some thousand
//! levels would overflow the stack and end the process. Servers forward such messages, store them for absent accounts, and send
//! them again on a resumed stream: closing the stream would let a stranger cause an endless loop. Elements deeper than
//! [`DEEPEST`], and all bytes after [`LONGEST`] of one stanza, are therefore dropped before the parser. The output is as
//! well-formed as the input.
//!
//! This is no parser: it only recognises the boundaries of tags, which comments, CDATA sections, quoted attributes and processing
//! instructions can imitate. Malformed input passes, for the parser to reject.
//!
//! Used by online play alone. Built without it too, so that a fuzz target needs no XMPP library.

/// Most nested elements, the stream's own included. XMPP uses about ten.
pub const DEEPEST: u32 = 64;

/// Most bytes of one stanza: more than the limits of servers (Prosody and ejabberd 256 KiB), and more than a roster of a thousand
/// contacts.
pub const LONGEST: usize = 512 << 10;

/// Lexer state between two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// `<`, held back until the next byte decides.
    Less,
    /// A start tag, or an empty-element tag if the last byte was a slash.
    Start {
        quote: Option<u8>,
        slash: bool,
    },
    /// An end tag.
    End,
    /// `<?`; whether the last byte was `?`.
    Instruction {
        ending: bool,
    },
    /// `<!`, and so many bytes of `[CDATA[` or, after one `-`, of a comment's start; held back.
    Declaration {
        matched: usize,
    },
    Dash,
    /// The number of `-` before the next byte, at most two.
    Comment {
        dashes: u8,
    },
    /// The number of `]` before the next byte, at most two.
    Cdata {
        brackets: u8,
    },
    /// Syntax that no XMPP stream has: the parser rejects it.
    Refused,
}

const CDATA: &[u8] = b"[CDATA[";

/// Cuts one stream; see the [module](self).
#[derive(Debug, Default)]
pub struct Pruner {
    state: State,
    /// Number of open elements.
    depth: u32,
    /// Whether the present tag or section passes.
    passing: bool,
    /// Bytes since the last stanza ended.
    bytes: usize,
    /// The depth at which the stanza became too long: from there on only end tags pass.
    closing: Option<u32>,
    /// Something of this stanza was dropped.
    pruned: bool,
}

impl Pruner {
    /// Copies the passing bytes to `out`. Returns whether a stanza that lost something has ended.
    pub fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let mut ended = false;
        for &byte in bytes {
            self.bytes += 1;
            self.next(byte, out);
            if self.bytes > LONGEST && self.closing.is_none() && self.depth > 1 {
                self.closing = Some(self.depth);
            }
            if self.depth <= 1 && self.state == State::Text {
                (self.bytes, self.closing) = (0, None);
                ended |= std::mem::take(&mut self.pruned);
            }
        }
        ended
    }

    /// Whether the last byte is inside a stanza.
    pub fn within_stanza(&self) -> bool {
        self.depth > 1 || self.bytes > 0
    }

    /// Whether a passing start tag alone is as long as a stanza may be. It cannot be cut, and the parser collects its attributes:
    /// the stream has to end.
    pub fn is_within_endless_tag(&self) -> bool {
        self.passing && matches!(self.state, State::Start { .. }) && self.bytes > 2 * LONGEST
    }

    /// Whether text at the present depth passes.
    fn text_passes(&self) -> bool {
        self.closing.is_none() && self.depth <= DEEPEST
    }

    /// Whether the end tag of the innermost element passes: its start tag did.
    fn end_passes(&self) -> bool {
        self.depth <= self.closing.unwrap_or(DEEPEST).min(DEEPEST)
    }

    fn next(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.state = match self.state {
            State::Text if byte == b'<' => State::Less,
            State::Text => {
                self.passing = self.text_passes();
                self.put(byte, out)
            }
            State::Less => match byte {
                b'/' => {
                    self.passing = self.end_passes();
                    self.begin(b"</", out);
                    State::End
                }
                b'?' => {
                    self.passing = self.text_passes();
                    self.begin(b"<?", out);
                    State::Instruction { ending: false }
                }
                b'!' => State::Declaration { matched: 0 },
                _ => {
                    self.depth = self.depth.saturating_add(1);
                    self.passing = self.text_passes();
                    self.begin(&[b'<', byte], out);
                    State::Start { quote: None, slash: false }
                }
            },
            State::Start { quote, slash } => {
                let _ = self.put(byte, out);
                match (quote, byte) {
                    (Some(open), _) => State::Start { quote: (byte != open).then_some(open), slash: false },
                    (None, b'"' | b'\'') => State::Start { quote: Some(byte), slash: false },
                    (None, b'>') => {
                        if slash {
                            self.close();
                        }
                        State::Text
                    }
                    (None, _) => State::Start { quote: None, slash: byte == b'/' },
                }
            }
            State::End => {
                let _ = self.put(byte, out);
                if byte == b'>' {
                    self.close();
                    State::Text
                } else {
                    State::End
                }
            }
            State::Instruction { ending } => {
                let _ = self.put(byte, out);
                if ending && byte == b'>' { State::Text } else { State::Instruction { ending: byte == b'?' } }
            }
            State::Declaration { matched: 0 } if byte == b'-' => State::Dash,
            State::Declaration { matched } if byte == CDATA[matched] => {
                if matched + 1 < CDATA.len() {
                    State::Declaration { matched: matched + 1 }
                } else {
                    self.passing = self.text_passes();
                    self.begin(b"<![CDATA[", out);
                    State::Cdata { brackets: 0 }
                }
            }
            State::Dash if byte == b'-' => State::Comment { dashes: 0 },
            State::Declaration { matched } => {
                self.passing = true;
                self.begin(b"<!", out);
                self.begin(&CDATA[..matched], out);
                let _ = self.put(byte, out);
                State::Refused
            }
            State::Dash => {
                self.passing = true;
                self.begin(b"<!-", out);
                let _ = self.put(byte, out);
                State::Refused
            }
            // Comments are dropped: nobody reads them.
            State::Comment { dashes: 2 } if byte == b'>' => State::Text,
            State::Comment { dashes } => {
                State::Comment { dashes: if byte == b'-' { (dashes + 1).min(2) } else { 0 } }
            }
            State::Cdata { brackets } => {
                let ends = brackets == 2 && byte == b'>';
                if ends && self.passing && self.closing.is_some() {
                    // The section's start may have been dropped.
                    out.extend(b"]]>");
                } else if self.closing.is_none() {
                    let _ = self.put(byte, out);
                } else {
                    self.pruned = true;
                }
                if ends {
                    State::Text
                } else {
                    State::Cdata { brackets: if byte == b']' { (brackets + 1).min(2) } else { 0 } }
                }
            }
            State::Refused => self.put(byte, out),
        };
    }

    fn begin(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            let _ = self.put(*byte, out);
        }
    }

    fn put(&mut self, byte: u8, out: &mut Vec<u8>) -> State {
        if self.passing {
            out.push(byte);
        } else {
            self.pruned = true;
        }
        self.state
    }

    /// Closes the innermost element.
    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        // Siblings of an element that was open when the stanza became too long are dropped as well.
        self.closing = self.closing.map(|open| open.min(self.depth));
    }
}

#[cfg(all(test, feature = "online"))]
mod tests {
    use super::*;

    const STREAM: &str = "<?xml version='1.0'?><stream:stream to='there'>";

    /// The passing part of a stream with these stanzas, equal for every place where the input is cut in two.
    fn passed(stanzas: &str) -> String {
        let all = format!("{STREAM}{stanzas}");
        let whole = prune([all.as_bytes()]);
        // For long inputs only some cuts: the input repeats.
        let step = if all.len() < 3_000 { 1 } else { all.len() / 20 };
        for cut in (0..all.len()).step_by(step) {
            let (one, other) = all.as_bytes().split_at(cut);
            assert!(prune([one, other]) == whole, "cut at {cut}");
        }
        assert_eq!(prune(all.as_bytes().chunks(1)), whole);
        whole.strip_prefix(STREAM).expect("the beginning of a stream passes").to_owned()
    }

    fn prune<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut pruner, mut out) = (Pruner::default(), Vec::new());
        for part in parts {
            pruner.pass(part, &mut out);
        }
        String::from_utf8(out).expect("it was text")
    }

    /// Nesting depth according to another parser; panics on malformed input.
    fn depth_of(stanzas: &str) -> usize {
        fn depth(element: &tokio_xmpp::minidom::Element) -> usize {
            1 + element.children().map(depth).max().unwrap_or(0)
        }
        let text = format!("<stream xmlns='x'>{stanzas}</stream>");
        depth(&text.parse().expect("well-formed"))
    }

    fn nested(levels: usize, inside: &str) -> String {
        format!("{}{inside}{}", "<a>".repeat(levels), "</a>".repeat(levels))
    }

    #[test]
    fn what_is_as_deep_as_stanzas_are_passes_untouched() {
        for stanza in [
            "<message from='a'><body>h8 &lt;&gt;</body></message> <presence/>",
            "<m><b a='>' c=\"/>'<\" d='<x>'/></m>",
            "<m><![CDATA[<a><a></a>]]]]><![CDATA[>]]></m>",
            "<m a='/'>/ ></m><m / ><x></x>",
        ] {
            assert_eq!(passed(stanza), stanza);
        }
        let deep = nested(DEEPEST as usize - 1, "text");
        assert_eq!(passed(&deep), deep);
    }

    #[test]
    fn what_is_deeper_is_cut_out_and_what_is_around_it_stays() {
        let most = DEEPEST as usize - 1;
        for inside in ["", "text", "<b/>", "<b x='>'/>text", "<![CDATA[</a></a>]]>", "<!-- </a> -->"] {
            for levels in [most + 1, 100, 5_000] {
                let stanzas = format!("<m>before{}after</m><presence/>", nested(levels - 1, inside));
                let kept = passed(&stanzas);
                assert_eq!(depth_of(&kept), DEEPEST as usize, "{levels} {inside}");
                assert_eq!(kept, format!("<m>before{}after</m><presence/>", nested(most - 1, "")));
            }
        }
    }

    #[test]
    fn nothing_hides_a_level_from_the_count() {
        for hides in [
            "<x a='/x>'>",
            "<x a=\"/\">",
            "<x a='/'>",
            "<x a='>'>",
            "<x ><!-- </x> -->",
            "<x><![CDATA[</x>]]>",
        ] {
            let stanza = format!("{}{}", hides.repeat(200), "</x>".repeat(200));
            assert_eq!(depth_of(&passed(&stanza)), DEEPEST as usize, "{hides}");
        }
        // Lookalikes of nested tags.
        for flat in ["<x/>", "<x a='/'/>", "<x a='<'/>", "<x a=\"<y>\"></x>", "<x></x >"] {
            let stanza = format!("<m>{}</m>", flat.repeat(200));
            assert_eq!(passed(&stanza), stanza);
        }
    }

    #[test]
    fn a_stanza_that_is_too_long_is_ended_early_and_the_next_one_is_heard() {
        let long = "x".repeat(LONGEST);
        for stanza in [
            format!("<m><b>{long}</b><c/>more</m>"),
            format!("<m><b><![CDATA[{long}]]></b><c/>more</m>"),
            format!("<m>{}</m>", "<c>d</c>".repeat(LONGEST / 4)),
            format!("<m><b>{}</b></m>", "<c/>".repeat(LONGEST / 2)),
        ] {
            let kept = passed(&format!("{stanza}<presence/>"));
            assert!(kept.len() < LONGEST + 100, "{}", kept.len());
            assert!(kept.ends_with("</m><presence/>"));
            assert!(depth_of(&kept) <= 4);
        }
    }

    #[test]
    fn it_is_told_once_when_something_was_left_out() {
        let (mut pruner, mut out) = (Pruner::default(), Vec::new());
        assert!(!pruner.pass(STREAM.as_bytes(), &mut out));
        assert!(!pruner.pass(b"<m><b/></m>", &mut out));
        assert!(!pruner.pass("<a>".repeat(100).as_bytes(), &mut out) && pruner.within_stanza());
        assert!(pruner.pass("</a>".repeat(100).as_bytes(), &mut out) && !pruner.within_stanza());
        assert!(!pruner.pass(b"<m><b/></m>", &mut out));
    }

    proptest::proptest! {
        /// For any input, the output is no longer than the input.
        #[test]
        fn any_bytes_are_passed_without_panic(parts in proptest::collection::vec("[<>/!?'\"a\\[\\]CDATA -]{0,40}", 0..20)) {
            let all: usize = parts.iter().map(String::len).sum();
            let kept = prune(parts.iter().map(String::as_bytes));
            proptest::prop_assert!(kept.len() <= all);
        }
    }
}
