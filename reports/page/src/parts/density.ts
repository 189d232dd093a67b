// SPDX-License-Identifier: Apache-2.0
// Thins points: of a million at most a few thousand marks are drawn, each saying how many it is.

export interface Points {
  /** Values; what is not above 0 cannot lie on a logarithmic axis and is left out. */
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  group: ArrayLike<number>;
  /** How many a point is; 1 where absent. */
  count?: ArrayLike<number>;
  /** A mark lies at its weightiest point. */
  weight: ArrayLike<number>;
}

export interface Mark {
  x: number;
  y: number;
  group: number;
  count: number;
  /** Index of the point that it lies at. */
  at: number;
  /** In pixels; by its count where absent. */
  radius?: number;
}

export interface Axes {
  logX: boolean;
  logY: boolean;
}

export const COLUMNS = 320;
export const ROWS = 160;

function scaleOf(values: ArrayLike<number>, log: boolean, keep: (at: number) => boolean) {
  const place = log ? Math.log2 : (value: number) => value;
  let low = Infinity;
  let high = -Infinity;
  for (let at = 0; at < values.length; at++) {
    if (!keep(at)) continue;
    const value = place(values[at]);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const span = high - low || 1;
  return (at: number, cells: number) => Math.min(cells - 1, Math.floor(((place(values[at]) - low) / span) * cells));
}

/** One mark per group and cell of a grid over the plot, at most. Left to right. */
export function thin(points: Points, axes: Axes): Mark[] {
  const { x, y, group, count, weight } = points;
  const keep = (at: number) =>
    Number.isFinite(x[at]) && Number.isFinite(y[at]) && (!axes.logX || x[at] > 0) && (!axes.logY || y[at] > 0);
  const column = scaleOf(x, axes.logX, keep);
  const row = scaleOf(y, axes.logY, keep);
  const marks = new Map<number, Mark>();
  for (let at = 0; at < x.length; at++) {
    if (!keep(at)) continue;
    const cell = (group[at] * ROWS + row(at, ROWS)) * COLUMNS + column(at, COLUMNS);
    const mark = marks.get(cell);
    const own = count === undefined ? 1 : count[at] || 1;
    if (mark === undefined) {
      marks.set(cell, { x: x[at], y: y[at], group: group[at], count: own, at });
      continue;
    }
    mark.count += own;
    if (weight[at] > weight[mark.at]) {
      mark.at = at;
      mark.x = x[at];
      mark.y = y[at];
    }
  }
  return [...marks.values()].sort((a, b) => a.x - b.x || a.y - b.y);
}

/** Ticks of a logarithmic axis: powers of the base, thinned to a number that can be read. */
export function logTicks(min: number, max: number, base: number, most = 9): number[] {
  const from = Math.ceil(Math.log(min) / Math.log(base) - 1e-9);
  const to = Math.floor(Math.log(max) / Math.log(base) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from + 1) / most));
  const ticks: number[] = [];
  for (let power = from; power <= to; power++) if (power % every === 0) ticks.push(base ** power);
  return ticks;
}
