// Presses that turn all lights off, for boards of up to 16 lights.

/// The fewest presses, as indices; found by trying all.
export function solve(lights, wide) {
  const high = lights.length / wide;
  const masks = lights.map((_, at) => {
    const [x, y] = [at % wide, Math.floor(at / wide)];
    return [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]].filter(([dx, dy]) => x + dx >= 0 && x + dx < wide && y + dy >= 0 && y + dy < high)
      .reduce((mask, [dx, dy]) => mask | (1 << (at + dx + dy * wide)), 0);
  });
  const start = lights.reduce((bits, lit, at) => bits | (lit ? 1 << at : 0), 0);
  const found = Array.from({ length: 1 << lights.length }, (_, set) => set).filter((set) => masks.reduce((bits, mask, at) => (set >> at & 1 ? bits ^ mask : bits), start) === 0);
  const count = (set) => set.toString(2).replaceAll("0", "").length;
  const best = found.sort((a, b) => count(a) - count(b))[0];
  return lights.map((_, at) => at).filter((at) => best >> at & 1);
}

/// At least three presses, so that there is something between the first and the last: one light is pressed twice before the others.
export function run(lights, wide) {
  const fewest = solve(lights, wide);
  const twice = lights.map((_, at) => at).find((at) => !fewest.includes(at)) ?? fewest.at(-1);
  return [twice, twice, ...fewest];
}
