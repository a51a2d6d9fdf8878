"""A whole match of the peer in `peer.py` against a host, with every kind of link failure.

`hands` acts for the host's user, with arguments of `qiyouctl`; `dial` opens a link over the radio or network. `check` counts assertions
and raises if one fails.
"""

import asyncio
import json
import os

import gomoku
import messages as m
import records
from peer import UP, Device

# Neither list contains a five, except the stranger's whole list.
HOSTS = [gomoku.point_named(name) for name in "a1 c1 e1 g1 i1 k1 m1 o1 a3 c3 e3".split()]
STRANGERS = [gomoku.point_named(name) for name in "d8 e8 f8 g8 h8".split()]
# Limit for the host to process and show a message.
SHOWN_WITHIN = 45.0
LOOK_EVERY = 0.1


class Game:
    def __init__(self, device: Device, dial, hands, check):
        self.device = device
        # Opens a `Session` of a device with the host, as a friend or a stranger.
        self._dial = dial
        self.hands = hands
        self.check = check
        self.session = None
        self.match = None
        self._host_plays = iter(HOSTS)

    def remember(self):
        """Restarts after a crash: only the data on disk remain."""
        self.device = Device(self.device.path, self.device.name)
        self.match = self.device.matches[self.match.id]

    @property
    def link(self):
        return self.session.link

    async def dial(self, friend):
        self.session = await self._dial(self.device, friend)
        return self.session

    async def together(self):
        """Dials as a friend, until the match is in sync again."""
        await self.dial(friend=True)
        await self.session.until("both are up", lambda: self.link.phase == UP)

    # The host's user.

    async def host_compares(self, string):
        """The host's comparison; for a moment it may still be an earlier one."""
        shown = None
        async with asyncio.timeout(SHOWN_WITHIN):
            while shown is None or shown[0] != string.digits:
                if told := json.loads(await self.hands("comparison")):
                    shown = (told["digits"], tuple(told["emoji"]))
                await asyncio.sleep(LOOK_EVERY)
        return shown

    async def host_friends(self):
        told = await self.hands("friends", "--json")
        return [json.loads(line)["name"] for line in told.splitlines()]

    async def room(self):
        told = await self.hands("rooms", "--json")
        rooms = [json.loads(line) for line in told.splitlines() ]
        return next((room for room in rooms if self.match is None or room["id"] == self.match.id.hex()), None)

    async def host_shows(self, what, so):
        """Waits until the condition on the host's room holds."""
        room = None
        try:
            async with asyncio.timeout(SHOWN_WITHIN):
                while not ((room := await self.room()) and so(room)):
                    await asyncio.sleep(LOOK_EVERY)
                return room
        except TimeoutError:
            raise TimeoutError(f"the host did not show {what}: {room}") from None

    async def same_at_both(self, what):
        """Both have the same record, by its digest."""
        match = self.match
        named = [gomoku.name_of(action) for action in match.actions]
        digest = f"{match.digest():016x}"

        def same(room):
            return room["digest"] == digest and room["revision"] == match.revision

        room = await self.host_shows(f"the record {named}, revision {match.revision}", same)
        self.check(f"{what}: both hold the same {len(named)} actions", room["record"] == named)

    # Both sides.

    async def stranger_moves(self, action):
        await self.session.do(self.link.play, self.match, action)
        await self.host_shows("the stranger's move", lambda room: room["ply"] == len(self.match.actions))

    async def host_moves(self):
        ply = len(self.match.actions) + 1
        await self.hands("play", gomoku.name_of(next(self._host_plays)))
        await self.session.until("the host's move", lambda: len(self.match.actions) == ply)

    async def hosts_turn(self):
        if not self.match.is_our_turn():
            await self.host_moves()


async def says_that_strings_differ(game):
    """Rejects the comparison, as after a man in the middle. No friendship is stored."""
    session = await game.dial(friend=False)
    await session.news("string")
    await session.do(game.link.compare, False)
    await session.until("the end of the link", lambda: session.error)
    game.check("strings that differ end the link", game.link.reason == m.STRINGS_DIFFER)
    game.check("and make no friends", not await game.host_friends() and not game.device.friends)


async def meets(game):
    """Two strangers become friends, if the strings are the same."""
    session = await game.dial(friend=False)
    string = await session.news("string")
    shown = await game.host_compares(string)
    game.check("both show the same digits and pictures", shown == (string.digits, string.pictures))
    game.check("a stranger is told no advert key and no match", not game.link.hello.advert_key and not game.link.hello.matches)
    await session.do(game.link.compare, True)
    await game.hands("same")
    await session.until("friends", lambda: game.link.phase == UP)
    game.check("the host has a friend, by its name", await game.host_friends() == [game.device.name])
    await session.goodbye()
    # From here on the host is visible to friends only.
    await game.hands("visibility", "friends")


async def comes_back_as_a_friend(game):
    await game.together()
    game.check("friends compare nothing", game.link.string is None and not game.link.hello.wants_comparison)
    known = game.device.friends[game.link.peer]
    game.check("a friend is told the advert key", game.link.hello.advert_key.hex() == known["advert_key"])


