// SPDX-License-Identifier: Apache-2.0
// Orders events by a time. They come nearly sorted (a handful of ascending runs one in another), so that
// merging the runs that are there costs far less than a general sort with a comparing function.

function mergeRuns(from: Uint32Array, to: Uint32Array, key: Float64Array, low: number, middle: number, high: number) {
  let left = low;
  let right = middle;
  for (let at = low; at < high; at++)
    to[at] = right >= high || (left < middle && key[from[left]] <= key[from[right]]) ? from[left++] : from[right++];
}

/** Sorts row numbers by key[row], keeping the order of equal ones. The keys are numbers, none NaN. */
export function sortByKey(rows: Uint32Array, key: Float64Array): Uint32Array {
  let ends: number[] = [];
  for (let i = 1; i < rows.length; i++) if (key[rows[i]] < key[rows[i - 1]]) ends.push(i);
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
