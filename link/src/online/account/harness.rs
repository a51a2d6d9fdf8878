//! The account's task without a server: it hears stanzas as if a server had sent them. For unit tests, and for the fuzz target
//! `xmpp`.

use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};
use tokio_xmpp::Stanza;
use tokio_xmpp::jid::{BareJid, FullJid};
use tokio_xmpp::minidom::Element;
use tokio_xmpp::parsers::ns;
use tokio_xmpp::stanzastream::Event;

use super::{ENDED, MAX_CONTACTS, MAX_LINKS, Task, new_contact};
use crate::letter::MAX_LETTER;
use crate::online::link::{self, LinkStream, ToSend};
use crate::online::{
    Account, AccountState, Contact, ContactState, LetterNews, OnlineConfig, Presence, View, resource,
};
use crate::{Accepted, Card, Duplex, Tag};

/// The account.
const OWN: &str = "me@example.org";
/// Its contact, who is online.
pub(super) const CONTACT: &str = "ann@example.org";
/// The name of the link that this device opens to the contact.
const LINK: &str = "0123456789abcdef";

/// An account that is signed in and shown to its contact, with a listener.
pub struct Harness {
    pub(super) task: Task,
    /// What links say, and answers. Nothing else that is sent can be seen.
    pub(super) to_send: mpsc::UnboundedReceiver<ToSend>,
    pub(super) letters: mpsc::UnboundedReceiver<LetterNews>,
    pub(super) accepting: mpsc::Receiver<Accepted>,
    /// This device's ends of links, which nobody reads.
    streams: Vec<Box<dyn Duplex>>,
}

impl Harness {
    /// Must be called within a runtime.
    pub fn begin() -> Self {
        const BACKLOG: usize = 8;
        let (reports, _) = mpsc::unbounded_channel();
        let (outgoing, to_send) = mpsc::unbounded_channel();
        let (news, letters) = mpsc::unbounded_channel();
        let (accepted, accepting) = mpsc::channel(BACKLOG);
        let contact = Contact { presence: Presence::Online, ..new_contact(ContactState::Mutual) };
        let view = View {
            account: OWN.to_owned(),
            state: AccountState::Online,
            contacts: [(CONTACT.to_owned(), contact)].into(),
            ..View::default()
        };
        let incoming = Arc::new(Mutex::new(Some(accepted)));
        let shown = watch::Sender::new(view);
        let mut task = Task::new(OnlineConfig::default(), shown, incoming, news, reports, outgoing);
        task.account = Account::new(OWN, "", None);
        let tag = Tag([7; 5]);
        task.card = Some(Card { tag, open_to_all: false, busy: false, wish: 0, name: None, seldom: false });
        Self { task, to_send, letters, accepting, streams: Vec::new() }
    }

    /// Opens a link to the contact, always of the same name.
    pub(super) fn dial(&mut self) -> LinkStream {
        let contact: BareJid = CONTACT.parse().expect("an account");
        let device: FullJid = contact.with_resource(resource());
        self.task.new_link(device, LINK.to_owned(), true)
    }

    /// Opens a link that is never read, for [`check`](Self::check).
    pub fn dial_and_wait(&mut self) {
        let stream = self.dial();
        self.streams.push(Box::new(stream));
    }

    /// Hears a stanza. Links and [`Letters`](super::Letters) have no turn yet: what they are to send can be seen.
    #[cfg(test)]
    pub(super) async fn hear(&mut self, xml: &str) {
        match stanza(xml).expect("a stanza") {
            Stanza::Message(message) => self.task.hear_message(message),
            other => self.task.hear(Event::Stanza(other)).await,
        }
    }

    /// Hears a stanza, if it is one, and gives the links a turn.
    ///
    /// # Panics
    /// When something is read otherwise than it would be written, or has grown beyond its limit.
    pub async fn check(&mut self, xml: &str) {
        /// How often the links may speak.
        const TURNS: usize = 4;
        let Some(stanza) = stanza(xml) else { return };
        if let Stanza::Message(message) = &stanza {
            for (name, said) in message.payloads.iter().filter_map(link::read) {
                let again = link::read(&link::element(&name, &said));
                assert_eq!(again, Some((name, said)));
            }
        }
        self.task.hear(Event::Stanza(stanza)).await;
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
            while let Ok(said) = self.to_send.try_recv() {
                self.task.pass_on(said).await;
            }
        }
        while let Ok(accepted) = self.accepting.try_recv() {
            self.streams.push(accepted.duplex);
        }
        while let Ok(news) = self.letters.try_recv() {
            if let LetterNews::Came { sealed, .. } = news {
                assert!(sealed.len() <= 2 * MAX_LETTER);
            }
        }
        assert!(self.task.shown.borrow().contacts.len() <= MAX_CONTACTS);
        assert!(self.task.links.len() <= MAX_LINKS && self.task.ended.len() <= ENDED);
        assert!(self.task.letters.are_within_limits());
    }
}

/// Reads a stanza; `None` if it is none.
fn stanza(xml: &str) -> Option<Stanza> {
    // On a stream its own element declares the namespace.
    let element = Element::from_reader_with_prefixes(xml.as_bytes(), ns::JABBER_CLIENT.to_owned()).ok()?;
    Stanza::try_from(element).ok()
}
