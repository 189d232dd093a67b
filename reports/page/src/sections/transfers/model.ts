// SPDX-License-Identifier: Apache-2.0
// Copies: what each took, and what the calibration says that it should take.
import { stacksOf } from '../../parts/stacks';
import type { Payload } from '../../payload';
import { within, type Range } from '../../span';
import type { TransferRow } from '../../report';

/** Columns over the copies of a trace; each is one copy, or `count` of one place that were merged. */
export interface Copies {
  rows: number;
  /** Of the table `call`. */
  call: Uint32Array;
  /** Of one copy. */
  bytes: Float64Array;
  /** Of one copy, ns; NaN: not known. */
  time: Float64Array;
  /** bytes per second */
  rate: Float64Array;
  count: Float64Array;
  /** Index of `kinds`. */
  group: Uint8Array;
  blocking: Uint8Array;
  groups: Group[];
}

/** Copies of one direction and class of host memory. */
export interface Kind {
  direction: string;
  host_class: string;
}
export interface Group extends Kind {
  /** Whether there are blocking ones, and asynchronous ones. */
  modes: Set<boolean>;
}

/** "h2d pinned" */
export function nameOf({ direction, host_class }: Kind): string {
  return `${direction} ${host_class}`;
}

export interface CurvePoint {
  bytes: number;
  ns: number;
}
export interface Calibrated {
  /** "h2d_pinned_async" */
  key: string;
  direction: string;
  host_class: string;
  mode: string;
  points: CurvePoint[];
}

// As the analysis counts (analyzer/trace/timeline.c): a blocking call without its wait for earlier kernels,
// else the larger of the call and of the copy on the device.
function timeOf(host: number, start: number, device: number, blocking: boolean, wait: number): number {
  if (!blocking) return device > host ? device : host;
  let from = wait;
  if (!Number.isNaN(device) && start < from && start > 0) from = start;
  return Math.max(0, host - from);
}

/** Copies whose calls begin in the range. */
export function copiesOf(payload: Payload, range: Range | null = null): Copies {
  const table = payload.table('call');
  const { names, report } = payload.head;
  const column = (name: string) => table.numbers(name);
  const [kind, begin, host, start, device, bytes] = [
    'kind',
    'begin',
    'host_ns',
    'device_start',
    'device_ns',
    'bytes',
  ].map(column);
  const [direction, hostClass, blocking, count] = ['direction', 'host_class', 'blocking', 'count'].map(column);
  const [transfer, launch] = ['transfer', 'launch'].map((name) => names.kind.indexOf(name));
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) if (kind[row] === transfer && within(range, begin[row])) rows.push(row);
  const groups: Group[] = [];
  const index = new Map<number, number>();
  const copies: Copies = {
    rows: rows.length,
    call: Uint32Array.from(rows),
    bytes: new Float64Array(rows.length),
    time: new Float64Array(rows.length).fill(NaN),
    rate: new Float64Array(rows.length).fill(NaN),
    count: new Float64Array(rows.length),
    group: new Uint8Array(rows.length),
    blocking: new Uint8Array(rows.length),
    groups,
  };
  // Until when the device works on the launches made so far.
  let busy = -Infinity;
  let at = 0;
  for (let row = 0; row < table.rows; row++) {
    if (kind[row] === launch) {
      const end = begin[row] + start[row] + device[row];
      if (end > busy) busy = end;
    }
    if (kind[row] !== transfer || !within(range, begin[row])) continue;
    const many = count[row] || 1;
    const key = direction[row] * 256 + hostClass[row];
    let group = index.get(key);
    if (group === undefined) {
      index.set(key, (group = groups.length));
      groups.push({
        direction: names.direction[direction[row]] ?? 'unknown',
        host_class: names.host_class[hostClass[row]] ?? 'unknown',
        modes: new Set(),
      });
    }
    copies.group[at] = group;
    copies.count[at] = many;
    copies.blocking[at] = blocking[row] === 1 ? 1 : 0;
    groups[group].modes.add(blocking[row] === 1);
    copies.bytes[at] = bytes[row] / many;
    if (!report.device.software) {
      // Of merged calls only sums are known: what they waited for is not known.
      const wait = many > 1 ? 0 : Math.max(0, busy - begin[row]);
      const time = timeOf(host[row], start[row], device[row], copies.blocking[at] === 1, wait) / many;
      copies.time[at] = time;
      if (time > 0) copies.rate[at] = (1e9 * copies.bytes[at]) / time;
    }
    at++;
  }
  return copies;
}

interface ModelPoint {
  bytes?: number;
  median_ns?: number;
  device_ns?: number;
  call_ns?: number;
}

