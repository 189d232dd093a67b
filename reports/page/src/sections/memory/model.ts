// SPDX-License-Identifier: Apache-2.0
// Memory in use over time, by call site: from the table `allocation`.
import { NO_STACK, stacksOf, type Stacks } from '../../parts/stacks';
import type { Payload } from '../../payload';

const HOST_KINDS = ['pinned', 'registered'];
const TOP_SITES = 7;
const BINS = 1000;

/** Where allocations lie: a device, or page-locked memory of the host. */
export interface Place {
  id: string;
  title: string;
  rows: number[];
}

/** Allocations in base units; without times (software device) a moment is the number of an event. */
export interface Allocations {
  rows: number;
  stacks: Stacks;
  kind: (row: number) => string;
  bytes: ArrayLike<number>;
  begin: ArrayLike<number>;
  /** Infinity: never. */
  freed: Float64Array;
  /** NaN: no use seen. */
  firstUse: Float64Array;
  lastUse: Float64Array;
  stack: ArrayLike<number>;
  address: ArrayLike<number>;
  id: ArrayLike<number>;
  end: number;
  timed: boolean;
}

export interface Area {
  /** siteKey; null: all others. */
  site: number | null;
  label: string;
  values: Float64Array;
}

export interface Usage {
  moments: Float64Array;
  total: Float64Array;
  /** Largest first, "other" last; they add up to the total. */
  areas: Area[];
  peak: { at: number; bytes: number };
  /** Changes that were seen; more than moments where some were left out. */
  changes: number;
}

function plus(begin: ArrayLike<number>, after: ArrayLike<number>, none: number): Float64Array {
  return Float64Array.from(after, (value, row) => (Number.isNaN(value) ? none : begin[row] + value));
}

// Without times only the order is known: each allocation and each free takes the next number.
function byOrder(begin: ArrayLike<number>, freed: Float64Array) {
  const times = [...new Set([...Array.from(begin), ...freed].filter(Number.isFinite))].sort((a, b) => a - b);
  const rank = new Map(times.map((time, at) => [time, at + 1]));
  const ranked = (values: ArrayLike<number>) => Float64Array.from(values, (time) => rank.get(time) ?? Infinity);
  return { begin: ranked(begin), freed: ranked(freed), end: times.length };
}

const known = new WeakMap<Payload, Allocations>();

export function allocationsOf(payload: Payload): Allocations {
  const had = known.get(payload);
  if (had !== undefined) return had;
  const table = payload.table('allocation');
  const { report, names } = payload.head;
  const timed = !report.device.software;
  const begin = table.numbers('begin');
  const freed = plus(begin, table.numbers('freed'), Infinity);
  const kinds = table.numbers('kind');
  const firstUse = plus(begin, table.numbers('first_use'), NaN);
  const lastUse = plus(begin, table.numbers('last_use'), NaN);
  let end = report.verdict.recorded_ns ?? report.verdict.wall_ns ?? 0;
  for (const times of [begin, freed, lastUse])
    for (let row = 0; row < table.rows; row++) if (times[row] > end && times[row] < Infinity) end = times[row];
  const all: Allocations = {
    rows: table.rows,
    stacks: stacksOf(payload),
    kind: (row) => names.allocation[kinds[row]] ?? 'unknown',
    bytes: table.numbers('bytes'),
    begin,
    freed,
    firstUse,
    lastUse,
    stack: table.numbers('stack'),
    address: table.numbers('address'),
    id: table.numbers('id'),
    end,
    timed,
    ...(timed ? {} : byOrder(begin, freed)),
  };
  known.set(payload, all);
  return all;
}

