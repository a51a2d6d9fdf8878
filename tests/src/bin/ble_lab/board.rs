//! The longest record of a game of gomoku: all 225 points taken and nobody with five in a row, as a file that a host imports.

use anyhow::{Context, Result, bail};
use client::{FromHost, Lost};
use proto::control::{Import, Request, reply, request};
use tokio::net::UnixStream;

/// Lines of the board.
const SIZE: usize = 15;

/// A game in which both take their points in the order of the rows. Of five in any direction some are the other's.
fn whole_board() -> String {
    let points = || (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y)));
    let is_black = |&(x, y): &(usize, usize)| (x / 2 + y) % 2 == 0;
    let (black, white): (Vec<_>, Vec<_>) = points().partition(is_black);
    let mut text = format!("(;FF[4]GM[4]SZ[{SIZE}]");
    let letter = |at: usize| char::from(b'a' + at as u8);
    for number in 0..SIZE * SIZE {
        let (colour, points) = if number % 2 == 0 { ('B', &black) } else { ('W', &white) };
        let (x, y) = points[number / 2];
        text.extend([';', colour, '[', letter(x), letter(y), ']']);
    }
    text.push(')');
    text
}

pub(crate) const MOVES: usize = SIZE * SIZE;

/// Prints the id of the kept match.
pub(crate) async fn import() -> Result<()> {
    let directory = std::env::var("XDG_RUNTIME_DIR").context("XDG_RUNTIME_DIR")?;
    let stream = UnixStream::connect(format!("{directory}/qiyou/control.sock")).await?;
    let (mut requests, mut messages) = client::open(stream);
    requests.send(Request { id: 1, body: Some(client::attach("ble-lab-import")) }).await?;
    let import = Import { name: "board.sgf".into(), content: whole_board().into() };
    requests.send(Request { id: 2, body: Some(request::Body::Import(import)) }).await?;
    loop {
        match messages.next().await {
            FromHost::Reply(reply) if reply.id == 2 => match reply.body {
                Some(reply::Body::RoomId(id)) => {
                    println!("{id}");
                    return Ok(());
                }
                other => bail!("the import was answered with {other:?}"),
            },
            FromHost::Reply(_) | FromHost::Event(_) => {}
            FromHost::Lost(Lost::Closed) => bail!("the host is gone"),
            FromHost::Lost(lost) => return Err(lost.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_taken_once_and_nobody_has_five() {
        let text = whole_board();
        let moves: Vec<&str> = text.trim_end_matches(')').split(';').skip(2).collect();
        assert_eq!(moves.len(), MOVES);
        let mut taken = std::collections::BTreeMap::new();
        for stone in moves {
            let bytes = stone.as_bytes();
            let at = (i32::from(bytes[2] - b'a'), i32::from(bytes[3] - b'a'));
            assert_eq!(taken.insert(at, bytes[0]), None);
        }
        for (&(x, y), colour) in &taken {
            for (dx, dy) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let five = (0..5).all(|n| taken.get(&(x + n * dx, y + n * dy)) == Some(colour));
                assert!(!five, "{x} {y} {dx} {dy}");
            }
        }
    }
}
