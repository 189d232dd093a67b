// SPDX-License-Identifier: Apache-2.0
// The table `call` as the timeline reads it: begin and end on the host and on the device, and what is
// said of an event. Where a trace has no times, the number of the call takes the place of the time.
import { bytes, NOTHING } from '../../format';
import { stacksOf } from '../../parts/stacks';
import type { Head, Payload } from '../../payload';
import type { Frame } from '../../report';
import { lowerBound } from './sort';

export interface Events {
  head: Head;
  rows: number;
  /** The x axis is the number of the call: times of this trace mean nothing. */
  byOrder: boolean;
  hasDevice: boolean;
  begin: Float64Array;
  end: Float64Array;
  /** NaN where the device did nothing for the call, or it is not known when. */
  deviceBegin: Float64Array;
  deviceEnd: Float64Array;
  hostNs: ArrayLike<number>;
  deviceNs: ArrayLike<number>;
  kind: ArrayLike<number>;
  api: ArrayLike<number>;
  thread: ArrayLike<number>;
  stream: ArrayLike<number>;
  bytes: ArrayLike<number>;
  direction: ArrayLike<number>;
  hostClass: ArrayLike<number>;
  blocking: ArrayLike<number>;
  kernel: ArrayLike<number>;
  stack: ArrayLike<number>;
  count: ArrayLike<number>;
  id: ArrayLike<number>;
  /** When the call began in ns, whatever the x axis is. */
  beginNs: Float64Array;
}

/** Kernels of graphs have no call of the host. */
export const NODE = 'node';
export const DEVICE_KINDS = ['launch', 'transfer', 'memset', NODE];

export function timesMeanNothing(head: Head): boolean {
  return head.report.device.software || head.report.verdict.wall_ns === null;
}

function plus(begin: ArrayLike<number>, length: ArrayLike<number>): Float64Array {
  const sum = new Float64Array(begin.length);
  for (let i = 0; i < sum.length; i++) sum[i] = begin[i] + (length[i] > 0 ? length[i] : 0);
  return sum;
}

/** Call i lies at [i, i + 1), and so does what the device did for it. */
function placeByOrder(events: Events) {
  const device = DEVICE_KINDS.map((kind) => events.head.names.kind.indexOf(kind));
  for (let i = 0; i < events.rows; i++) {
    events.begin[i] = i;
    events.end[i] = i + 1;
    const works = device.includes(events.kind[i]);
    events.deviceBegin[i] = works ? i : NaN;
    events.deviceEnd[i] = works ? i + 1 : NaN;
  }
}

export function readEvents(payload: Payload): Events {
  const table = payload.table('call');
  const { head } = payload;
  const beginNs = Float64Array.from(table.numbers('begin'));
  // A call without a time is put behind the one before it rather than left out.
  for (let i = 0; i < beginNs.length; i++) if (Number.isNaN(beginNs[i])) beginNs[i] = i > 0 ? beginNs[i - 1] : 0;
  const hostNs = table.numbers('host_ns');
  const deviceNs = table.numbers('device_ns');
  const start = table.numbers('device_start');
  const deviceBegin = new Float64Array(table.rows);
  for (let i = 0; i < table.rows; i++) deviceBegin[i] = beginNs[i] + start[i];
  const events: Events = {
    head,
    rows: table.rows,
    byOrder: timesMeanNothing(head),
    hasDevice: false,
    beginNs,
    begin: beginNs,
    end: plus(beginNs, hostNs),
    deviceBegin,
    deviceEnd: plus(deviceBegin, deviceNs),
    hostNs,
    deviceNs,
    kind: table.numbers('kind'),
    api: table.numbers('api'),
    thread: table.numbers('thread'),
    stream: table.numbers('stream'),
    bytes: table.numbers('bytes'),
    direction: table.numbers('direction'),
    hostClass: table.numbers('host_class'),
    blocking: table.numbers('blocking'),
    kernel: table.numbers('kernel'),
    stack: table.numbers('stack'),
    count: table.numbers('count'),
    id: table.numbers('id'),
  };
  if (events.byOrder) {
    events.begin = new Float64Array(events.rows);
    placeByOrder(events);
  }
  events.hasDevice = events.deviceBegin.some((value) => !Number.isNaN(value));
  return events;
}

