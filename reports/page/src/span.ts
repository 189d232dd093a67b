// SPDX-License-Identifier: Apache-2.0
// A range of time, and what lies in it.
import { ns } from './format';

/** ns from the origin. */
export type Range = readonly [number, number];

/** Null where none is selected, or the text is none. */
export function parseRange(text: string): Range | null {
  const [from, to] = text.split(',').map(Number);
  return text !== '' && Number.isFinite(from) && Number.isFinite(to) && to > from ? [from, to] : null;
}

/** A call that begins there counts. */
export function within(range: Range | null, begin: number): boolean {
  return range === null || (begin >= range[0] && begin < range[1]);
}

/** Whether [begin, end] and the range have a moment in common. */
export function touches(range: Range | null, begin: number, end: number): boolean {
  return range === null || (begin < range[1] && end >= range[0]);
}

/** "between 100 ms and 700 ms" */
export function rangeText([from, to]: Range): string {
  return `between ${ns(from)} and ${ns(to)}`;
}