async def accepts_an_invitation(game):
    await game.hands("invite", game.device.name, "--game", "gomoku", "--no-wait")
    invite = await game.session.news("invitation")
    game.check("colours are drawn, and committed to", invite.colours == m.DRAWN and len(invite.commitment) == 32)
    await game.session.do(game.link.accept, invite.invite_id)
    game.match = await game.session.news("match")
    room = await game.host_shows("a room", lambda room: room["ply"] == 0)
    ours = "second" if room["mine"] == ["first"] else "first"
    game.check("both draw the same colours", ours == {m.FIRST: "first", m.SECOND: "second"}[game.match.side])


async def loses_a_move_with_the_link(game, action):
    """The move is stored and not sent; the next link sends what was stored."""
    await game.session.drop()
    game.device.play(game.match, action)
    before = game.match
    game.remember()
    game.check("what was played is on the disk", game.match == before)
    await game.together()
    await game.same_at_both("after a link lost before the move was sent")


async def misses_a_move(game):
    """The host's user moves while there is no link."""
    await game.session.drop()
    ply = len(game.match.actions) + 1
    await game.hands("play", gomoku.name_of(next(game._host_plays)))
    await game.together()
    await game.session.until("the move that was missed", lambda: len(game.match.actions) == ply)
    await game.same_at_both("after a move that was made while the link was lost")


async def is_refused_a_take_back(game):
    before = game.match.standing()
    await game.session.do(game.link.offer, game.match, m.TAKE_BACK)
    await game.host_shows("the offer", lambda room: room["offer"] == {"kind": "take_back", "mine": False})
    await game.hands("no")
    await game.session.news("refused")
    game.check("a refused take-back changes nothing", game.match.standing() == before)


async def takes_back(game):
    """With the host's consent."""
    length, revision = len(game.match.actions), game.match.revision
    expected = game.match.take_back_to(game.match.side)
    await game.session.do(game.link.offer, game.match, m.TAKE_BACK)
    await game.host_shows("the offer", lambda room: room["offer"])
    await game.hands("yes")
    await game.session.news("agreed")
    now = (len(game.match.actions), game.match.revision)
    game.check("taken back by consent", now == (expected, revision + 1) and expected < length)
    await game.same_at_both("after a take-back of the stranger's")


async def lets_the_host_take_back(game):
    revision = game.match.revision
    host = records.other(game.match.side)
    expected = game.match.take_back_to(host)
    await game.hands("take-back")
    offer = await game.session.news("offer")
    game.check("the host asks to take its last move back", (offer.kind, offer.to_ply) == (m.TAKE_BACK, expected))
    await game.session.do(game.link.answer, game.match, True)
    now = (len(game.match.actions), game.match.revision)
    game.check("the stranger has consented", now == (expected, revision + 1))
    await game.same_at_both("after a take-back of the host's")


async def loses_an_answer_with_the_link(game):
    """The host accepts, and its answer is lost: the next hello shows exactly the offered state."""
    revision = game.match.revision
    await game.session.do(game.link.offer, game.match, m.TAKE_BACK)
    await game.host_shows("the offer", lambda room: room["offer"])
    game.session.deaf()
    await game.hands("yes")
    await game.host_shows("a newer record", lambda room: room["revision"] == revision + 1)
    game.check("the stranger knows nothing of it", game.match.revision == revision)
    await game.session.drop()
    await game.together()
    await game.session.until("the record that was agreed upon", lambda: game.match.revision == revision + 1)
    await game.same_at_both("after an answer that was lost with the link")


async def pauses(game):
    """Both offer a pause at the same moment, which takes effect once; they resume by agreement."""
    revision = game.match.revision
    game.session.hold()
    await game.hands("pause")
    await game.session.do(game.link.offer, game.match, m.PAUSE)
    game.session.go_on()
    await game.session.until("a pause", lambda: game.match.paused)
    room = await game.host_shows("a pause", lambda room: room["paused"])
    game.check("two who ask for the same have it once", game.match.revision == room["revision"] == revision + 1)
    game.check("nobody plays in a pause", not room["can_act"] and not game.match.is_our_turn())
    await game.hands("continue")
    offer = await game.session.news("offer")
    game.check("the host wants to go on", offer.kind == m.CONTINUE)
    await game.session.do(game.link.answer, game.match, True)
    await game.same_at_both("after a pause")


async def loses_its_journal(game):
    """The stored data are replaced by an older copy, which lacks an action of each side. The users decide, not the devices."""
    path = game.device.path
    await game.hosts_turn()
    with open(path, "rb") as file:
        copy = file.read()
    action = next(action for action in STRANGERS if action not in game.match.actions)
    await game.stranger_moves(action)
    await game.host_moves()
    lost = list(game.match.actions)
    await game.session.drop()
    with open(path, "wb") as file:
        file.write(copy)
    game.remember()
    game.check("two actions are forgotten here", game.match.actions == lost[:-2])
    await game.together()
    differs = await game.session.news("differs")
    await game.session.until("the host's record", lambda: game.link.reach[differs].theirs)
    game.check("a record with own actions that are forgotten here is not just taken", game.match.actions == lost[:-2])
    await game.session.do(game.link.take_theirs, game.match)
    game.check("the person here takes the host's record", game.match.actions == lost)
    await game.same_at_both("after a journal was lost")


