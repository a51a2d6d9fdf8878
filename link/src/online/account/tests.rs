use super::harness::{CONTACT, Harness};
use super::*;

/// A link message of this version.
fn opening(from: &str, version: u32) -> String {
    format!(
        "<message type='chat' from='{from}'><q xmlns='urn:qiyou:link:{version}' l='7' a='0' o='1'/></message>"
    )
}

/// What is to be sent to the contact about the link `7`.
fn answer(account: &mut Harness) -> Option<Said> {
    let ToSend { to, link, said } = account.to_send.try_recv().ok()?;
    assert_eq!((to.to_string(), link.as_str()), (format!("{CONTACT}/qiyou"), "7"));
    said
}

#[tokio::test]
async fn a_link_of_another_version_is_answered_with_what_this_device_speaks() {
    let mut account = Harness::begin();
    let device = format!("{CONTACT}/qiyou");
    for version in [0, 2, 4_000_000_000] {
        account.hear(&opening(&device, version)).await;
        assert_eq!(answer(&mut account), Some(Said::Speaks(link::VERSIONS)), "{version}");
        assert!(account.task.links.is_empty());
    }
    // Both in one message: the one that is spoken.
    let both = opening(&device, 1).replace("<q", "<q xmlns='urn:qiyou:link:2' l='7'/><q");
    account.hear(&both).await;
    assert!(answer(&mut account).is_none() && account.task.links.len() == 1);
}

#[tokio::test]
async fn what_links_say_is_to_be_neither_stored_nor_copied_to_another_client() {
    let mut account = Harness::begin();
    let _stream = account.dial();
    let ToSend { to, link, said } = account.to_send.recv().await.expect("it opens");
    for said in [said.expect("not its end"), Said::Speaks(link::VERSIONS)] {
        let sent = link_message(to.clone(), &link, &said);
        assert_eq!(sent.to, Some(Jid::from(to.clone())));
        let hints = sent.payloads.iter().filter(|payload| payload.has_ns("urn:xmpp:hints"));
        assert_eq!(hints.map(Element::name).collect::<Vec<_>>(), ["no-store", "no-copy"]);
        assert_eq!(sent.payloads.iter().find_map(link::read), Some((link.clone(), said)));
    }
}

#[tokio::test]
async fn nobody_learns_from_an_answer_what_the_presence_does_not_tell() {
    let mut account = Harness::begin();
    let device = format!("{CONTACT}/qiyou");
    let nothing = async |account: &mut Harness, xml: &str, why: &str| {
        account.hear(xml).await;
        assert!(account.to_send.try_recv().is_err(), "{why}");
    };
    nothing(&mut account, &opening("eve@example.org/qiyou", 2), "a stranger").await;
    nothing(&mut account, &opening("me@example.org/other", 2), "the account itself").await;
    nothing(&mut account, &opening(&device, 2).replace("chat", "error"), "an error").await;
    let state = |account: &Harness, state| {
        account.task.shown.send_modify(|view| {
            view.contacts.get_mut(CONTACT).expect("a contact").state = state;
        });
    };
    for half in [ContactState::Asks, ContactState::Asked, ContactState::OneWay] {
        state(&account, half);
        nothing(&mut account, &opening(&device, 2), "not both have accepted").await;
    }
    state(&account, ContactState::Mutual);
    account.task.card = None;
    nothing(&mut account, &opening(&device, 2), "this device is shown to nobody").await;
}

#[tokio::test]
async fn an_accepted_link_tells_whose_account_it_comes_from() {
    let mut account = Harness::begin();
    account.hear(&opening(&format!("{CONTACT}/qiyou"), 1)).await;
    let accepted = account.accepting.try_recv().expect("a contact opens it");
    let contact = Address { kind: CarrierKind::Online, text: CONTACT.to_owned() };
    assert_eq!(accepted.source, Some(contact), "without the device");
}

#[tokio::test]
async fn an_answer_reaches_the_link_that_asked_and_is_not_answered() {
    let mut account = Harness::begin();
    let mut stream = account.dial();
    let opened = account.to_send.recv().await.expect("it opens");
    assert!(matches!(opened.said, Some(Said::Segment { opens: true, .. })));
    let speaks = |from: &str, link: &str| {
        let versions =
            format!("<versions xmlns='urn:qiyou:versions' of='link' id='{link}' lowest='2' highest='3'/>");
        format!("<message type='chat' from='{from}'>{versions}</message>")
    };
    let device = format!("{CONTACT}/qiyou");
    account.hear(&speaks("eve@example.org/qiyou", &opened.link)).await;
    account.hear(&speaks(&device, "another")).await;
    assert!(account.to_send.try_recv().is_err());
    account.hear(&speaks(&device, &opened.link)).await;
    let error = tokio::io::AsyncReadExt::read(&mut stream, &mut [0]).await.expect_err("no version in common");
    let outdated = error.get_ref().and_then(|inner| inner.downcast_ref::<Outdated>());
    assert_eq!(outdated, Some(&Outdated::Here));
    let ended = account.to_send.recv().await.expect("it ends");
    assert!(ended.said.is_none(), "nothing is sent");
}

#[tokio::test]
async fn a_card_that_cannot_be_read_shows_which_device_needs_an_update() {
    let mut account = Harness::begin();
    const READABLE: &str = "<card xmlns='urn:qiyou:card:1' v='1' s='2' t='0001abff09'/>";
    for (cards, outdated, is_read) in [
        (READABLE, None, true),
        ("<card xmlns='urn:qiyou:card:2' z='?'/>", Some(Outdated::Here), false),
        ("<card xmlns='urn:qiyou:card:1' v='2' s='2' t='0001abff09'/>", Some(Outdated::Here), false),
        ("<card xmlns='urn:qiyou:card:0'/>", Some(Outdated::There), false),
        // A device that speaks both.
        (
            "<card xmlns='urn:qiyou:card:2'/><card xmlns='urn:qiyou:card:1' v='1' s='2' t='0001abff09'/>",
            None,
            true,
        ),
        ("<card xmlns='urn:qiyou:card:1' v='1' s='2' t='?'/>", None, false),
        ("", None, false),
    ] {
        account.hear(&format!("<presence from='{CONTACT}/qiyou'>{cards}</presence>")).await;
        let contact = account.task.shown.borrow().contacts[CONTACT].clone();
        assert_eq!((contact.outdated, contact.card.is_some()), (outdated, is_read), "{cards}");
        assert_ne!(contact.presence, Presence::Offline, "a link can be tried: {cards}");
    }
    account
        .hear(&format!("<presence from='{CONTACT}/qiyou'><card xmlns='urn:qiyou:card:2'/></presence>"))
        .await;
    account.hear(&format!("<presence from='{CONTACT}/qiyou' type='unavailable'/>")).await;
    assert_eq!(account.task.shown.borrow().contacts[CONTACT].outdated, None);
}

#[tokio::test]
async fn a_contact_can_be_dialed_whose_card_cannot_be_read() {
    let mut account = Harness::begin();
    account
        .hear(&format!("<presence from='{CONTACT}/qiyou'><card xmlns='urn:qiyou:card:2'/></presence>"))
        .await;
    assert!(account.task.open(CONTACT.parse().expect("an account")).is_some());
    let opened = account.to_send.recv().await.expect("it opens");
    assert_eq!(opened.to, format!("{CONTACT}/qiyou").parse::<FullJid>().expect("a device"));
}
