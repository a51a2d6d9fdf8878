"""A peer: a device that meets, plays, loses its link and resumes. Written from docs/protocol.md, without I/O except its file.

A `Device` is the persistent state: keys, friends and matches, in one file that is written before anything that depends on it is sent.
A `Link` is a session with one other device from the hellos on: `handle` takes incoming messages, `take` returns outgoing ones. Events
for the user are in `news`; the methods are the user's actions. `converse.py` runs a link over a stream.

Gomoku only, without clocks. Everything else is answered as section 21 allows.
"""

import json
import os
import secrets
from dataclasses import asdict, dataclass, field

import gomoku
import meeting
import messages as m
import records
from records import Standing

PROTOCOL = 1
MOST_UNSETTLED = 12
MOST_UNSUPPORTED = 32
REST_BY_PLAYS = 16
BY_PLAYERS = (m.RESIGNED, m.TIME)


class Violation(Exception):
    """The peer violated the protocol: the link is closed with a goodbye that says so."""


class NotNow(Exception):
    """The local user requested something impossible."""


@dataclass
class Match:
    """A match as stored on disk, with bytes in hexadecimal."""

    id: bytes
    peer: bytes
    setup: m.Setup
    side: int
    actions: list = field(default_factory=list)
    revision: int = 0
    # Winner (0: a draw) and ending.
    result: tuple | None = None
    paused: bool = False
    # For an own invitation with random colours: its Reveal may have been lost.
    reveal: bytes = b""
    # The own open offer: kind, ply, to_ply, revision.
    offer: dict | None = None
    # Over, and the peer is known to have the same record.
    settled: bool = False

    def digest(self, ply=None):
        return records.digest(self.setup.encode(), self.actions[:ply])

    def standing(self):
        return Standing(self.revision, len(self.actions), self.digest(), self.result, self.paused)

    def position(self):
        return gomoku.Position.after(self.setup, self.actions)

    def mover(self, ply):
        """The side of the action with this number, from 1. In gomoku the sides alternate."""
        return m.FIRST if ply % 2 else m.SECOND

    def is_our_turn(self):
        return not self.result and not self.paused and self.mover(len(self.actions) + 1) == self.side

    def play(self, action):
        """Appends a legal action of either side; raises `gomoku.Illegal`."""
        position = self.position()
        position.play(action)
        self.actions.append(action)
        # A result by the rules takes precedence over a resignation.
        self.result = position.result or self.result

    def begins_with(self, there):
        """Whether the peer's actions, of the same revision, are a prefix of ours."""
        return there.ply <= len(self.actions) and self.digest(there.ply) == there.digest

    # Agreements.

    def take_back_to(self, side, length=None):
        """The record's length (from that length) without this side's last decision and all later actions; `None` without one."""
        length = len(self.actions) if length is None else length
        own = [ply for ply in range(1, length + 1) if self.mover(ply) == side]
        return own[-1] - 1 if own else None

    def may_be_offered(self, kind, to_ply, side):
        over, by_rules = self.result is not None, self.result and self.result[1] < m.RESIGNED
        return {
            m.TAKE_BACK: not self.paused and (not over or by_rules) and to_ply == self.take_back_to(side),
            m.DRAW: not over,
            m.NEW_GAME: over,
            m.NEW_GAME_SAME: over,
            m.PAUSE: not over and not self.paused,
            m.ADJOURN: not over and not self.paused,
            m.CONTINUE: not over and self.paused,
        }.get(kind, False)

    def agreed(self, kind, to_ply):
        """Summary and actions after an offer is accepted; a new game leaves the match unchanged."""
        actions, result, paused, revision = self.actions, self.result, self.paused, self.revision + 1
        if kind == m.TAKE_BACK:
            actions, result = actions[:to_ply], None
        elif kind == m.DRAW:
            result = (0, m.DRAW_AGREED)
        elif kind in (m.PAUSE, m.ADJOURN, m.CONTINUE):
            paused = kind != m.CONTINUE
        else:
            revision = self.revision
        digest = records.digest(self.setup.encode(), actions)
        return Standing(revision, len(actions), digest, result, paused), actions

    def agree(self, kind, to_ply):
        standing, self.actions = self.agreed(kind, to_ply)
        self.revision, _, _, self.result, self.paused = standing

    def next_game(self, kind):
        swapped = kind == m.NEW_GAME
        side = records.other(self.side) if swapped else self.side
        return Match(records.next_id(self.id, self.revision, swapped=swapped), self.peer, self.setup, side)

    # As messages.

    def result_message(self):
        return self.result and m.Result(winner=self.result[0], ending=self.result[1])

    def standing_fields(self):
        return {
            "match_id": self.id,
            "ply": len(self.actions),
            "digest": self.digest(),
            "revision": self.revision,
            "result": self.result_message(),
            "paused": self.paused,
        }

    def record_message(self):
        return m.Record(
            match_id=self.id,
            setup=self.setup,
            sender_side=self.side,
            revision=self.revision,
            actions=b"".join(map(records.packed, self.actions)),
            result=self.result_message(),
            paused=self.paused,
            reveal=self.reveal,
        )

    def play_message(self, ply):
        return m.Play(
            match_id=self.id,
            ply=ply,
            action=records.as_message(self.actions[ply - 1]),
            digest=self.digest(ply),
            revision=self.revision,
        )

    def saved(self):
        words = {name: value.hex() if isinstance(value, bytes) else value for name, value in asdict(self).items()}
        return words | {"setup": self.setup.encode().hex()}

    @staticmethod
    def restored(words):
        binary = {name: bytes.fromhex(words[name]) for name in ("id", "peer", "reveal")}
        setup = m.Setup.decode(bytes.fromhex(words["setup"]))
        result = words["result"] and tuple(words["result"])
        return Match(**words | binary | {"setup": setup, "result": result})


