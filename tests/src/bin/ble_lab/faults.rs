//! Tests of the lab itself: if a fault had no effect, every test would pass. Each fault is injected once on the
//! bare service.

use crate::air::{Fault, Struck};
use crate::guest::Heard;
use crate::lab::Lab;
use crate::orders::{Output, User};
use crate::report::Report;
use anyhow::{Context, Result, bail, ensure};
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::{Instant, timeout};

/// Longer than any fault lasts, BlueZ's slowness included.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) async fn each_is_felt_and_passes(lab: &Lab, report: &mut Report) -> Result<()> {
    let mut client = lab.b.hear();
    serve(lab).await?;
    lab.b.start("bare-hold", User::Player, &["ble-lab", "bare-hold"], Output::Lines).await?;
    expect(&mut client, "bare-hold", "up").await?;
    for (name, fault) in [
        ("a cut link", Fault::Cut { away: Duration::ZERO }),
        ("a cut link, out of range for 2 s", Fault::Cut { away: Duration::from_secs(2) }),
        ("a link ended by the other side", Fault::Kick),
    ] {
        let begun = Instant::now();
        report.check(lab.air.fault(fault).await? == Struck::Link, || "there was no link".into())?;
        back(report, &mut client, name, begun).await?;
    }

    let begun = Instant::now();
    lab.air.fault(Fault::Mute).await?;
    expect(&mut client, "bare-hold", "down").await?;
    lab.air.fault(Fault::Unmute).await?;
    back_up(report, &mut client, "radio silence", begun).await?;

    let begun = Instant::now();
    lab.b.power(false).await?;
    expect(&mut client, "bare-hold", "down").await?;
    lab.b.power(true).await?;
    back_up(report, &mut client, "the adapter switched off and on", begun).await?;

    let begun = Instant::now();
    lab.b.kill_bluetoothd().await?;
    expect(&mut client, "bare-hold", "down").await?;
    lab.b.start_bluetoothd().await?;
    back_up(report, &mut client, "bluetoothd killed and started", begun).await?;

    let begun = Instant::now();
    lab.a.freeze(Duration::from_secs(4)).await?;
    back(report, &mut client, "a machine frozen for 4 s", begun).await?;

    lab.b.kill("bare-hold").await?;
    lab.a.kill("bare-serve").await?;
    Ok(())
}

/// Starts the bare server and waits until it serves.
pub(crate) async fn serve(lab: &Lab) -> Result<()> {
    let mut server = lab.a.hear();
    lab.a.start("bare-serve", User::Player, &["ble-lab", "bare-serve"], Output::Lines).await?;
    expect(&mut server, "bare-serve", "serving").await
}

async fn back(report: &mut Report, client: &mut Receiver<Heard>, name: &str, begun: Instant) -> Result<()> {
    expect(client, "bare-hold", "down").await.with_context(|| format!("{name} was not felt"))?;
    back_up(report, client, name, begun).await
}

async fn back_up(
    report: &mut Report,
    client: &mut Receiver<Heard>,
    name: &str,
    begun: Instant,
) -> Result<()> {
    expect(client, "bare-hold", "up").await.with_context(|| format!("{name} did not pass"))?;
    report.checks += 1;
    println!("ble-lab: {name}: back after {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Waits until the program of this name prints a line beginning with `word`.
pub(crate) async fn expect(from: &mut Receiver<Heard>, program: &str, word: &str) -> Result<()> {
    let heard = timeout(PATIENCE, async {
        loop {
            match from.recv().await {
                Ok(Heard::Line { name, text }) if name == program && text.starts_with(word) => return Ok(()),
                Ok(Heard::Ended { name, code }) if name == program => bail!("{name} ended with {code:?}"),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => bail!("the guest is gone"),
            }
        }
    });
    heard.await.with_context(|| format!("waited for {program} to say {word:?}"))?
}

/// Waits until a program has ended by itself, successfully.
pub(crate) async fn ended(from: &mut Receiver<Heard>, program: &str) -> Result<()> {
    let heard = timeout(PATIENCE, async {
        loop {
            match from.recv().await {
                Ok(Heard::Ended { name, code }) if name == program => {
                    ensure!(code == Some(0), "{name} ended with {code:?}");
                    return Ok(());
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => bail!("the guest is gone"),
            }
        }
    });
    heard.await.with_context(|| format!("waited for the end of {program}"))?
}
