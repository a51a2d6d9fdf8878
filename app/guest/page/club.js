// The club evening of which this game is one: who plays whom now and next, and the standings.
import { button, make, openDialog, show } from "./dialogs.js";
import { nearSide } from "./points.js";
import { state } from "./state.js";
import { say } from "./words.js";

const SCORES = {
  first_wins: "1 : 0", second_wins: "0 : 1", draw: "½ : ½", first_forfeits: "- : +", second_forfeits: "+ : -", not_played: "- : -",
};

/// Takes in the evening as it is now; an open dialog follows it.
export function takeClub(club) {
  state.club = club;
  if (openDialog() === "club") showClub();
}

/// The player of the evening who sits at this page, or null if that is not certain: a guest may have another name here than
/// on the list.
function ownPlayer({ players }) {
  const { room, watcher } = state;
  if (watcher || !room || room.you === "unspecified") return null;
  const guests = players.filter((player) => player.who === "guest" && !player.left);
  return guests.find((player) => player.name === room[nearSide(room)].name) ?? (guests.length === 1 ? guests[0] : null);
}

/// Shows the next games, the round that is played, or all rounds after the last one, and the standings.
export function showClub() {
  const { club } = state;
  const name = (id) => club.players.find((player) => player.id === id)?.name ?? "";
  const own = ownPlayer(club)?.id ?? null;
  const named = (id) => (id === own ? say("meNamed", name(id)) : name(id));
  const parts = [];
  const mine = club.next.find((one) => one.player === own);
  if (mine) parts.push(make("p", { id: "club-own" }, say("clubYouPlay", mine.round, name(mine.opponent))));
  if (club.next.length) {
    const list = [...club.next].sort((one, other) => (other === mine) - (one === mine));
    const rows = list.map((one) => [named(one.player), named(one.opponent), one.round]);
    const shown = table(say("clubNext"), [say("clubPlayer"), say("clubOpponent"), say("clubRoundHead")], rows, [0, 1], mine ? 0 : -1);
    shown.id = "club-next";
    parts.push(shown);
  }
  for (const { round, games, free } of club.rounds) {
    if (club.round !== null && club.round !== round) continue;
    const rows = games.map((game) => [name(game.first), SCORES[game.result] ?? (game.begun ? say("playing") : "–"), name(game.second)]);
    parts.push(table(say("clubRound", round), null, rows, [0, 2]));
    if (free.length) parts.push(make("p", { className: "small" }, say("clubFree", free.map(name).join(", "))));
  }
  const number = (value) => String(value).replace(".5", "½").replace(/^0½/, "½");
  const heads = ["#", say("clubPlayer"), say("clubPoints"), say("clubBerger"), ...club.players.map((player) => String(player.id))];
  const rows = club.standings.map((row) => [
    row.place ?? "", `${row.player} ${name(row.player)}`, number(row.points), row.sonneborn_berger.toFixed(2), ...row.cross.map((cell) => cell || "×"),
  ]);
  parts.push(table(say("clubStandings"), heads, rows, [1]));
  show("club", club.name, [...parts, button(say("close"), null, { kind: "primary" })]);
}

/// `names`: the columns that may take more than one line; `marked`: the row that stands out.
function table(caption, heads, rows, names, marked = -1) {
  const line = (tag, cells, own = false) => make("tr", { className: own ? "own" : "" }, ...cells.map((cell, at) => make(tag, { className: names.includes(at) ? "name" : "" }, String(cell))));
  const element = make("table", {}, make("caption", {}, caption));
  if (heads) element.append(make("thead", {}, line("th", heads)));
  element.append(make("tbody", {}, ...rows.map((row, at) => line("td", row, at === marked))));
  const frame = make("div", { className: "table", tabIndex: 0 }, element);
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", caption);
  return frame;
}
