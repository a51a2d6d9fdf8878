//! Failures of an account or its server: each is reported as what it is, and none is ignored.

use std::time::{Duration, Instant};

use proto::control::{self, AccountState, ContactState, request};
use tests::house::Seen;

use crate::network::within;
use crate::servers::{Authority, DOMAIN, Kind, Proof, Server};
use crate::{Device, contact};

/// The detail from the server or the system.
fn detail(device: &Device) -> String {
    device.client.seen.account.as_ref().map_or_else(String::new, |account| account.detail.clone())
}

async fn take_over(device: &mut Device) {
    device.client.done(request::Body::TakeOver(control::TakeOver {})).await;
}

/// The two servers end the same sessions with different errors; users see the same state.
async fn each_trouble(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let mut anna = Device::new("Anna", &authority).await;
    anna.sign_in("anna", "right", &server.address(), true).await;
    anna.until_account(AccountState::AccountOnline).await;

    let mut other = Device::new("Other", &authority).await;
    other.sign_in("anna", "again", &server.address(), true).await;
    other.until_account(AccountState::AccountTaken).await;
    other.sign_in("anna", "wrong", &server.address(), false).await;
    other.until_account(AccountState::AccountWrongPassword).await;

    // Signed in elsewhere, with each server.
    other.sign_in("anna", "right", &server.address(), false).await;
    other.until_account(AccountState::AccountOnline).await;
    anna.until_account(AccountState::AccountElsewhere).await;
    take_over(&mut anna).await;
    anna.until_account(AccountState::AccountOnline).await;
    other.until_account(AccountState::AccountElsewhere).await;

    // Locked by the server's operator. Prosody reports a policy violation, and allows a later login by the
    // user. ejabberd reports a conflict, and has removed the password. The reason is shown in either case.
    server.ban("anna");
    anna.until_account(match kind {
        Kind::Prosody => AccountState::AccountPolicy,
        Kind::Ejabberd => AccountState::AccountElsewhere,
    })
    .await;
    let words = anna.client.seen.account.as_ref().and_then(|account| account.sentence.clone());
    let words = words.expect("a sentence");
    assert!(words.en.ends_with("The server says: Not today"), "{}", words.en);
    assert!(words.zh.ends_with("服务器说：Not today"), "{}", words.zh);
    take_over(&mut anna).await;
    let mut name = "anna";
    match kind {
        Kind::Prosody => anna.until_account(AccountState::AccountOnline).await,
        Kind::Ejabberd => {
            anna.until_account(AccountState::AccountWrongPassword).await;
            name = "anita";
            anna.sign_in(name, "right", &server.address(), true).await;
            anna.until_account(AccountState::AccountOnline).await;
        }
    }

    // Deleted while in use, and unknown afterwards.
    server.delete_account(name);
    anna.until_account(AccountState::AccountGone).await;
    take_over(&mut anna).await;
    anna.until_account(AccountState::AccountWrongPassword).await;

    // Nobody listens: the device retries until somebody does.
    let address = server.address();
    drop(server);
    anna.sign_in(name, "right", &address, false).await;
    anna.until_account(AccountState::AccountServerGone).await;
    println!("{kind:?}: taken, wrong password, elsewhere both ways, policy, deleted, server gone");
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn each_trouble_with_an_account_of_prosody_is_told_for_what_it_is() {
    each_trouble(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn each_trouble_with_an_account_of_ejabberd_is_told_for_what_it_is() {
    each_trouble(Kind::Ejabberd).await;
}

#[tokio::test]
#[ignore = "needs Prosody and ejabberd: make test-carriers"]
async fn a_certificate_that_is_not_valid_is_never_passed_over() {
    // A certificate of an unknown authority, with either server.
    for kind in [Kind::Prosody, Kind::Ejabberd] {
        let (theirs, ours) = (Authority::new(), Authority::new());
        refused(&Server::start(kind, &theirs), &ours, "UnknownIssuer").await;
    }
    for (proof, why) in [
        (Proof::OtherName, "not valid for name"),
        (Proof::Expired, "Expired"),
        (Proof::Itself, "invalid peer certificate"),
    ] {
        let authority = Authority::with(proof);
        refused(&Server::start(Kind::Prosody, &authority), &authority, why).await;
    }
}

/// The device stops before it authenticates, reports why, and does not retry by itself; a retry by the user fails too.
async fn refused(server: &Server, trusted: &Authority, why: &str) {
    let mut anna = Device::new("Anna", trusted).await;
    let tries = || {
        let log = server.log();
        ["Client connected", "Accepted connection"]
            .map(|line| log.matches(line).count())
            .iter()
            .sum::<usize>()
    };
    for how in ["making an account", "signing in", "once more"] {
        let before = tries();
        match how {
            "once more" => take_over(&mut anna).await,
            _ => anna.sign_in("anna", "right", &server.address(), how == "making an account").await,
        }
        within(how, async || (tries() > before).then_some(())).await;
        anna.until_account(AccountState::AccountCertificate).await;
        assert!(detail(&anna).contains(why), "{how}: {why}: {}", detail(&anna));
        assert_eq!(anna.client.seen.account.as_ref().map(|account| account.retry_ms), Some(0), "{how}");
    }
    let log = server.log();
    assert!(!log.contains("uthenticated") && !log.contains("anna"), "nothing was said to it:\n{log}");
    println!("certificate refused: {}", detail(&anna));
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_server_that_is_not_safe_or_makes_no_accounts_is_told_of() {
    let authority = Authority::new();
    // Without encryption, and with no login mechanism but a plain password.
    let bare = "c2s_require_encryption = false\nmodules_disabled = { \"s2s\", \"tls\" }\n";
    let plain = "disable_sasl_mechanisms = { \"SCRAM-SHA-1\", \"SCRAM-SHA-1-PLUS\", \"SCRAM-SHA-256\", \"SCRAM-SHA-256-PLUS\" }\n";
    for extra in [bare, plain] {
        let server = Server::prosody_with(&authority, extra);
        server.make_account("anna", "right");
        let mut anna = Device::new("Anna", &authority).await;
        anna.sign_in("anna", "right", &server.address(), false).await;
        anna.until_account(AccountState::AccountPolicy).await;
        println!("not safe: {}", detail(&anna));
    }
    let closed = "allow_registration = false\nmodules_disabled = { \"s2s\", \"register_ibr\" }\n";
    let server = Server::prosody_with(&authority, closed);
    let mut anna = Device::new("Anna", &authority).await;
    anna.sign_in("anna", "right", &server.address(), true).await;
    anna.until_account(AccountState::AccountNotMade).await;
    // A domain that this server does not serve.
    anna.sign_in_as(format!("anna@other.{DOMAIN}"), "right", &server.address(), false).await;
    anna.until_account(AccountState::AccountServerGone).await;
    println!("another domain: {}", detail(&anna));
    tokio::time::timeout(Duration::from_secs(5), anna.switch_off()).await.expect("it does not hang");
}

/// Nobody writes for longer than a stanza may take.
async fn a_quiet_account(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let mut anna = Device::new("Anna", &authority).await;
    anna.sign_in("anna", "right", &server.address(), true).await;
    anna.until_account(AccountState::AccountOnline).await;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(150) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        // The answer comes after all that was told before.
        anna.client.scan(false).await;
        let account = anna.client.seen.account.as_ref().expect("she has one");
        assert_eq!(account.state(), AccountState::AccountOnline, "after {:?}: {account:?}", begun.elapsed());
    }
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn an_account_at_prosody_at_which_nothing_happens_stays_online() {
    a_quiet_account(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn an_account_at_ejabberd_at_which_nothing_happens_stays_online() {
    a_quiet_account(Kind::Ejabberd).await;
}

/// Somebody who is no contact sends messages nested thousands of levels deep, and messages as long as servers forward, with a
/// malicious client.
async fn deep_messages(kind: Kind, levels: u32) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let mut anna = Device::new("Anna", &authority).await;
    anna.sign_in("anna", "right", &server.address(), true).await;
    anna.until_account(AccountState::AccountOnline).await;
    server.make_account("mallory", "wrong");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/deep.py");
    let account = format!("anna@{DOMAIN}");
    let sent = tokio::process::Command::new("python3")
        .args(["-B", script, &server.address(), DOMAIN, "mallory", "wrong", &account, &levels.to_string()])
        .output()
        .await
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&sent.stdout);
    assert!(
        sent.status.success() && said.trim() == "sent",
        "{said} {}",
        String::from_utf8_lossy(&sent.stderr)
    );
    // Later messages arrive after them: the device has read all of them, and is still online.
    let mallory = format!("mallory@{DOMAIN}");
    let asks = |seen: &Seen| contact(seen, &mallory) == Some(ContactState::ContactAsks);
    anna.client.until("Mallory asks", asks).await;
    let account = anna.client.seen.account.as_ref().expect("she has one");
    assert_eq!(account.state(), AccountState::AccountOnline);
    let told = account.sentence.as_ref().is_some_and(|words| words.en.contains("too deeply nested"));
    assert!(told, "she is told that something was left out: {account:?}");
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn messages_of_thousands_of_levels_through_prosody_end_nothing() {
    deep_messages(Kind::Prosody, 15_000).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn messages_of_a_thousand_levels_through_ejabberd_end_nothing() {
    // The server ends the stream of a client that sends thousands of levels; this number it forwards.
    deep_messages(Kind::Ejabberd, 1_000).await;
}
