// SPDX-License-Identifier: Apache-2.0
// What happened in a stretch of the timeline: sums by kind, the busy share of devices, and the longest events.
import { countOf, directionOf, kindOf, NODE, type Events } from './events';
import { kindTitle } from './looks';
import type { Busy } from './model';
import { lowerBound } from './sort';

/** How long a device was busy within [from, to]. */
export function busyWithin(busy: Busy, from: number, to: number): number {
  const until = (time: number) => {
    const i = lowerBound(busy.begin, time) - 1;
    return i < 0 ? 0 : busy.before[i] + Math.min(busy.end[i], time) - busy.begin[i];
  };
  return until(to) - until(from);
}

/** How many calls begin within [from, to]; kernels of graphs are no calls. */
export function callsBegun(events: Events, from: number, to: number): number {
  const node = events.head.names.kind.indexOf(NODE);
  const until = lowerBound(events.begin, to, true);
  let calls = 0;
  for (let row = lowerBound(events.begin, from); row < until; row++) calls += events.kind[row] === node ? 0 : 1;
  return calls;
}

export interface Sum {
  what: string;
  /** Calls that touch the stretch; their time on the host within it. */
  calls: number;
  hostNs: number;
  /** What the device did, touching the stretch, and its time within it. NaN: no device times. */
  works: number;
  deviceNs: number;
  /** Of what the device did in the stretch; of the calls where there are no device times. NaN: no bytes. */
  bytes: number;
}

function overlap(begin: number, end: number, from: number, to: number): number {
  return Math.min(end, to) - Math.max(begin, from);
}

/** Rows by the most calls and works; merged rows count for all their calls. */
export function sumRange(events: Events, from: number, to: number): Sum[] {
  const sums = new Map<string, Sum>();
  const { begin, end, deviceBegin, deviceEnd, byOrder, hasDevice } = events;
  for (let row = 0; row < events.rows; row++) {
    // Blocks are half open, so that neighbours of the stretch do not count; those without length do inside it.
    const kind = kindOf(events, row);
    const onHost = kind !== NODE && begin[row] < to && (end[row] > from || begin[row] >= from);
    const onDevice = deviceBegin[row] < to && (deviceEnd[row] > from || deviceBegin[row] >= from);
    if (!onHost && !onDevice) continue;
    const what = kind === 'transfer' ? `${directionOf(events, row)} copy` : kindTitle(kind);
    let sum = sums.get(what);
    if (sum === undefined) {
      const none = byOrder ? NaN : 0;
      sum = { what, calls: 0, hostNs: none, works: hasDevice ? 0 : NaN, deviceNs: hasDevice ? none : NaN, bytes: NaN };
      sums.set(what, sum);
    }
    const count = countOf(events, row);
    if (onHost) {
      sum.calls += count;
      sum.hostNs += overlap(begin[row], end[row], from, to);
    }
    if (onDevice) {
      sum.works += count;
      sum.deviceNs += overlap(deviceBegin[row], deviceEnd[row], from, to);
    }
    const moved = events.bytes[row];
    if (!Number.isNaN(moved) && (onDevice || Number.isNaN(deviceBegin[row])))
      sum.bytes = (Number.isNaN(sum.bytes) ? 0 : sum.bytes) + moved;
  }
  return [...sums.values()].sort((a, b) => b.calls + (b.works || 0) - (a.calls + (a.works || 0)));
}

/** The longer of its time on the host and on the device. */
export function lengthOf(events: Events, row: number): number {
  return Math.max(events.hostNs[row] || 0, events.deviceNs[row] || 0);
}

/** Rows that touch the stretch, the longest `most` of them, longest first; and how many there are. */
export function longestWithin(events: Events, from: number, to: number, most: number): { rows: number[]; all: number } {
  const { begin, end, deviceBegin, deviceEnd, byOrder } = events;
  const found: number[] = [];
  for (let row = 0; row < events.rows; row++)
    if ((begin[row] <= to && end[row] >= from) || (deviceBegin[row] <= to && deviceEnd[row] >= from)) found.push(row);
  const all = found.length;
  if (byOrder) return { rows: found.slice(0, most), all };
  if (all > most) {
    const lengths = Float64Array.from(found, (row) => lengthOf(events, row)).sort();
    const least = lengths[all - most];
    const longer = found.filter((row) => lengthOf(events, row) > least);
    const equal = found.filter((row) => lengthOf(events, row) === least).slice(0, most - longer.length);
    return { rows: sortedByLength(events, [...longer, ...equal]), all };
  }
  return { rows: sortedByLength(events, found), all };
}

function sortedByLength(events: Events, rows: number[]): number[] {
  return rows.sort((a, b) => lengthOf(events, b) - lengthOf(events, a) || a - b);
}
