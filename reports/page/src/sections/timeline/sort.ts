// SPDX-License-Identifier: Apache-2.0
// Orders events by a time. Most come nearly sorted (a handful of ascending runs one in another), so that
// merging the runs that are there costs far less than a general sort with a comparing function. Where threads took turns
// there are as many runs as events: those are sorted by digits.

function mergeRuns(from: Uint32Array, to: Uint32Array, key: Float64Array, low: number, middle: number, high: number) {
  let left = low;
  let right = middle;
  for (let at = low; at < high; at++)
    to[at] = right >= high || (left < middle && key[from[left]] <= key[from[right]]) ? from[left++] : from[right++];
}

const FEW_RUNS = 32; // merged in five passes, as many as digits take
const DIGITS = 2048;
const LOW = 2 ** 22; // what the first two digits hold

/** Stable; null: the keys are no integers within 2^44 of each other. */
function sortByDigits(rows: Uint32Array, key: Float64Array): Uint32Array | null {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < rows.length; i++) {
    const value = key[rows[i]];
    if (value !== Math.floor(value)) return null;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (!(most - least < LOW * LOW)) return null;
  // By place in `rows`: two digits each.
  const low = new Uint32Array(rows.length);
  const high = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const distance = key[rows[i]] - least;
    high[i] = Math.floor(distance / LOW);
    low[i] = distance - high[i] * LOW;
  }
  let from = new Uint32Array(rows.length);
  for (let i = 0; i < from.length; i++) from[i] = i;
  let to = new Uint32Array(rows.length);
  const start = new Uint32Array(DIGITS + 1);
  for (let digit = 0; DIGITS ** digit <= most - least; digit++) {
    const part = digit < 2 ? low : high;
    const shift = digit % 2 === 0 ? 0 : 11;
    start.fill(0);
    for (let i = 0; i < part.length; i++) start[((part[i] >>> shift) & (DIGITS - 1)) + 1]++;
    for (let d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (let i = 0; i < from.length; i++) to[start[(part[from[i]] >>> shift) & (DIGITS - 1)]++] = from[i];
    [from, to] = [to, from];
  }
  for (let i = 0; i < from.length; i++) to[i] = rows[from[i]];
  return to;
}

/** Sorts row numbers by key[row], keeping the order of equal ones. The keys are numbers, none NaN. */
export function sortByKey(rows: Uint32Array, key: Float64Array): Uint32Array {
  let ends: number[] = [];
  for (let i = 1; i < rows.length; i++) if (key[rows[i]] < key[rows[i - 1]]) ends.push(i);
  const sorted = ends.length > FEW_RUNS ? sortByDigits(rows, key) : null;
  if (sorted !== null) return sorted;
  if (rows.length > 0) ends.push(rows.length);
  let from = rows;
  let to = ends.length > 1 ? new Uint32Array(rows.length) : rows;
  while (ends.length > 1) {
    const merged: number[] = [];
    for (let run = 0, low = 0; run < ends.length; run += 2) {
      const middle = ends[run];
      const high = ends[Math.min(run + 1, ends.length - 1)];
      mergeRuns(from, to, key, low, middle, high);
      merged.push(high);
      low = high;
    }
    [from, to] = [to, from];
    ends = merged;
  }
  return from;
}

/** The first index whose value is at least (or, strictly, more than) the sought one. */
export function lowerBound(values: ArrayLike<number>, sought: number, strictly = false, length = values.length) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < sought || (strictly && values[middle] === sought)) low = middle + 1;
    else high = middle;
  }
  return low;
}
