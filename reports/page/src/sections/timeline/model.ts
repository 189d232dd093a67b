// SPDX-License-Identifier: Apache-2.0
// Lanes of the timeline: threads, gmtrace's own work, streams and copy engines of each device, when the device was busy, and
// its memory in use. Built once; drawing and searching only read it.
import { known } from '../../format';
import type { Payload } from '../../payload';
import { piecesOf, type Pieces } from '../idle/model';
import { NODE, place, readEvents, shortKernel, threadName, type Events } from './events';
import { idleLane } from './idle';
import { BUSY_LOOK, kernelLooks, kindLook, OWN_LOOK } from './looks';
import { readMemory, type MemoryCurve } from './memory';
import { sortByKey } from './sort';
import { buildTrack, stack, type Track } from './tracks';

export type LaneKind = 'thread' | 'own' | 'busy' | 'idle' | 'stream' | 'copies' | 'memory';

export interface Lane {
  kind: LaneKind;
  title: string;
  /** Of streams, copies, busy, idle and memory; -1: a thread, or gmtrace itself. */
  device: number;
  /** Index of the thread or the stream; of the direction for copies; else -1. */
  of: number;
  /** By depth. */
  tracks: Track[];
  events: number;
  memory: MemoryCurve | null;
}

/** When a device did anything: disjoint intervals by begin, and the sum of all before each. */
export interface Busy {
  begin: Float64Array;
  end: Float64Array;
  before: Float64Array;
}

export interface Model {
  events: Events;
  lanes: Lane[];
  /** By device. */
  busy: Map<number, Busy>;
  /** What devices did is not known for all of the time: they were busy at least as long as that. */
  busyAtLeast: boolean;
  /** When each device did nothing, and why. */
  idle: Pieces;
  from: number;
  to: number;
  /** Depth of a row in its thread's lane, in its stream's, and in that of its copy engine. */
  hostDepth: Uint8Array;
  deviceDepth: Uint8Array;
  copyDepth: Uint8Array;
  /** Short names of report.kernels. */
  kernels: string[];
  /** Look of each row by kind, or by kernel. */
  hostLook: Uint8Array;
  deviceLook: Uint8Array;
}

const DEEPEST = { thread: 4, stream: 3, copies: 3 };

/** When gmtrace held the program up; null: never, or the trace does not know. */
function ownLane({ head, byOrder }: Events, span: number): Lane | null {
  const own = head.own ?? [];
  if (own.length === 0 || byOrder) return null;
  const { length } = own;
  const track = buildTrack(
    {
      length,
      begin: Float64Array.from(own, ([begin]) => begin),
      end: Float64Array.from(own, ([, end]) => end),
      look: new Uint8Array(length).fill(OWN_LOOK),
      row: new Uint32Array(length),
    },
    span,
  );
  return { kind: 'own', title: 'gmtrace itself', device: -1, of: -1, tracks: [track], events: length, memory: null };
}

/** Row numbers by the value of a column, in the order of the values; -1: not known. */
function groupRows(column: ArrayLike<number>, takes: (row: number) => boolean): Map<number, Uint32Array> {
  const groups = new Map<number, number[]>();
  for (let i = 0; i < column.length; i++) {
    if (!takes(i)) continue;
    const key = Number.isNaN(column[i]) ? -1 : column[i];
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [i]);
    else group.push(i);
  }
  return new Map([...groups].sort(([a], [b]) => a - b).map(([key, rows]) => [key, Uint32Array.from(rows)]));
}

function trackOf(rows: Uint32Array, begin: Float64Array, end: Float64Array, look: Uint8Array, span: number): Track {
  const length = rows.length;
  const entries = {
    length,
    begin: new Float64Array(length),
    end: new Float64Array(length),
    look: new Uint8Array(length),
    row: rows,
  };
  for (let i = 0; i < length; i++) {
    entries.begin[i] = begin[rows[i]];
    entries.end[i] = end[rows[i]];
    entries.look[i] = look[rows[i]];
  }
  return buildTrack(entries, span);
}

function union(rows: Uint32Array, begin: Float64Array, end: Float64Array): Busy {
  const begins = new Float64Array(rows.length);
  const ends = new Float64Array(rows.length);
  let length = 0;
  for (const row of rows) {
    if (length > 0 && begin[row] <= ends[length - 1]) ends[length - 1] = Math.max(ends[length - 1], end[row]);
    else {
      begins[length] = begin[row];
      ends[length++] = end[row];
    }
  }
  const before = new Float64Array(length);
  for (let i = 1; i < length; i++) before[i] = before[i - 1] + ends[i - 1] - begins[i - 1];
  return { begin: begins.slice(0, length), end: ends.slice(0, length), before };
}

function looks(events: Events): { host: Uint8Array; device: Uint8Array } {
  const host = new Uint8Array(events.rows);
  const device = new Uint8Array(events.rows);
  const byKind = events.head.names.kind.map(kindLook);
  const kernels = events.head.report.kernels.map(({ name }) => name);
  const byName = kernelLooks(kernels);
  const byKernel = kernels.map((name) => byName.get(name) ?? 0);
  for (let i = 0; i < events.rows; i++) {
    host[i] = byKind[events.kind[i]] ?? 0;
    device[i] = byKernel[events.kernel[i]] ?? host[i];
  }
  return { host, device };
}

