//! Five people in one room, each with one radio: all find all, one is refused, and three matches are open at once. As many links as
//! fit are up together; the match that has none waits on both disks, and is played to its end by the two when they meet again.

use crate::air::Fault;
use crate::cell::Cell;
use crate::lab::Lab;
use crate::orders::{Output, User};
use crate::player::{Player, Saved, View};
use crate::report::Report;
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use proto::control::InvitationEnd;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

const NAMES: [&str; 5] = ["Ann", "Ben", "Cem", "Dan", "Eve"];
/// Five machines share the processors of two.
const PATIENCE: Duration = Duration::from_mins(2);
const GAME: [&str; 6] = ["--game", "gomoku", "--seconds", "110", "--colour", "first"];

struct Room<'a> {
    people: Vec<Player<'a>>,
}

/// Two people at one board: who invites, and who is invited.
#[derive(Clone, Copy, Debug)]
struct Pair(usize, usize);

const EVE_AND_ANN: Pair = Pair(4, 0);
const BEN_AND_ANN: Pair = Pair(1, 0);
const DAN_AND_CEM: Pair = Pair(3, 2);

pub(crate) async fn play(lab: &Lab, cell: &Cell, report: &mut Report) -> Result<()> {
    let people = try_join_all(lab.guests().map(Player::start)).await?;
    ensure!(people.len() == NAMES.len(), "a room has {} devices", NAMES.len());
    let room = Room { people };
    room.find(report).await.context("everybody looks for everybody")?;

    // Each step below names who waits for whom; nobody else's link is needed for it.
    room.meet(EVE_AND_ANN, "eve", report).await.context("Eve meets Ann")?;
    room.meet(DAN_AND_CEM, "dan", report).await.context("Dan meets Cem beside them")?;
    room.refuse(DAN_AND_CEM, "dan-again", report).await.context("Cem refuses")?;
    let first = room.accept(EVE_AND_ANN).await.context("Ann accepts Eve's invitation")?;
    room.by_hand(EVE_AND_ANN, &["a1", "c1", "e1"]).await?;
    room.close(EVE_AND_ANN).await?;
    // Two friends stay linked without a match, and a device beside a link is not heard.
    room.people[4].end_host().await?;

    room.meet(BEN_AND_ANN, "ben", report).await.context("Ben meets Ann, who has left Eve")?;
    let second = room.accept(BEN_AND_ANN).await.context("Ann accepts Ben's invitation")?;
    room.invite(DAN_AND_CEM, "dan-at-last").await?;
    let third = room.accept(DAN_AND_CEM).await.context("Cem accepts Dan's invitation")?;
    let links = lab.air.reading().await?.links;
    report.check(links == 2, || format!("{links} links between two pairs"))?;
    for pair in [BEN_AND_ANN, DAN_AND_CEM] {
        room.by_hand(pair, &["a1", "c1"]).await?;
    }
    let ups = [0, 1, 2, 3].map(|who| room.people[who].see(|view| view.times_up));
    lab.air.fault(Fault::Cut { away: Duration::ZERO }).await?;
    report.cuts += 2;
    for (who, before) in ups.into_iter().enumerate() {
        let back = |view: &View| view.times_up > before;
        room.people[who].within(PATIENCE, "the link to the same peer", back).await?;
    }
    room.bots(&[BEN_AND_ANN, DAN_AND_CEM], "two").await.context("two matches beside each other")?;
    room.close(BEN_AND_ANN).await?;
    room.close(DAN_AND_CEM).await?;
    room.people[1].end_host().await?;
    room.people[4].start_host().await?;
    for who in [0, 4] {
        room.people[who].ctl(&["resume", &first]).await?;
    }
    for who in [0, 4] {
        let up = |view: &View| view.room.as_ref().is_some_and(|room| room.link_up && room.id == first);
        room.people[who].within(PATIENCE, "the match from before", up).await?;
    }
    room.bots(&[EVE_AND_ANN], "one").await.context("the first match to its end")?;
    room.judge(&[(EVE_AND_ANN, first), (BEN_AND_ANN, second), (DAN_AND_CEM, third)], report).await?;
    let reading = lab.air.reading().await?;
    report.att_payload = Some(reading.longest_value);
    cell.holds(&reading.habits, reading.longest_value, report)?;
    // Ben has left.
    room.people[1].start_host().await?;
    for player in &room.people {
        player.stop().await?;
    }
    Ok(())
}