export function placesOf(payload: Payload): Place[] {
  const all = allocationsOf(payload);
  const device = payload.table('allocation').numbers('device');
  const places = new Map<string, Place>();
  for (let row = 0; row < all.rows; row++) {
    const host = HOST_KINDS.includes(all.kind(row));
    const index = Number.isNaN(device[row]) ? 0 : device[row];
    const id = host ? 'host' : `d${index}`;
    let place = places.get(id);
    if (place === undefined) {
      const name = payload.head.devices[index]?.name;
      const title = host ? 'page-locked host memory' : `device ${index}${name ? `: ${name}` : ''}`;
      places.set(id, (place = { id, title, rows: [] }));
    }
    place.rows.push(row);
  }
  return [...places.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

interface Change {
  at: number;
  row: number;
  bytes: number;
}

function changesOf(all: Allocations, rows: number[]): Change[] {
  const changes: Change[] = [];
  for (const row of rows) {
    const bytes = all.bytes[row];
    if (!(bytes > 0)) continue; // of unknown size, or nothing
    changes.push({ at: all.begin[row], row, bytes });
    if (all.freed[row] < Infinity) changes.push({ at: all.freed[row], row, bytes: -bytes });
  }
  // Frees first: what was given back can be had again at the same moment. So counts the verdict, too.
  return changes.sort((a, b) => a.at - b.at || a.bytes - b.bytes);
}

/** The sites that ever held most, largest first. */
function topSites(changes: Change[], site: Float64Array): number[] {
  const now = new Map<number, number>();
  const most = new Map<number, number>();
  for (const { row, bytes } of changes) {
    const held = (now.get(site[row]) ?? 0) + bytes;
    now.set(site[row], held);
    if (held > (most.get(site[row]) ?? 0)) most.set(site[row], held);
  }
  return [...most.entries()]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, TOP_SITES)
    .map(([key]) => key);
}

// Which states are kept: of each bin of the time the highest and the last, so that no peak is lost.
function keep(changes: Change[], end: number): { kept: Set<number>; peakAt: number; peak: number } {
  const kept = new Set<number>();
  let total = 0;
  let peak = 0;
  let peakAt = -1;
  let bin = -1;
  let high = 0;
  let highAt = 0;
  changes.forEach(({ at, bytes }, i) => {
    total += bytes;
    const now = Math.floor((at / (end || 1)) * BINS);
    if (now !== bin || total > high) {
      if (now !== bin && i > 0) kept.add(highAt).add(i - 1);
      bin = now;
      high = total;
      highAt = i;
    }
    if (total > peak) {
      peak = total;
      peakAt = i;
    }
  });
  if (changes.length > 0) kept.add(highAt).add(changes.length - 1);
  return { kept, peakAt, peak };
}

export function usageOf(all: Allocations, place: Place): Usage {
  const changes = changesOf(all, place.rows);
  const site = new Float64Array(all.rows);
  for (const row of place.rows) site[row] = all.stacks.siteKey(all.stack[row]);
  const top = topSites(changes, site);
  const index = new Map(top.map((key, at) => [key, at]));
  const { kept, peakAt, peak } = keep(changes, all.end);
  const length = kept.size + 2; // nothing before the first, and the end
  const moments = new Float64Array(length);
  const total = new Float64Array(length);
  const values = Array.from({ length: top.length + 1 }, () => new Float64Array(length));
  const now = new Float64Array(top.length + 1);
  let sum = 0;
  let to = 1;
  moments[0] = Math.min(0, changes[0]?.at ?? 0);
  const put = (at: number) => {
    moments[to] = at;
    total[to] = sum;
    values.forEach((series, i) => (series[to] = now[i]));
    to++;
  };
  changes.forEach(({ at, row, bytes }, i) => {
    sum += bytes;
    now[index.get(site[row]) ?? top.length] += bytes;
    if (kept.has(i)) put(at);
  });
  put(Math.max(all.end, moments[to - 1]));
  const areas: Area[] = top.map((key, at) => ({
    site: key,
    label: key < 0 ? NO_STACK : all.stacks.placeFirst(key),
    values: values[at],
  }));
  const other = values[top.length];
  if (other.some((value) => value > 0)) areas.push({ site: null, label: 'all other call sites', values: other });
  return { moments, total, areas, peak: { at: changes[peakAt]?.at ?? 0, bytes: peak }, changes: changes.length };
}

/** Rows that are allocated at a moment. */
export function liveAt(all: Allocations, place: Place, at: number): number[] {
  return place.rows.filter((row) => all.begin[row] <= at && at < all.freed[row]);
}

/** Index of the last moment that is not later. */
export function momentAt(moments: Float64Array, at: number): number {
  let low = 0;
  let high = moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moments[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** What was in use within a range: the same areas, from its begin to its end. */
export function usageWithin(usage: Usage, range: readonly [number, number] | null): Usage {
  if (range === null || usage.moments.length === 0) return usage;
  const [from, to] = range;
  const at: number[] = [];
  let first = -1;
  usage.moments.forEach((moment, i) => {
    if (moment <= from) first = i;
    else if (moment < to) at.push(i);
  });
  const moments = Float64Array.from([from, ...at.map((i) => usage.moments[i]), to]);
  const last = at.length > 0 ? at[at.length - 1] : first;
  const clip = (values: Float64Array) => {
    const state = (i: number) => (i < 0 ? 0 : values[i]);
    return Float64Array.from([state(first), ...at.map((i) => values[i]), state(last)]);
  };
  const total = clip(usage.total);
  let peak = 0;
  total.forEach((value, i) => {
    if (value > total[peak]) peak = i;
  });
  return {
    moments,
    total,
    areas: usage.areas.map((area) => ({ ...area, values: clip(area.values) })),
    peak: { at: moments[peak], bytes: total[peak] },
    changes: at.length,
  };
}
