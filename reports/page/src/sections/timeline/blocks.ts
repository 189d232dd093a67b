// SPDX-License-Identifier: Apache-2.0
// Where an event is drawn: its block on its thread, its stream and its copy engine, for arrows, outlines
// and finding it under the pointer.
import { bytes } from '../../format';
import { apiOf, directionOf, kindOf, nameOf, NODE } from './events';
import type { Layout, PlacedLane, Scale } from './layout';
import { laneAt } from './layout';
import type { Model } from './model';
import { blockAt, levelFor } from './tracks';

export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

type On = 'host' | 'device' | 'copy';

function boxOn(placed: PlacedLane, depth: number, begin: number, end: number, scale: Scale): Box {
  const y0 = placed.top + depth * placed.trackHeight;
  return { x0: scale.x(begin), x1: scale.x(end), y0, y1: y0 + placed.trackHeight - 1 };
}

/** null: not drawn there (its lane is not shown, or the device did nothing for it). */
export function boxOf(model: Model, layout: Layout, scale: Scale, row: number, on: On): Box | null {
  const { events } = model;
  const device = on !== 'host';
  const begin = device ? events.deviceBegin[row] : events.begin[row];
  const kind = kindOf(events, row);
  if (Number.isNaN(begin) || (on === 'copy' && kind !== 'transfer') || (on === 'host' && kind === NODE)) return null;
  const lane = on === 'host' ? 'thread' : on === 'device' ? 'stream' : 'copies';
  const column = { host: events.thread, device: events.stream, copy: events.direction }[on];
  const of = Number.isNaN(column[row]) ? -1 : column[row];
  const gpu = device ? (events.head.streams[events.stream[row]]?.device ?? 0) : -1;
  const placed = layout.lanes.find((p) => p.lane.kind === lane && p.lane.of === of && p.lane.device === gpu);
  if (placed === undefined) return null;
  const depth = { host: model.hostDepth, device: model.deviceDepth, copy: model.copyDepth }[on][row];
  return boxOn(placed, depth, begin, device ? events.deviceEnd[row] : events.end[row], scale);
}

export interface Hit {
  placed: PlacedLane;
  /** Row of the table `call`; -1: the lane has no events of its own (own, busy, idle, memory), or none is here. */
  row: number;
  /** Events in the block, of which the row is the longest. */
  count: number;
  /** On the x axis. */
  time: number;
}

const SLACK = 3; // CSS pixels beside a block that still mean it

export function hitAt(layout: Layout, scale: Scale, x: number, y: number): Hit | null {
  const found = laneAt(layout, y);
  if (found === null || x < scale.left) return null;
  const { placed, depth } = found;
  const time = scale.time(x);
  const none = { placed, row: -1, count: 0, time };
  const track = placed.lane.tracks[depth];
  if (track === undefined || ['busy', 'idle', 'own'].includes(placed.lane.kind)) return none;
  const level = levelFor(track, scale.perPixel / Math.max(1, devicePixelRatio));
  const block = blockAt(level, time, SLACK * scale.perPixel);
  if (block < 0) return none;
  return { placed, row: level.row[block], count: level.count === null ? 1 : level.count[block], time };
}

const LONGEST = 120; // letters that a block can hold on any screen

/** What is written into a block: the first that fits; only a name may be cut. */
export function labelsOf(model: Model, row: number, onHost: boolean): { texts: string[]; cut: boolean } {
  const { events } = model;
  const kind = kindOf(events, row);
  const short = model.kernels[events.kernel[row]];
  if (short !== undefined) return { texts: onHost ? [`launch ${short}`, short] : [short], cut: true };
  if (kind === 'transfer' || kind === 'memset') {
    const word = kind === 'memset' ? 'memset' : directionOf(events, row);
    return { texts: [`${word} ${bytes(events.bytes[row])}`, word], cut: false };
  }
  // "cudaMalloc (cuMemAlloc_v2)": what the user wrote is enough for a block.
  const called = apiOf(events, row).split(' (')[0];
  return { texts: [nameOf(events, row), called].map((text) => text.slice(0, LONGEST)), cut: true };
}