/** Where a time in ns lies on the x axis. */
export function place(events: Events, timeNs: number): number {
  return events.byOrder ? lowerBound(events.beginNs, timeNs) : timeNs;
}

export function countOf(events: Events, row: number): number {
  const count = events.count[row];
  return Number.isNaN(count) ? 1 : count;
}

export function kindOf(events: Events, row: number): string {
  return events.head.names.kind[events.kind[row]] ?? 'other';
}

export function apiOf(events: Events, row: number): string {
  return events.head.names.api[events.api[row]] ?? NOTHING;
}

/** "h2d" for people: "H2D". */
export function directionOf(events: Events, row: number): string {
  return (events.head.names.direction[events.direction[row]] ?? 'unknown').toUpperCase();
}

const LONGEST = 120; // letters of a short name

/** The name of a kernel without return type, arguments, templates and namespaces: what fits into a block. */
export function shortKernel(name: string): string {
  let depth = 0;
  let kept = '';
  for (const character of name.slice(0, 4096).replaceAll('(anonymous namespace)', '')) {
    if (character === '<') depth++;
    else if (character === '>') depth = Math.max(0, depth - 1);
    else if (depth === 0) {
      if (character === '(') break;
      kept += character;
    }
  }
  const word =
    kept
      .trim()
      .split(/[\s:]+/)
      .pop() ?? '';
  return (word === '' ? name : word).slice(0, LONGEST);
}

export function kernelName(events: Events, row: number): string | null {
  return events.head.report.kernels[events.kernel[row]]?.name ?? null;
}

/** What the event is, in full: the name of the kernel, the copy with its direction and size, the function. */
export function nameOf(events: Events, row: number): string {
  const size = Number.isNaN(events.bytes[row]) ? '' : ` ${bytes(events.bytes[row])}`;
  switch (kindOf(events, row)) {
    case 'launch':
      return kernelName(events, row) ?? apiOf(events, row);
    case 'node':
      return kernelName(events, row) ?? 'kernel of a graph';
    case 'transfer':
      return `${directionOf(events, row)} copy${size}`;
    case 'memset':
      return `memset${size}`;
    case 'allocate':
    case 'free':
      return `${apiOf(events, row)}${size}`;
    default:
      return apiOf(events, row);
  }
}

export function threadName(head: Head, thread: number): string {
  const known = head.threads[thread];
  if (known === undefined) return 'unknown thread';
  return known.name === null ? `thread ${known.tid}` : `${known.name} (${known.tid})`;
}

/** With the number of the device where there are several. */
export function streamName(head: Head, stream: number): string {
  const known = head.streams[stream];
  if (known === undefined) return 'unknown stream';
  return head.devices.length > 1 ? `GPU ${known.device}: ${known.label}` : known.label;
}

/** Of a copy, in bytes per second; on the device where that was measured, else NaN. */
export function bandwidth(events: Events, row: number): number {
  const taken = events.deviceNs[row];
  return kindOf(events, row) === 'transfer' && taken > 0 && !events.byOrder ? (events.bytes[row] / taken) * 1e9 : NaN;
}

/** Frames of a stack, innermost first; none where it is not known. */
export function framesOf(payload: Payload, stack: number): Frame[] {
  const table = payload.table('frame');
  const [line, offset, runtime] = ['line', 'offset', 'runtime'].map((name) => table.numbers(name));
  const [called, file, module] = ['function', 'file', 'module'].map((name) => table.strings(name));
  return stacksOf(payload)
    .all(stack)
    .map((row) => ({
      function: called[row] ?? null,
      file: file[row] ?? null,
      module: module[row] ?? null,
      line: line[row] > 0 ? line[row] : null,
      offset: offset[row],
      runtime: runtime[row] > 0,
    }));
}