impl Room<'_> {
    /// All scan at once while all are visible.
    async fn find(&self, report: &mut Report) -> Result<()> {
        try_join_all(self.people.iter().zip(NAMES).map(async |(player, name)| {
            player.ctl(&["doctor"]).await.context("the host finds something wrong with this lab")?;
            player.ctl(&["name", name]).await?;
            player.ctl(&["visibility", "everyone"]).await
        }))
        .await?;
        let begun = Instant::now();
        let scan = ["qiyouctl", "scan", "--json", "--seconds", "100"];
        for player in &self.people {
            player.guest.start("scan", User::Player, &scan, Output::Log).await?;
        }
        for (player, own) in self.people.iter().zip(NAMES) {
            let others: BTreeSet<&str> = NAMES.into_iter().filter(|&name| name != own).collect();
            let heard = |view: &View| -> BTreeSet<String> {
                view.nearby.values().filter(|name| !name.is_empty()).cloned().collect()
            };
            let all = |view: &View| heard(view).iter().map(String::as_str).collect::<BTreeSet<_>>() == others;
            player.within(PATIENCE, "the four others", all).await?;
            report.check(true, String::new)?;
        }
        println!("ble-lab: five have found each other after {:.1} s", begun.elapsed().as_secs_f64());
        for player in &self.people {
            // Who looks on is heard less well.
            player.guest.kill("scan").await?;
        }
        Ok(())
    }

    async fn invite(&self, Pair(from, to): Pair, program: &str) -> Result<()> {
        let arguments = [&["qiyouctl", "invite", NAMES[to]], &GAME[..]].concat();
        self.people[from]
            .guest
            .start(&format!("invite-{program}"), User::Player, &arguments, Output::Log)
            .await
    }

    /// Two who do not know each other compare the short string on an invitation.
    async fn meet(&self, pair @ Pair(from, to): Pair, program: &str, report: &mut Report) -> Result<()> {
        let (inviter, invited) = (&self.people[from], &self.people[to]);
        for player in [inviter, invited] {
            player.forget_comparison();
        }
        self.invite(pair, program).await?;
        for player in [inviter, invited] {
            player.within(PATIENCE, "strings to compare", |view| view.comparison.is_some()).await?;
        }
        let shown = [inviter, invited].map(|player| player.see(|view| view.comparison.clone()));
        report.check(shown[0] == shown[1], || format!("{pair:?}: the strings differ: {shown:?}"))?;
        tokio::try_join!(inviter.ctl(&["same"]), invited.ctl(&["same"]))?;
        Ok(())
    }

    /// The invitation that is open is refused, and another one too: the inviter is told, and nobody has a match of it.
    async fn refuse(&self, pair @ Pair(from, to): Pair, program: &str, report: &mut Report) -> Result<()> {
        for again in [false, true] {
            if again {
                self.invite(pair, program).await?;
            }
            let invited = &self.people[to];
            invited.within(PATIENCE, "an invitation", |view| view.invitation.is_some()).await?;
            let declined = InvitationEnd::InvitationDeclined as i32;
            let before = self.people[from].see(|view| view.ends_of_own.len());
            invited.ctl(&["decline", "--reason", "not-now"]).await?;
            self.people[from].within(PATIENCE, "a refusal", |view| view.ends_of_own.len() > before).await?;
            let ends = self.people[from].see(|view| view.ends_of_own.clone());
            report.check(ends.last() == Some(&declined), || format!("refused, and told of {ends:?}"))?;
            let kept = [self.people[from].saved().await?.len(), self.people[to].saved().await?.len()];
            report.check(kept == [0, 0], || format!("of a refused invitation there are {kept:?} matches"))?;
        }
        Ok(())
    }

    /// Returns the id of the match.
    async fn accept(&self, Pair(from, to): Pair) -> Result<String> {
        let invited = &self.people[to];
        invited.within(PATIENCE, "an invitation", |view| view.invitation.is_some()).await?;
        invited.ctl(&["accept"]).await?;
        for who in [from, to] {
            let open = |view: &View| view.room.as_ref().is_some_and(|room| !room.over);
            self.people[who].within(PATIENCE, "a room", open).await?;
        }
        let ids =
            [from, to].map(|who| self.people[who].see(|view| view.room.as_ref().map(|room| room.id.clone())));
        ensure!(ids[0] == ids[1], "one match has two ids: {ids:?}");
        ids[0].clone().context("no room")
    }

    async fn close(&self, Pair(from, to): Pair) -> Result<()> {
        for who in [from, to] {
            self.people[who].ctl(&["close"]).await?;
            self.people[who].forget_room();
        }
        Ok(())
    }

    /// Who is at turn plays each point, and both see it.
    async fn by_hand(&self, Pair(from, to): Pair, points: &[&str]) -> Result<()> {
        for (number, point) in points.iter().enumerate() {
            let may = |view: &View| view.room.as_ref().is_some_and(|room| room.can_act);
            let mover =
                [from, to].into_iter().find(|&who| self.people[who].see(may)).context("nobody may move")?;
            self.people[mover].ctl(&["play", point]).await?;
            for who in [from, to] {
                let seen = |view: &View| view.ply() == number + 1;
                self.people[who].within(PATIENCE, "a move made by hand", seen).await?;
            }
        }
        Ok(())
    }

    /// Bots play the open matches of these pairs to their ends, all at the same time.
    async fn bots(&self, pairs: &[Pair], program: &str) -> Result<()> {
        let seats = || pairs.iter().flat_map(|&Pair(from, to)| [(from, "2"), (to, "1")]);
        for (who, level) in seats() {
            let bot = ["qiyouctl", "bot", "--wait", "30", "--level", level];
            self.people[who].guest.start(&format!("bot-{program}"), User::Player, &bot, Output::Log).await?;
        }
        for (who, _) in seats() {
            self.people[who].within(PATIENCE, "the end of the match", View::over).await?;
        }
        Ok(())
    }

    /// Every match is whole and equal at its two, and nobody else has anything of it.
    async fn judge(&self, matches: &[(Pair, String)], report: &mut Report) -> Result<()> {
        let disks = try_join_all(self.people.iter().map(Player::saved)).await?;
        for (who, disk) in disks.iter().enumerate() {
            let own: BTreeSet<&String> = matches
                .iter()
                .filter(|(Pair(from, to), _)| who == *from || who == *to)
                .map(|(_, id)| id)
                .collect();
            let kept: BTreeSet<&String> = disk.iter().map(|saved| &saved.id).collect();
            report.check(own == kept, || format!("{} has {kept:?}, and played {own:?}", NAMES[who]))?;
        }
        for (Pair(from, to), id) in matches {
            let of = |who: usize| -> Option<&Saved> { disks[who].iter().find(|saved| saved.id == *id) };
            let (one, other) = (of(*from), of(*to));
            let equal = one.is_some() && one == other;
            report.records_equal = Some(report.records_equal.unwrap_or(true) && equal);
            report.check(equal, || format!("the records differ: {one:?}, {other:?}"))?;
            let saved = one.context("no match")?;
            report.check(saved.ending.is_some(), || format!("a match is not over on disk: {saved:?}"))?;
            let points: BTreeSet<&String> = saved.actions.iter().collect();
            report.check(points.len() == saved.actions.len(), || format!("a move is doubled: {saved:?}"))?;
            report.played("gomoku", saved.actions.len());
            println!(
                "ble-lab: {} and {}: {} moves, both records equal",
                NAMES[*from],
                NAMES[*to],
                saved.actions.len()
            );
        }
        Ok(())
    }
}