function extent(events: Events, curves: MemoryCurve[]): [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (let i = 0; i < events.rows; i++) {
    from = Math.min(from, events.begin[i]);
    to = Math.max(to, events.end[i]);
    if (events.deviceBegin[i] < from) from = events.deviceBegin[i];
    if (events.deviceEnd[i] > to) to = events.deviceEnd[i];
  }
  for (const { time } of curves) {
    if (time.length === 0) continue;
    from = Math.min(from, time[0]);
    to = Math.max(to, time[time.length - 1]);
  }
  if (!(from < Infinity)) return [0, 1];
  return [from, to > from ? to : from + 1];
}

function devicesOf(events: Events, byStream: Map<number, Uint32Array>, curves: Map<number, MemoryCurve>): number[] {
  const found = new Set(curves.keys());
  for (const stream of byStream.keys()) found.add(events.head.streams[stream]?.device ?? 0);
  return [...found].sort((a, b) => a - b);
}

function joined(parts: Uint32Array[], key: Float64Array): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return sortByKey(all, key);
}

export function buildModel(payload: Payload): Model {
  const events = readEvents(payload);
  const { head, begin, end, deviceBegin, deviceEnd } = events;
  const curves = readMemory(payload, (time) => place(events, time));
  const [from, to] = extent(events, [...curves.values()]);
  const span = to - from;
  const { host, device: onDevice } = looks(events);
  const model: Model = {
    events,
    lanes: [],
    busy: new Map(),
    busyAtLeast: known(head.report.verdict.device_seen_share),
    idle: piecesOf(payload),
    from,
    to,
    hostDepth: new Uint8Array(events.rows),
    deviceDepth: new Uint8Array(events.rows),
    copyDepth: new Uint8Array(events.rows),
    kernels: head.report.kernels.map(({ name, title }) => title ?? shortKernel(name)),
    hostLook: host,
    deviceLook: onDevice,
  };
  const add = (
    lane: Pick<Lane, 'title' | 'device' | 'of'> & { kind: keyof typeof DEEPEST },
    rows: Uint32Array,
    depth: Uint8Array,
  ) => {
    const onHost = lane.kind === 'thread';
    const [b, e] = onHost ? [begin, end] : [deviceBegin, deviceEnd];
    const sorted = sortByKey(rows, b);
    const tracks = stack(sorted, b, e, DEEPEST[lane.kind], depth).rows.map((part) =>
      trackOf(part, b, e, onHost ? host : onDevice, span),
    );
    model.lanes.push({ ...lane, tracks, events: rows.length, memory: null });
    return sorted;
  };
  const node = head.names.kind.indexOf(NODE);
  for (const [thread, rows] of groupRows(events.thread, (i) => events.kind[i] !== node))
    add({ kind: 'thread', title: threadName(head, thread), device: -1, of: thread }, rows, model.hostDepth);
  const own = ownLane(events, span);
  if (own !== null) model.lanes.push(own);
  const transfer = head.names.kind.indexOf('transfer');
  const byStream = groupRows(events.stream, (i) => !Number.isNaN(deviceBegin[i]));
  for (const device of devicesOf(events, byStream, curves)) {
    const streams = [...byStream].filter(([stream]) => (head.streams[stream]?.device ?? 0) === device);
    const at = model.lanes.length;
    const work = streams.map(([stream, rows]) =>
      add(
        { kind: 'stream', title: head.streams[stream]?.label ?? 'unknown stream', device, of: stream },
        rows,
        model.deviceDepth,
      ),
    );
    const all = joined(work, deviceBegin);
    if (all.length > 0 && !events.byOrder) {
      const busy = union(all, deviceBegin, deviceEnd);
      model.busy.set(device, busy);
      const length = busy.begin.length;
      const look = new Uint8Array(length).fill(BUSY_LOOK);
      const track = buildTrack({ length, begin: busy.begin, end: busy.end, look, row: new Uint32Array(length) }, span);
      model.lanes.splice(at, 0, {
        kind: 'busy',
        title: 'busy in what is shown',
        device,
        of: -1,
        tracks: [track],
        events: length,
        memory: null,
      });
    }
    const idle = idleLane(events, model.idle, device, span);
    if (idle !== null) model.lanes.splice(all.length > 0 ? at + 1 : at, 0, idle);
    const copies = all.filter((row) => events.kind[row] === transfer);
    const directions = Float64Array.from(copies, (row) => events.direction[row]);
    for (const [direction, rows] of groupRows(directions, () => true)) {
      const title = `${(head.names.direction[direction] ?? 'unknown').toUpperCase()} copies`;
      add(
        { kind: 'copies', title, device, of: direction },
        rows.map((i) => copies[i]),
        model.copyDepth,
      );
    }
    const memory = curves.get(device);
    if (memory !== undefined)
      model.lanes.push({
        kind: 'memory',
        title: 'memory in use',
        device,
        of: -1,
        tracks: [],
        events: memory.time.length,
        memory,
      });
  }
  return model;
}
