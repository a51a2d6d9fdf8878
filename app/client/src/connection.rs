//! A connection that sends one request at a time and waits for its reply.

use std::collections::VecDeque;

use proto::control::{Event, Message, Refusal, RefusalCode, Request, event, reply, request};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf};

use crate::state::HostState;
use crate::stream::{self, FromHost, Lost, Messages, Requests};

/// Why a request got no usable reply.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The host refused the request.
    #[error("{}", .0.detail)]
    Refused(Refusal),
    /// The connection is lost.
    #[error(transparent)]
    Lost(#[from] Lost),
}

/// An attached connection.
#[derive(Debug)]
pub struct Connection<S> {
    requests: Requests<WriteHalf<S>>,
    messages: Messages<ReadHalf<S>>,
    last_request: u64,
    /// Events received while waiting for a reply, oldest first. Few, because the host replies at once.
    unseen: VecDeque<Event>,
    state: HostState,
}

impl<S: AsyncRead + AsyncWrite> Connection<S> {
    /// Attaches and reads the present state. `client`: program and version, for the host's log.
    pub async fn attach(stream: S, client: &str) -> Result<Self, Failure> {
        let (requests, messages) = stream::open(stream);
        let mut connection = Self {
            requests,
            messages,
            last_request: 0,
            unseen: VecDeque::new(),
            state: HostState::default(),
        };
        connection.ask(stream::attach(client)).await?;
        while !matches!(connection.next().await?.body, Some(event::Body::Ready(_))) {}
        Ok(connection)
    }

    /// The state after all events read so far. [`next`](Self::next) may still have to return some of these events.
    pub fn state(&self) -> &HostState {
        &self.state
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, body: request::Body) -> Result<reply::Body, Failure> {
        self.last_request += 1;
        let id = self.last_request;
        let request = Request { id, body: Some(body) };
        // The host would close the connection.
        if let Err(error) = Message::from(request.clone()).check() {
            return Err(Failure::Refused(Refusal {
                code: RefusalCode::RefusalBadRequest.into(),
                detail: format!("what you gave is too long or out of range: {error}"),
                ..Refusal::default()
            }));
        }
        self.requests.send(request).await.map_err(Lost::from)?;
        loop {
            match self.read().await {
                FromHost::Event(event) => self.unseen.push_back(*event),
                FromHost::Reply(reply) if reply.id == id => match reply.body {
                    Some(reply::Body::Refusal(refusal)) => return Err(Failure::Refused(refusal)),
                    Some(body) => return Ok(body),
                    // A message of a newer host, without a body that is known here.
                    None => {}
                },
                FromHost::Reply(_) => {}
                FromHost::Lost(lost) => return Err(lost.into()),
            }
        }
    }

    /// The next event; each event is returned once. Cancel safe: dropping the future loses no event.
    pub async fn next(&mut self) -> Result<Event, Lost> {
        if let Some(event) = self.unseen.pop_front() {
            return Ok(event);
        }
        loop {
            match self.read().await {
                FromHost::Event(event) => return Ok(*event),
                FromHost::Reply(_) => {}
                FromHost::Lost(lost) => return Err(lost),
            }
        }
    }

    async fn read(&mut self) -> FromHost {
        let said = self.messages.next().await;
        if let FromHost::Event(event) = &said {
            self.state.apply(event);
        }
        said
    }
}
