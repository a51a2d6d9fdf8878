//! Commands about engines that the user has installed.

use std::time::Duration;

use client::{json, words};
use proto::control::{self, Engine, EngineProtocol, reply, request};

use crate::arguments::{EngineCommand, EngineProtocolChoice};
use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected};

/// Longest trial: a greeting, which may read a large network, and a move; or all protocols.
const TRIAL: Duration = Duration::from_mins(2);

impl Conversation {
    pub(crate) async fn engine(&mut self, command: EngineCommand) -> Result<(), Failure> {
        match command {
            EngineCommand::List => self.print_engines(&self.host.state().engines),
            EngineCommand::Find => {
                let asked = request::Body::FindEngines(control::FindEngines {});
                let reply::Body::Engines(found) = self.host.ask(asked).await? else {
                    return Err(unexpected());
                };
                self.print_engines(&found.engines)
            }
            EngineCommand::Add { program, name, protocol, arguments } => {
                let protocol = match protocol {
                    None => EngineProtocol::Unspecified,
                    Some(EngineProtocolChoice::Uci) => EngineProtocol::Uci,
                    Some(EngineProtocolChoice::Ucci) => EngineProtocol::Ucci,
                    Some(EngineProtocolChoice::Gtp) => EngineProtocol::Gtp,
                    Some(EngineProtocolChoice::Gomocup) => EngineProtocol::Gomocup,
                };
                let add = control::AddEngine { program, arguments, protocol: protocol.into(), name };
                let reply::Body::Engine(added) =
                    self.host.ask_within(TRIAL, request::Body::AddEngine(add)).await?
                else {
                    return Err(unexpected());
                };
                self.print(|| line(&added), || json::engine(&added))
            }
            EngineCommand::Remove { name } => {
                self.ask_done(request::Body::RemoveEngine(control::RemoveEngine { name })).await
            }
        }
    }

    fn print_engines(&self, engines: &[Engine]) -> Result<(), Failure> {
        engines.iter().try_for_each(|one| self.print(|| line(one), || json::engine(one)))
    }
}

/// An engine in one line.
fn line(one: &Engine) -> String {
    let confined = if one.confined { "" } else { ", without a sandbox" };
    let missing = if one.missing { ", THE PROGRAM IS MISSING" } else { "" };
    let command = std::iter::once(&one.program).chain(&one.arguments).cloned().collect::<Vec<_>>().join(" ");
    let (game, protocol) = (words::game(one.game), words::protocol(one.protocol));
    format!("{}  {game} by {protocol}{confined}{missing}  {command}", one.name)
}