async def plays_to_the_end(game):
    """The stranger wins by five in a row."""
    placed = [action for action in STRANGERS if action in game.match.actions]
    game.check("the stranger's row is not complete", len(placed) < len(STRANGERS))
    for action in [action for action in STRANGERS if action not in placed]:
        await game.hosts_turn()
        await game.stranger_moves(action)
    await game.session.until("the host knows of the end", lambda: game.match.settled)
    game.check("five in a row win", game.match.result == (game.match.side, m.FIVE_IN_A_ROW))
    room = await game.host_shows("the end", lambda room: room["result"])
    winner = {"first": m.FIRST, "second": m.SECOND}[room["result"]["winner"]]
    game.check("the host sees the same winner", winner == game.match.side)
    await game.same_at_both("at the end")


async def plays_another_and_resigns(game):
    """The next game has an id that both sides compute, and swapped colours."""
    before = game.match
    await game.hands("new-game")
    offer = await game.session.news("offer")
    game.check("the host wants another game", offer.kind in (m.NEW_GAME, m.NEW_GAME_SAME))
    expected = before.next_game(offer.kind)
    await game.session.do(game.link.answer, before, True)
    game.match = await game.session.news("match")
    room = await game.host_shows("the next game", lambda room: room["ply"] == 0)
    sides = {"first": m.FIRST, "second": m.SECOND}
    game.check("both number it alike", room["id"] == expected.id.hex())
    game.check("colours are swapped", sides[room["mine"][0]] == before.side == records.other(game.match.side))
    await game.hosts_turn()
    await game.session.do(game.link.resign, game.match)
    await game.session.until("the host knows of it", lambda: game.match.settled)
    room = await game.host_shows("the end", lambda room: room["result"])
    resigned = room["result"] == {"winner": room["mine"][0], "ending": "resigned"}
    game.check("who resigns loses", resigned)


async def invites_the_host(game):
    """Random colours: the stranger commits, the host adds its nonce, the stranger reveals. The host's user resigns."""
    await game.hands("close")
    game.match = None
    setup = m.Setup(gomoku=m.GomokuSetup(size=9, rule=m.STANDARD, edge_five_wins=True))
    invite_id = await game.session.do(game.link.invite, setup)
    await game.hands("accept", "--wait", "20")
    game.match = await game.session.news("match")
    room = await game.host_shows("a room", lambda room: room["ply"] == 0)
    sides = {"first": m.FIRST, "second": m.SECOND}
    game.check("an invitation's id becomes the match's", room["id"] == invite_id.hex() == game.match.id.hex())
    game.check("both draw the same colours again", sides[room["mine"][0]] == records.other(game.match.side))
    await game.same_at_both("on a small board, by other rules")
    await game.hands("resign")
    await game.session.until("the host's word", lambda: game.match.result)
    game.check("the host has given up", game.match.result == (game.match.side, m.RESIGNED))
    await game.session.until("both know of it", lambda: game.match.settled)
    await game.hands("close")


async def is_blocked(game):
    """A host open to strangers accepts every handshake, and then closes unwanted links."""
    await game.hands("block", game.device.name)
    await game.hands("visibility", "everyone")
    session = await game.dial(friend=True)
    await session.until("the end of the link", lambda: session.error)
    left = game.link.hello is None and game.link.reason == m.LEAVING
    game.check("who is blocked is left without a hello and without the reason", left)


async def settles(game):
    """Neither hello contains a match that both know to be over."""
    await game.session.goodbye()
    await game.together()
    game.check("matches that are over are in no hello", game.link.hello.matches == [] and not game.device.unsettled(game.link.peer))
    await game.session.goodbye()


async def play(folder, dial, hands, check):
    """Runs everything. `folder`: an empty data folder of the stranger. Returns the stored matches."""

    def device(name):
        return Device(os.path.join(folder, f"{name}.json"), name)

    await says_that_strings_differ(Game(device("Yan"), dial, hands, check))
    game = Game(device("Zoe"), dial, hands, check)
    await meets(game)
    await comes_back_as_a_friend(game)
    await accepts_an_invitation(game)
    await game.hosts_turn()
    await game.stranger_moves(STRANGERS[0])
    await game.host_moves()
    await game.same_at_both("in peace")
    await loses_a_move_with_the_link(game, STRANGERS[1])
    await misses_a_move(game)
    await is_refused_a_take_back(game)
    await takes_back(game)
    await game.stranger_moves(STRANGERS[2])
    await game.host_moves()
    await lets_the_host_take_back(game)
    await loses_an_answer_with_the_link(game)
    await pauses(game)
    await loses_its_journal(game)
    await plays_to_the_end(game)
    await plays_another_and_resigns(game)
    await invites_the_host(game)
    await settles(game)
    await is_blocked(game)
    return list(game.device.matches.values())
