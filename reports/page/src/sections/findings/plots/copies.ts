// SPDX-License-Identifier: Apache-2.0
// A finding's copies and the calibrated curves of their direction, as bandwidth over size.
import { known } from '../../../format';
import type { Curve, Model } from '../../../model';
import type { Point } from '../../../parts/axes';
import type { Payload } from '../../../payload';
import type { Finding } from '../../../report';

export interface CopyPlot {
  direction: string;
  curves: { name: string; points: Point[] }[];
  /** x: bytes; y: bytes per second; n: copies. */
  copies: (Point & { n: number })[];
  /** With the fix, where it is known. */
  after: Point | null;
}

/** Kinds of sizes that are drawn one by one; more are put together by quarters of a power of two. */
const MOST_SIZES = 80;

function value(finding: Finding, name: string): number {
  return finding.evidence[name]?.value ?? NaN;
}

/** Stacks that pass through the finding's place; empty: no stack is known. */
function stacksAt(payload: Payload, { where }: Finding): Set<number> {
  const frames = payload.table('frame');
  const [files, modules] = [frames.strings('file'), frames.strings('module')];
  const [lines, offsets] = [frames.numbers('line'), frames.numbers('offset')];
  const user = where.stack.find(({ runtime }) => !runtime);
  const here = new Set<number>();
  for (let i = 0; i < frames.rows; i++) {
    const byLine = where.file !== null && where.line !== null && files[i] === where.file && lines[i] === where.line;
    if (byLine || (user !== undefined && modules[i] === user.module && offsets[i] === user.offset)) here.add(i);
  }
  const rows = payload.table('stack_frame');
  const [stack, frame] = [rows.numbers('stack'), rows.numbers('frame')];
  const found = new Set<number>();
  for (let i = 0; i < rows.rows; i++) if (here.has(frame[i])) found.add(stack[i]);
  return found;
}

type Span = [number, number];

