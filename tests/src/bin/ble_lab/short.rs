//! The short form of a cell: two strangers meet and play with one cut of the link, a whole board's record is given away, and one of
//! them is killed in the next match.

use crate::cell::Cell;
use crate::game::{Dice, GOMOKU, Strike, Table, Who};
use crate::lab::Lab;
use crate::report::{Quantiles, Report};
use crate::room;
use anyhow::{Context, Result};
use std::time::Duration;

pub(crate) async fn play(lab: &Lab, cell: &Cell, mut dice: Dice, report: &mut Report) -> Result<()> {
    if cell.devices > 2 {
        return room::play(lab, cell, report).await;
    }
    let mut table = Table::meet(lab, report).await.context("two strangers meet")?;
    with(&mut table, Strike::Cut(Duration::ZERO), &mut dice, report).await?;
    table.gives_a_board(report).await.context("a whole board's record is given to a friend")?;
    with(&mut table, Strike::Kill(Who::B), &mut dice, report).await?;
    report.move_seen = Quantiles::of(&table.move_seen([0; 2]));
    let reading = lab.air.reading().await?;
    report.att_payload = Some(reading.longest_value);
    cell.holds(&reading.habits, reading.longest_value, report)?;
    table.leave().await
}

/// Plays the open match with this fault, and another one if it was over before the fault.
async fn with(table: &mut Table<'_>, strike: Strike, dice: &mut Dice, report: &mut Report) -> Result<()> {
    let mut strikes = vec![strike];
    loop {
        table.play(&mut strikes, dice, report).await.with_context(|| format!("{strike:?}"))?;
        if strikes.is_empty() {
            return Ok(());
        }
        table.again(GOMOKU).await?;
    }
}