/** The calibrated curves of copies; none where there is no device model. */
export function calibrated(model: Record<string, unknown> | null): Calibrated[] {
  const curves: Calibrated[] = [];
  for (const [key, entry] of Object.entries((model?.transfers ?? {}) as Record<string, { points?: ModelPoint[] }>)) {
    const words = key.split('_');
    const [direction, mode] = [words[0], words[words.length - 1]];
    if (!['h2d', 'd2h', 'd2d', 'peer'].includes(direction) || !['sync', 'async'].includes(mode)) continue;
    const points = (entry?.points ?? [])
      // What a trace knows of an asynchronous copy is its time on the device, so that is compared.
      .map(({ bytes = NaN, median_ns = NaN, device_ns, call_ns = 0 }) => ({
        bytes,
        ns: device_ns ? Math.max(device_ns, call_ns) : median_ns,
      }))
      .filter(({ bytes, ns }) => bytes > 0 && ns > 0)
      .sort((a, b) => a.bytes - b.bytes);
    if (points.length > 0) curves.push({ key, direction, host_class: words.length > 2 ? words[1] : '', mode, points });
  }
  return curves;
}

/** The curve of such copies: exactly, else of the other mode; null where the calibration has none. */
export function curveOf(curves: Calibrated[], { direction, host_class }: Kind, blocking: boolean): Calibrated | null {
  const mode = blocking ? 'sync' : 'async';
  const fit = curves.filter((c) => c.direction === direction && (c.host_class === '' || c.host_class === host_class));
  return fit.find((c) => c.mode === mode) ?? fit[0] ?? null;
}

/** On the line through the points to both sides; beyond the last on the line through the last two. */
export function timeAt({ points }: Calibrated, bytes: number): number {
  if (points.length === 1 || bytes <= points[0].bytes) return points[0].ns;
  let high = points.findIndex((point) => point.bytes >= bytes);
  if (high < 0) high = points.length - 1;
  const [a, b] = [points[high - 1], points[high]];
  return a.ns + ((bytes - a.bytes) / (b.bytes - a.bytes)) * (b.ns - a.ns);
}

/** Copies from one line of the user's code, of one direction and class. */
export interface SiteRow {
  site: string;
  direction: string;
  host_class: string;
  blocking: boolean;
  count: number;
  bytes: number;
  time: number;
  /** What the calibration says for the same copies; NaN: no curve. */
  expected: number;
  stack: number;
}

export function sitesOf(
  payload: Payload,
  copies: Copies,
  curves: Calibrated[],
  kept: (group: number) => boolean,
): SiteRow[] {
  const stacks = stacksOf(payload);
  const stack = payload.table('call').numbers('stack');
  const sums = new Map<number, SiteRow>();
  const fits = copies.groups.map((group) => [curveOf(curves, group, false), curveOf(curves, group, true)]);
  for (let at = 0; at < copies.rows; at++) {
    const group = copies.group[at];
    if (!kept(group)) continue;
    const id = stack[copies.call[at]];
    const key = (stacks.siteKey(id) * 256 + group) * 2 + copies.blocking[at];
    let sum = sums.get(key);
    if (sum === undefined) {
      const { direction, host_class } = copies.groups[group];
      sum = {
        site: stacks.site(id),
        direction,
        host_class,
        blocking: copies.blocking[at] === 1,
        count: 0,
        bytes: 0,
        time: 0,
        expected: 0,
        stack: id,
      };
      sums.set(key, sum);
    }
    const curve = fits[group][copies.blocking[at]];
    sum.count += copies.count[at];
    sum.bytes += copies.count[at] * copies.bytes[at];
    sum.time += copies.count[at] * copies.time[at];
    sum.expected += curve === null ? NaN : copies.count[at] * timeAt(curve, copies.bytes[at]);
  }
  return [...sums.values()].sort((a, b) => (b.time || 0) - (a.time || 0) || b.bytes - a.bytes);
}

/** Upper limits of size classes, as analyzer/summary/verdict.c has them. */
const BUCKETS = [256, 4096, 65536, 1048576, 16 * 1048576];

/** Rows of the report's table `transfers`, of these copies alone. */
export function rowsOf(copies: Copies): TransferRow[] {
  const sums = new Map<string, TransferRow>();
  for (let at = 0; at < copies.rows; at++) {
    const { direction, host_class } = copies.groups[copies.group[at]];
    const up_to_bytes = BUCKETS.find((limit) => copies.bytes[at] <= limit) ?? null;
    const key = `${copies.group[at]} ${up_to_bytes}`;
    const sum = sums.get(key) ?? { direction, host_class, up_to_bytes, count: 0, bytes: 0, time_ns: 0 };
    sum.count += copies.count[at];
    sum.bytes += copies.count[at] * copies.bytes[at];
    const time = copies.count[at] * copies.time[at];
    sum.time_ns = sum.time_ns === null || Number.isNaN(time) ? null : sum.time_ns + time;
    sums.set(key, sum);
  }
  return [...sums.values()];
}