/** Ascending and apart. */
function merged(spans: Span[]): Span[] {
  const out: Span[] = [];
  for (const [begin, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = out[out.length - 1];
    if (last !== undefined && begin <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([begin, end]);
  }
  return out;
}

/** The first place whose value is not below the limit. */
function lowerBound(values: Float64Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Copies by the end of what they claim: of the call, or of the work where that is longer and the call
 * does not wait for it. The begin is no help: a call that waits for kernels first claims its end only.
 */
interface Index {
  end: Float64Array;
  /** Rows of `call`. */
  row: Uint32Array;
}

const indices = new WeakMap<Payload, Index>();

function indexOf(payload: Payload): Index {
  const known = indices.get(payload);
  if (known !== undefined) return known;
  const calls = payload.table('call');
  const column = (name: string) => calls.numbers(name);
  const [kind, begin, host, start, device, blocking] = [
    'kind',
    'begin',
    'host_ns',
    'device_start',
    'device_ns',
    'blocking',
  ].map(column);
  const wanted = payload.head.names.kind.indexOf('transfer');
  const endOf = (i: number) => begin[i] + (blocking[i] !== 1 && device[i] > host[i] ? start[i] + device[i] : host[i]);
  const rows: number[] = [];
  for (let i = 0; i < calls.rows; i++) if (kind[i] === wanted && endOf(i) >= 0) rows.push(i);
  const row = Uint32Array.from(rows).sort((a, b) => endOf(a) - endOf(b));
  const index = { end: Float64Array.from(row, endOf), row };
  indices.set(payload, index);
  return index;
}

const COLUMNS = ['begin', 'host_ns', 'device_ns', 'bytes', 'direction', 'blocking', 'stack', 'count'];

interface Found {
  direction: number;
  blocking: boolean;
  sizes: Map<number, { rates: number[]; n: number }>;
}

/** The copies that the finding claims, by size; of the direction that most of them have. */
function copiesOf(payload: Payload, finding: Finding): Found | null {
  const spans = merged(payload.head.claims[finding.fingerprint] ?? []);
  if (spans.length === 0) return null;
  const index = indexOf(payload);
  const calls = payload.table('call');
  const [begin, host, device, bytes, direction, blocking, stack, count] = COLUMNS.map((name) => calls.numbers(name));
  const stacks = stacksAt(payload, finding);
  const byDirection = new Map<number, Found & { all: number }>();
  const put = (i: number, from: number) => {
    if (!(bytes[i] > 0) || (stacks.size > 0 && !stacks.has(stack[i]))) return;
    const many = count[i] > 0 ? count[i] : 1;
    const waits = blocking[i] === 1;
    // Without what the call waited for before its own work.
    const called = begin[i] + host[i] - Math.max(begin[i], from);
    const time = waits || !(device[i] > 0) ? called : device[i];
    const found = byDirection.get(direction[i]) ?? {
      direction: direction[i],
      blocking: waits,
      sizes: new Map(),
      all: 0,
    };
    byDirection.set(direction[i], found);
    found.all += many;
    if (!(time > 0)) return;
    const size = bytes[i] / many;
    const entry = found.sizes.get(size) ?? { rates: [], n: 0 };
    found.sizes.set(size, entry);
    entry.n += many;
    entry.rates.push((bytes[i] / time) * 1e9);
  };
  for (const [from, to] of spans)
    for (let at = lowerBound(index.end, from); at < index.end.length && index.end[at] <= to; at++)
      put(index.row[at], from);
  return [...byDirection.values()].sort((a, b) => b.all - a.all)[0] ?? null;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function pointsOf(sizes: Found['sizes']): CopyPlot['copies'] {
  const coarse = sizes.size > MOST_SIZES;
  const groups = new Map<number, { rates: number[]; n: number }>();
  for (const [size, { rates, n }] of sizes) {
    const key = coarse ? 2 ** (Math.round(4 * Math.log2(size)) / 4) : size;
    const group = groups.get(key) ?? { rates: [], n: 0 };
    groups.set(key, group);
    group.n += n;
    for (const rate of rates) group.rates.push(rate);
  }
  return [...groups].map(([x, { rates, n }]) => ({ x, y: median(rates), n })).sort((a, b) => a.x - b.x);
}

function curvePoints(curve: Curve | undefined): Point[] {
  return (curve?.points ?? []).flatMap(({ bytes, median_ns }) =>
    known(median_ns) && median_ns > 0 ? [{ x: bytes, y: (bytes / median_ns) * 1e9 }] : [],
  );
}

function curvesOf(model: Model | null, direction: string, blocking: boolean): CopyPlot['curves'] {
  const transfers = model?.transfers ?? {};
  const mode = blocking ? 'sync' : 'async';
  const keys: [string, string][] =
    direction === 'd2d' || direction === 'peer'
      ? [[`${direction}_async`, 'calibrated']]
      : [
          [`${direction}_pinned_${mode}`, 'page-locked'],
          [`${direction}_pageable_${mode}`, 'pageable'],
        ];
  return keys
    .map(([key, name]) => ({ name, points: curvePoints(transfers[key]) }))
    .filter(({ points }) => points.length > 0);
}

/** What the call says of the direction, where the copies themselves are not in the page. */
function directionOf({ where, headline }: Finding): string | null {
  const api = /(H|D)to(H|D)/.exec(where.api ?? '');
  if (api !== null) return `${api[1]}2${api[2]}`.toLowerCase();
  return /\b(h2d|d2h|d2d)\b/.exec(headline)?.[1] ?? null;
}

/** Sizes and time after the repair, from the evidence of GM102 and of GM101 and GM104. */
function afterOf(finding: Finding): Point | null {
  const [bytes, copies, runs] = ['bytes', 'copies', 'runs'].map((name) => value(finding, name));
  const pinned = value(finding, 'pinned_time');
  const merged = value(finding, 'time_of_one_copy_per_run');
  if (bytes / copies > 0 && pinned > 0) return { x: bytes / copies, y: (bytes / pinned) * 1e9 };
  if (bytes / runs > 0 && merged > 0) return { x: bytes / runs, y: (bytes / merged) * 1e9 };
  return null;
}

/** null: nothing worth drawing is known. */
export function copyPlot(payload: Payload, model: Model | null, finding: Finding): CopyPlot | null {
  if (payload.head.report.device.software) return null; // it has no times
  const found = copiesOf(payload, finding);
  const direction = found !== null ? payload.head.names.direction[found.direction] : directionOf(finding);
  if (direction === null || direction === undefined) return null;
  let copies = found !== null ? pointsOf(found.sizes) : [];
  if (copies.length === 0) {
    const [bytes, count, time] = ['bytes', 'copies', 'time'].map((name) => value(finding, name));
    if (bytes / count > 0 && time > 0) copies = [{ x: bytes / count, y: (bytes / time) * 1e9, n: count }];
  }
  const blocking = found?.blocking ?? !/Async/.test(finding.where.api ?? '');
  const curves = curvesOf(model, direction, blocking);
  if (copies.length === 0 || curves.length === 0) return null;
  return { direction, curves, copies, after: afterOf(finding) };
}