class Device:
    """Keys, friends and matches, on disk."""

    def __init__(self, path, name):
        self.path = path
        self.name = name
        if os.path.exists(path):
            self._read()
            return
        self.private, self.advert_key = secrets.token_bytes(32), secrets.token_bytes(32)
        # Keyed by public key: name and advert key.
        self.friends = {}
        self.matches = {}
        # Accepted invitations with random colours that await the Reveal: by id.
        self.drawings = {}
        self.save()

    @property
    def public(self):
        return meeting.public_key(self.private)

    def _read(self):
        with open(self.path, encoding="utf-8") as file:
            saved = json.load(file)
        self.private, self.advert_key = bytes.fromhex(saved["private"]), bytes.fromhex(saved["advert_key"])
        self.friends = {bytes.fromhex(key): friend for key, friend in saved["friends"].items()}
        self.matches = {bytes.fromhex(key): Match.restored(words) for key, words in saved["matches"].items()}
        self.drawings = {bytes.fromhex(key): drawing for key, drawing in saved["drawings"].items()}

    def save(self):
        """Writes atomically; on disk when this returns."""
        saved = {
            "private": self.private.hex(),
            "advert_key": self.advert_key.hex(),
            "friends": {key.hex(): friend for key, friend in self.friends.items()},
            "matches": {key.hex(): match.saved() for key, match in self.matches.items()},
            "drawings": {key.hex(): drawing for key, drawing in self.drawings.items()},
        }
        beside = f"{self.path}.new"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(saved, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def unsettled(self, peer):
        return [match for match in self.matches.values() if match.peer == peer and not match.settled]

    def play(self, match, action):
        """The local user's action, with or without a link: stored, to be sent."""
        if not match.is_our_turn():
            raise NotNow("it is not this side's turn")
        match.play(action)
        self.save()


AWAY, ASKED, LEVEL, DIFFERS = "away", "asked", "level", "differs"


@dataclass
class Reach:
    """The state of a match on this link; discarded with it."""

    state: str = AWAY
    # The peer's summary, as far as known.
    there: Standing | None = None
    record_sent: bool = False
    theirs: Match | None = None
    # Own offers are numbered from 1; the number of the open one.
    offers: int = 0
    open_offer: int = 0
    # The peer's offers: the last number, and the one that awaits an answer.
    last_offer: int = 0
    their_offer: m.Offer | None = None


GREETING, COMPARING, UP, OVER = "greeting", "comparing", "up", "over"
ALLOWED = {
    GREETING: (m.Hello, m.Bye, m.Unsupported),
    COMPARING: (m.Pair, m.Ping, m.Pong, m.Bye, m.Unsupported),
}


class Link:
    """A session with `peer` (its public key), from the hellos on."""

    def __init__(self, device, peer, handshake_hash, dialer):
        self.device, self.peer = device, peer
        self.handshake_hash, self.dialer = handshake_hash, dialer
        self.phase = GREETING
        # The reason of the end: the number of a goodbye of either side.
        self.reason = None
        self.news = []
        self.hello = None
        self.string = None
        self.reach = {}
        # The peer's invitations that await the local user, and records of unknown matches.
        self.invitations = {}
        self.questions = {}
        # The own open invitation.
        self.inviting = None
        self._answered = {}
        self._out = []
        self._unsupported = set()
        # State of the first meeting.
        self._nonce = secrets.token_bytes(32)
        self._commitment = self._their_nonce = None
        self._verdict = self._their_verdict = None
        self._told = {}
        self._send(self._own_hello())

    # Output and input.

    def take(self):
        """The messages to be sent, in order. Everything they depend on is on disk."""
        out, self._out = self._out, []
        return out

    def _send(self, message):
        if self.phase != OVER:
            self._out.append(message)

    def leave(self, reason=m.LEAVING):
        if self.phase != OVER:
            self._send(m.Bye(reason=reason))
            self._end(reason)

    def _end(self, reason):
        self.phase, self.reason = OVER, reason

    def handle(self, msgid, payload):
        """Handles a message of the peer. `ValueError` for an invalid one: the link is then closed without a goodbye."""
        if self.phase == OVER:
            return
        kind = m.BY_NUMBER.get(msgid)
        if kind is None:
            if msgid in m.PASSED_OVER:
                if self.phase != UP:
                    self.leave(m.VIOLATION)
            elif msgid not in self._unsupported and len(self._unsupported) < MOST_UNSUPPORTED:
                self._unsupported.add(msgid)
                self._send(m.Unsupported(msgid=msgid))
            return
        message = kind.decode(payload)
        try:
            allowed = ALLOWED.get(self.phase)
            if kind not in allowed if allowed else kind in (m.Hello, m.Pair):
                raise Violation(f"{kind.__name__} while {self.phase}")
            getattr(self, f"_on_{kind.__name__.lower()}")(message)
        except Violation as violation:
            self.news.append(("violation", str(violation)))
            self.leave(m.VIOLATION)

    def _on_ping(self, ping):
        self._send(m.Pong(token=ping.token))

    def _on_pong(self, pong):
        pass

    def _on_unsupported(self, unsupported):
        pass

    def _on_bye(self, bye):
        self._end(bye.reason)

    # Hello, and the first meeting.

    def _knows(self):
        return self.peer in self.device.friends

    def _own_hello(self):
        hello = m.Hello(
            lowest_version=PROTOCOL, highest_version=PROTOCOL, name=self.device.name, games=[m.GOMOKU],
            wants_comparison=not self._knows(),
        )  # fmt: skip
        if self._knows():
            hello.advert_key = self.device.advert_key
            self._told = {match.id: match.standing() for match in self.device.unsettled(self.peer)}
            hello.matches = [
                m.ResumePoint(**self.device.matches[match].standing_fields()) for match in self._told
            ]
        return hello

    def _on_hello(self, hello):
        if hello.lowest_version > hello.highest_version:
            raise Violation("a hello of versions upside down")
        if not hello.lowest_version <= PROTOCOL <= hello.highest_version:
            return self.leave(m.VERSION)
        self.hello = hello
        if self._knows() and not hello.wants_comparison:
            friend = {"name": hello.name, "advert_key": hello.advert_key.hex()}
            if hello.advert_key and self.device.friends[self.peer] != friend:
                self.device.friends[self.peer] = friend
                self.device.save()
            self._up()
        else:
            self.phase = COMPARING
            if self.dialer:
                self._send(m.Pair(commitment=records.commitment(self._nonce)))

    def _on_pair(self, pair):
        step = pair.which()
        if step == "commitment" and not self.dialer and self._commitment is None:
            self._commitment = pair.commitment
            self._send(m.Pair(nonce=self._nonce))
        elif step == "nonce" and self.dialer and self.string is None:
            self._send(m.Pair(reveal=self._nonce))
            self._show(self._nonce, pair.nonce)
        elif step == "reveal" and self._commitment is not None and self.string is None:
            if records.commitment(pair.reveal) != self._commitment:
                raise Violation("another nonce than was committed to")
            self._show(pair.reveal, self._nonce)
        elif step == "verdict" and self.string is not None and self._their_verdict is None:
            self._their_verdict = pair.verdict
            self._judge()
        else:
            raise Violation(f"a {step} out of turn")

    def _show(self, nonce_a, nonce_b):
        self.string = meeting.short_string(self.handshake_hash, nonce_a, nonce_b)
        self.news.append(("string", self.string))

    def compare(self, same):
        """The local user's verdict about the strings."""
        if self.phase != COMPARING or self.string is None or self._verdict is not None:
            raise NotNow("there is nothing to compare")
        self._verdict = same
        self._send(m.Pair(verdict=m.Verdict(same=same, advert_key=self.device.advert_key if same else b"")))
        self._judge()

    def _judge(self):
        theirs = self._their_verdict
        if self._verdict is False or theirs and not theirs.same:
            self.leave(m.STRINGS_DIFFER)
        elif self._verdict and theirs:
            self.device.friends[self.peer] = {"name": self.hello.name, "advert_key": theirs.advert_key.hex()}
            self.device.save()
            self.news.append(("friends", self.hello.name))
            self._up()

    def _up(self):
        self.phase = UP
        self._resume({point.match_id: standing_of(point) for point in self.hello.matches})

    # Invitations.

    def _on_invite(self, invite):
        if invite.colours == m.DRAWN and not invite.commitment:
            raise Violation("colours are to be drawn, and there is no commitment")
        earlier = self._answered.get(invite.invite_id) or self._answer_of(invite)
        if earlier:
            return self._send(earlier)
        if self.inviting and invite.counters == self.inviting[0].invite_id:
            # A counter-offer to our invitation.
            self.inviting = None
        if not gomoku.is_known(invite.setup):
            self._decline(invite.invite_id, m.UNKNOWN_GAME)
        elif invite.pace and invite.pace.kind:
            self._decline(invite.invite_id, m.OTHER_RULES)
        elif self._is_full() or self.invitations.keys() - {invite.invite_id}:
            self._decline(invite.invite_id, m.BUSY)
        elif self.inviting and self._cross(invite):
            return
        elif invite.invite_id not in self.invitations:
            self.invitations[invite.invite_id] = invite
            self.news.append(("invitation", invite))

    def _is_full(self):
        return len(self.device.unsettled(self.peer)) >= MOST_UNSETTLED

    def _answer_of(self, invite):
        """The answer to an invitation accepted on an earlier link."""
        match = self.device.matches.get(invite.invite_id)
        drawing = self.device.drawings.get(invite.invite_id)
        if drawing:
            return m.InviteAnswer(invite_id=invite.invite_id, accept=True, nonce=bytes.fromhex(drawing["nonce"]))
        if match and match.peer == self.peer:
            return m.InviteAnswer(invite_id=match.id, accept=True)
        return None

    def _cross(self, invite):
        """Of two crossing invitations the one with the lower id wins. Whether that is ours."""
        ours = self.inviting[0]
        if ours.invite_id < invite.invite_id:
            # Its sender withdraws the other one.
            return True
        self.inviting = None
        self._send(m.Withdraw(invite_id=ours.invite_id))
        if (ours.setup, ours.pace) == (invite.setup, invite.pace):
            self.invitations[invite.invite_id] = invite
            self.accept(invite.invite_id)
            return True
        return False

    def _decline(self, invite_id, reason):
        self._answer(m.InviteAnswer(invite_id=invite_id, decline=reason))

    def _answer(self, answer):
        self._answered[answer.invite_id] = answer
        self._send(answer)

    def decline(self, invite_id, reason=m.NOT_NOW):
        if self.invitations.pop(invite_id, None) is None and self.questions.pop(invite_id, None) is None:
            raise NotNow("there is no such invitation")
        self._decline(invite_id, reason)

    def accept(self, invite_id):
        """Accepts an invitation, or the continuation of a match that this device does not have."""
        if match := self.questions.pop(invite_id, None):
            self._begin(match)
            return self._ack(match)
        invite = self.invitations.pop(invite_id, None)
        if invite is None:
            raise NotNow("there is no such invitation")
        if invite.colours == m.DRAWN:
            nonce = secrets.token_bytes(32)
            self.device.drawings[invite_id] = {
                "peer": self.peer.hex(),
                "setup": invite.setup.encode().hex(),
                "commitment": invite.commitment.hex(),
                "nonce": nonce.hex(),
            }
            self.device.save()
            return self._answer(m.InviteAnswer(invite_id=invite_id, accept=True, nonce=nonce))
        side = m.SECOND if invite.colours == m.INVITER_FIRST else m.FIRST
        self._begin(Match(invite_id, self.peer, invite.setup, side))
        self._answer(m.InviteAnswer(invite_id=invite_id, accept=True))

    def _begin(self, match):
        self.device.matches[match.id] = match
        self.device.drawings.pop(match.id, None)
        self.device.save()
        self.reach[match.id] = Reach(LEVEL)
        self.news.append(("match", match))

    def _draw(self, invite_id, reveal):
        """The match of a revealed colour drawing; `Violation` if the Reveal does not match the commitment."""
        drawing = self.device.drawings[invite_id]
        if records.commitment(reveal).hex() != drawing["commitment"]:
            raise Violation("another nonce than was committed to")
        inviter = records.inviter_side(invite_id, reveal, bytes.fromhex(drawing["nonce"]))
        setup = m.Setup.decode(bytes.fromhex(drawing["setup"]))
        return Match(invite_id, self.peer, setup, records.other(inviter))

    def _drawing_of(self, invite_id):
        drawing = self.device.drawings.get(invite_id)
        return drawing and drawing["peer"] == self.peer.hex()

    def _on_reveal(self, reveal):
        if self._drawing_of(reveal.invite_id):
            match = self._draw(reveal.invite_id, reveal.nonce)
            self._begin(match)
            self._ack(match)

    def _on_withdraw(self, withdraw):
        if self.invitations.pop(withdraw.invite_id, None):
            self.news.append(("withdrawn", withdraw.invite_id))

    def invite(self, setup, colours=m.DRAWN):
        if self.phase != UP or self.inviting or self._is_full():
            raise NotNow("no invitation can be sent")
        nonce = secrets.token_bytes(32)
        commitment = records.commitment(nonce) if colours == m.DRAWN else b""
        invite = m.Invite(invite_id=secrets.token_bytes(16), setup=setup, colours=colours, commitment=commitment)
        self.inviting = (invite, nonce)
        self._send(invite)
        return invite.invite_id

    def _on_inviteanswer(self, answer):
        if self.inviting and answer.invite_id == self.inviting[0].invite_id:
            (invite, nonce), self.inviting = self.inviting, None
            if not answer.accept:
                return self.news.append(("declined", answer.decline))
            if invite.colours != m.DRAWN:
                side = m.FIRST if invite.colours == m.INVITER_FIRST else m.SECOND
                match = Match(invite.invite_id, self.peer, invite.setup, side)
                self._begin(match)
                return self._ack(match)
            if not answer.nonce:
                raise Violation("colours are drawn, and there is no nonce")
            side = records.inviter_side(invite.invite_id, nonce, answer.nonce)
            self._begin(Match(invite.invite_id, self.peer, invite.setup, side, reveal=nonce))
            self._send(m.Reveal(invite_id=invite.invite_id, nonce=nonce))
        elif answer.invite_id in self.device.matches:
            # For a record that the peer does not continue, or an invitation already answered.
            if answer.decline is not None:
                self.news.append(("declined", answer.decline))
        elif answer.accept:
            self._decline(answer.invite_id, m.NOT_NOW)

    # Playing.

    def _level(self, match_id):
        """The match, if messages about it are allowed on this link."""
        match = self._ours(match_id)
        return match if match and self.reach[match_id].state == LEVEL else None

    def _ours(self, match_id):
        match = self.device.matches.get(match_id)
        if match is None or match.peer != self.peer:
            return None
        self.reach.setdefault(match_id, Reach())
        return match

    def _ack(self, match, wants_rest=False):
        self._send(m.Ack(**match.standing_fields(), wants_rest=wants_rest))

    def play(self, match, action):
        self.device.play(match, action)
        if self._level(match.id):
            self._refuse_offer(match)
            self._send(match.play_message(len(match.actions)))

    def resign(self, match):
        if match.result:
            raise NotNow("it is over")
        match.result = (records.other(match.side), m.RESIGNED)
        self.device.save()
        if self._level(match.id):
            self._refuse_offer(match)
            self._send(m.Resign(match_id=match.id, ply=len(match.actions), revision=match.revision))

    def _on_play(self, play):
        match = self._level(play.match_id)
        if match is None or play.revision < match.revision:
            return
        if play.revision > match.revision:
            raise Violation("a play of a newer revision")
        if play.ply == 0 or play.ply <= len(match.actions):
            if play.ply == 0 or match.digest(play.ply) != play.digest:
                raise Violation("another record than was agreed upon")
            return self._ack(match)
        if play.ply > len(match.actions) + 1:
            return self._ack(match, wants_rest=True)
        if match.mover(play.ply) == match.side or match.paused:
            raise Violation("a play out of turn")
        try:
            action = records.of_message(play.action)
            if records.digest(match.setup.encode(), match.actions + [action]) != play.digest:
                raise Violation("another digest after it")
            match.play(action)
        except ValueError as error:
            raise Violation(f"an illegal play: {error}") from error
        self.device.save()
        self._heard(match, match.standing())
        self._refuse_offer(match, unless_it_stands=True)
        self._ack(match)
        self.news.append(("played", action))

    def _on_resign(self, resign):
        match = self._level(resign.match_id)
        if match is None:
            return
        self._gave_up(match, (match.side, m.RESIGNED))
        self._heard(match, match.standing())
        self._ack(match)

    def _gave_up(self, match, result):
        """Handles the peer's resignation. A result by the rules or a draw takes precedence; of two resignations the first side's counts."""
        if match.result is None or (match.result[1] in BY_PLAYERS and match.side == m.SECOND):
            if match.result != result:
                match.result = result
                self.device.save()

    def _heard(self, match, there):
        """Marks that the peer is known to have this."""
        self.reach[match.id].there = there
        if match.result and there == match.standing() and not match.settled and not match.offer:
            match.settled = True
            self.device.save()

    def _on_ack(self, ack):
        match = self._ours(ack.match_id)
        if match is None:
            return
        reach, there = self.reach[match.id], standing_of(ack)
        if reach.state == LEVEL:
            self._learn(match, there, rest=ack.wants_rest)
            if ack.wants_rest and there.revision < match.revision:
                self._send_record(match)
        elif reach.state == ASKED:
            reach.state = LEVEL
            self._learn(match, there, rest=True)
            self._offer_again(match)
        elif reach.state == DIFFERS and there == match.standing():
            reach.state = LEVEL
            self._heard(match, there)

    # Offers.

    def offer(self, match, kind):
        """Makes an offer of the local user."""
        to_ply = match.take_back_to(match.side) if kind == m.TAKE_BACK else len(match.actions)
        if self._level(match.id) is None or match.offer or not match.may_be_offered(kind, to_ply, match.side):
            raise NotNow("it cannot be offered")
        match.offer = {"kind": kind, "ply": len(match.actions), "to_ply": to_ply, "revision": match.revision}
        self.device.save()
        self._send_offer(match)

    def _send_offer(self, match):
        reach = self.reach[match.id]
        reach.offers += 1
        reach.open_offer = reach.offers
        self._send(m.Offer(match_id=match.id, offer_id=reach.offers, **match.offer))

    def _offer_again(self, match):
        """After a lost link: repeats the offers that are still valid, and drops the others."""
        if match.offer and not self.reach[match.id].open_offer and self.reach[match.id].state == LEVEL:
            same = (match.offer["ply"], match.offer["revision"]) == (len(match.actions), match.revision)
            if same and match.may_be_offered(match.offer["kind"], match.offer["to_ply"], match.side):
                self._send_offer(match)
            else:
                self._drop_offer(match)

    def _drop_offer(self, match):
        match.offer = None
        self.device.save()
        self.reach[match.id].open_offer = 0

    def _on_offer(self, offer):
        match = self._ours(offer.match_id)
        if match is None or self.reach[match.id].state != LEVEL:
            return self._send(m.OfferAnswer(match_id=offer.match_id, offer_id=offer.offer_id))
        reach = self.reach[match.id]
        if offer.offer_id <= reach.last_offer:
            return
        if reach.their_offer or offer.revision > match.revision:
            raise Violation("a second offer, or one of a newer revision")
        theirs = records.other(match.side)
        is_take_back = offer.kind == m.TAKE_BACK and offer.revision == match.revision
        if offer.ply > len(match.actions) or is_take_back and offer.to_ply != match.take_back_to(theirs, offer.ply):
            raise Violation("an offer that was never possible")
        reach.last_offer = offer.offer_id
        reach.their_offer = offer
        if offer.revision < match.revision or not match.may_be_offered(offer.kind, offer.to_ply, theirs):
            self._answer_offer(match, False)
        elif match.offer and match.side == m.FIRST:
            # Both sides made an offer at the same time.
            self._answer_offer(match, False)
        elif not match.offer:
            self.news.append(("offer", offer))

    def answer(self, match, accept):
        """Answers the peer's offer for the local user."""
        if not self._level(match.id) or match.offer or not self.reach[match.id].their_offer:
            raise NotNow("nothing is offered")
        self._answer_offer(match, accept)

    def _answer_offer(self, match, accept):
        reach = self.reach[match.id]
        offer, reach.their_offer = reach.their_offer, None
        answer = m.OfferAnswer(match_id=match.id, offer_id=offer.offer_id, accept=accept)
        if not accept:
            return self._send(answer)
        new = self._agree(match, offer.kind, offer.to_ply)
        answer.ply, answer.revision = len(match.actions), match.revision
        self._send(answer)
        if new:
            self.news.append(("match", new))

    def _agree(self, match, kind, to_ply):
        """Stores an accepted offer; returns the following match, if any."""
        if kind in (m.NEW_GAME, m.NEW_GAME_SAME):
            new = match.next_game(kind)
            if new.id in self.device.matches:
                return None
            self.device.matches[new.id] = new
            self.reach[new.id] = Reach(LEVEL)
        else:
            new = None
            match.agree(kind, to_ply)
        match.offer = None
        self.reach[match.id].open_offer = 0
        self.device.save()
        return new

    def _refuse_offer(self, match, unless_it_stands=False):
        """An action declines the opponent's offer. An action of the offering side leaves its earlier offer valid."""
        offer = self.reach[match.id].their_offer
        if offer and not (unless_it_stands and offer.ply == len(match.actions)):
            self._answer_offer(match, False)

    def _on_offeranswer(self, answer):
        match = self._level(answer.match_id)
        reach = match and self.reach[match.id]
        if not match or not match.offer or answer.offer_id != reach.open_offer:
            return
        kind, to_ply = match.offer["kind"], match.offer["to_ply"]
        if answer.accept:
            standing, _ = match.agreed(kind, to_ply)
            if (answer.ply, answer.revision) != (standing.ply, standing.revision):
                raise Violation("another record than was offered")
            new = self._agree(match, kind, to_ply)
            self._ack(new or match)
            self._heard(match, match.standing())
            self.news.append(("agreed", kind))
            if new:
                self.news.append(("match", new))
        else:
            self._drop_offer(match)
            self.news.append(("refused", kind))
        if reach.their_offer:
            if answer.accept:
                self._answer_offer(match, False)
            elif kind == reach.their_offer.kind != m.TAKE_BACK:
                # Both made the same offer.
                self._answer_offer(match, True)
                self.news.append(("agreed", kind))
            else:
                self.news.append(("offer", reach.their_offer))

    # Resume.

    def _resume(self, told):
        for match in [match for match in self.device.matches.values() if match.peer == self.peer]:
            reach = self.reach[match.id] = Reach()
            if match.id in told:
                reach.state = LEVEL
                self._learn(match, told[match.id], rest=True)
                if reach.state == LEVEL and self._told.get(match.id) != match.standing():
                    self._ack(match)
                self._offer_again(match)
            elif match.settled:
                reach.state, reach.there = LEVEL, match.standing()
            else:
                reach.state = ASKED
                self._send_record(match)

    def _learn(self, match, there, rest):
        """Handles the summary of the peer's record; with `rest`, sends the actions it lacks."""
        reach = self.reach[match.id]
        self._take_consent(match, there)
        if there.revision > match.revision:
            if match.offer and there.revision == match.revision + 1 and there.ply > len(match.actions):
                # Accepted after an action that has not arrived here; it comes with the record.
                return self._ack(match, wants_rest=True)
            return self._differ(match)
        same = there.revision == match.revision
        if same:
            if there.ply <= len(match.actions) and not match.begins_with(there):
                return self._differ(match)
            if there.paused != match.paused and not there.result and not match.result:
                return self._differ(match)
        if there.result and there.result[1] in BY_PLAYERS and there.result[0] == match.side:
            self._gave_up(match, there.result)
        elif same and there.result and there.ply == len(match.actions) and there.result != match.result:
            gave_up = match.result and match.result[1] in BY_PLAYERS
            if not gave_up:
                return self._differ(match)
        if same:
            self._heard(match, there)
            if rest and there.ply < len(match.actions):
                self._send_rest(match, there.ply)
        ours = match.result and match.result[1] in BY_PLAYERS and match.result[0] != match.side
        if rest and ours and there.result != match.result:
            self._send(m.Resign(match_id=match.id, ply=len(match.actions), revision=match.revision))

    def _take_consent(self, match, there):
        """The answer to our offer was lost, and the peer's summary shows that the offer was accepted."""
        if match.offer and match.offer["kind"] not in (m.NEW_GAME, m.NEW_GAME_SAME):
            kind, to_ply = match.offer["kind"], match.offer["to_ply"]
            offered_at = (match.offer["ply"], match.offer["revision"]) == (len(match.actions), match.revision)
            if offered_at and match.agreed(kind, to_ply)[0] == there:
                self._agree(match, kind, to_ply)
                self.news.append(("agreed", kind))

    def _send_rest(self, match, ply):
        rest = range(ply + 1, len(match.actions) + 1)
        if len(rest) <= REST_BY_PLAYS and all(match.mover(number) == match.side for number in rest):
            for number in rest:
                self._send(match.play_message(number))
        else:
            self._send_record(match)

    def _send_record(self, match):
        # Once per link, so that records are not exchanged endlessly.
        if not self.reach[match.id].record_sent:
            self.reach[match.id].record_sent = True
            self._send(match.record_message())

    def _differ(self, match):
        reach = self.reach[match.id]
        if reach.state != DIFFERS:
            reach.state = DIFFERS
            if reach.their_offer:
                self._answer_offer(match, False)
            if match.offer:
                self._drop_offer(match)
            self.news.append(("differs", match.id))
        self._send_record(match)

    def take_theirs(self, match):
        """Gives up the own record where the two records have diverged."""
        reach = self.reach[match.id]
        if reach.state != DIFFERS or reach.theirs is None:
            raise NotNow("there is no other record")
        match.actions, match.revision = reach.theirs.actions, reach.theirs.revision
        match.result, match.paused, reach.theirs = reach.theirs.result, reach.theirs.paused, None
        self.device.save()
        reach.state = LEVEL
        self._heard(match, match.standing())
        self._ack(match)

    def _on_record(self, record):
        theirs = self._replayed(record)
        known = self.device.matches.get(record.match_id)
        if known and known.peer != self.peer:
            return
        if known:
            if (known.setup, known.side) != (theirs.setup, theirs.side):
                raise Violation("a record of other terms")
            return self._compare(self._ours(known.id), theirs)
        untouched = not any(theirs.mover(ply) == theirs.side for ply in range(1, len(theirs.actions) + 1))
        if self._drawing_of(theirs.id) and record.reveal:
            drawn = self._draw(theirs.id, record.reveal)
            if (drawn.setup, drawn.side) != (theirs.setup, theirs.side):
                raise Violation("a record of other terms than were drawn")
            if untouched and theirs.revision == 0:
                self._begin(theirs)
                self._ack(theirs)
        elif self._asked_for(theirs) and untouched and theirs.revision == 0:
            self._begin(theirs)
            self._ack(theirs)
        elif theirs.result:
            # Nothing is left to play: the peer can settle it.
            self._ack(theirs)
        elif theirs.id not in self.questions:
            self.questions[theirs.id] = theirs
            self.news.append(("question", theirs))

    def _replayed(self, record):
        if not gomoku.is_known(record.setup) or (record.pace and record.pace.kind) or not record.sender_side:
            raise Violation("a record that cannot be replayed")
        match = Match(record.match_id, self.peer, record.setup, records.other(record.sender_side))
        try:
            for action in records.unpacked(record.actions):
                match.play(action)
        except ValueError as error:
            raise Violation(f"a record that cannot be replayed: {error}") from error
        if len(match.actions) > m.MOST_PLIES or (match.result and not record.result):
            raise Violation("a record without its end")
        result = result_of(record.result)
        if result and result[1] < m.RESIGNED and result != match.result:
            raise Violation("a record with another end than the rules'")
        if result and match.result and result != match.result:
            raise Violation("a record with two ends")
        match.revision, match.result, match.paused = record.revision, result, record.paused
        return match

    def _asked_for(self, theirs):
        """A new game offered by us whose acceptance was lost. An invitation of ours ends with its link."""
        for match in self.device.unsettled(self.peer) + list(self.device.matches.values()):
            if match.offer and match.offer["kind"] in (m.NEW_GAME, m.NEW_GAME_SAME) and match.peer == self.peer:
                new = match.next_game(match.offer["kind"])
                if (new.id, new.setup, new.side) == (theirs.id, theirs.setup, theirs.side):
                    self._drop_offer(match)
                    return True
        return False

    def _compare(self, match, theirs):
        """Compares the peer's whole record with ours."""
        reach, there = self.reach[match.id], theirs.standing()
        self._take_agreed(match, theirs)
        mine = match.standing()
        if there == mine:
            reach.state = LEVEL
            self._heard(match, there)
            return self._ack(match)
        longer = theirs.actions[: mine.ply] == match.actions
        new = range(mine.ply + 1, there.ply + 1)
        if there.revision != mine.revision:
            self._differ_with(match, theirs)
        elif longer and all(match.mover(ply) != match.side for ply in new) and not self._contradicts(match, theirs):
            reach.state = LEVEL
            for ply in new:
                match.play(theirs.actions[ply - 1])
            match.paused = there.paused
            self.device.save()
            self._learn(match, there, rest=True)
            if reach.state == LEVEL:
                self._ack(match)
        elif match.begins_with(there) and not reach.record_sent:
            reach.state = LEVEL
            self._learn(match, there, rest=True)
        else:
            self._differ_with(match, theirs)

    def _contradicts(self, match, theirs):
        paused = theirs.paused != match.paused and not theirs.result and not match.result
        drawn = theirs.result and theirs.result[1] == m.DRAW_AGREED and match.result != theirs.result
        return paused or drawn

    def _take_agreed(self, match, theirs):
        """The effect of our accepted offer, after the peer's actions that come with the record."""
        if not match.offer or theirs.revision != match.revision + 1:
            return
        kind, to_ply = match.offer["kind"], match.offer["to_ply"]
        before = match.actions if kind != m.TAKE_BACK else match.actions[:to_ply]
        if theirs.actions[: len(before)] != before:
            return
        new = range(len(before) + 1, len(theirs.actions) + 1)
        if all(match.mover(ply) != match.side for ply in new):
            self._agree(match, kind, to_ply)
            for ply in new:
                match.play(theirs.actions[ply - 1])
            self.device.save()
            self.news.append(("agreed", kind))

    def _differ_with(self, match, theirs):
        self._differ(match)
        self.reach[match.id].theirs = theirs


def result_of(message):
    return message and (message.winner, message.ending)


def standing_of(message):
    """The summary of a ResumePoint or an Ack."""
    return Standing(message.revision, message.ply, message.digest, result_of(message.result), message.paused)
