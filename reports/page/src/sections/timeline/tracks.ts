// SPDX-License-Identifier: Apache-2.0
// One row of blocks and its levels of detail: however many events there are, a view of N pixels
// looks at a small multiple of N of them.
import { lowerBound } from './sort';

/** Blocks of one row, by begin. A block of a coarser level stands for several events. */
export interface Level {
  /** No block of several events is longer than this; 0: the events themselves. */
  resolution: number;
  length: number;
  begin: Float64Array;
  end: Float64Array;
  /** The furthest end so far: what a search from the left needs where events overlap; else the ends. */
  reach: Float64Array;
  /** Number of the look (draw.ts) of the event, or of those that take most of the block. */
  look: Uint8Array;
  /** Time in which something ran. null: all of it. */
  covered: Float64Array | null;
  /** Events in the block. null: one. */
  count: Uint32Array | null;
  /** Row of the table `call` of the event, or of the longest in the block. */
  row: Uint32Array;
}

export interface Track {
  levels: Level[];
}

export interface Entries {
  length: number;
  begin: Float64Array;
  end: Float64Array;
  look: Uint8Array;
  row: Uint32Array;
}

function reachOf(end: Float64Array, length: number): Float64Array {
  let sorted = true;
  for (let i = 1; i < length && sorted; i++) sorted = end[i] >= end[i - 1];
  if (sorted) return end;
  const reach = new Float64Array(length);
  let furthest = -Infinity;
  for (let i = 0; i < length; i++) reach[i] = furthest = Math.max(furthest, end[i]);
  return reach;
}

class Builder {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly covered: Float64Array;
  private readonly weight: Float64Array;
  private readonly longest: Float64Array;
  readonly look: Uint8Array;
  readonly count: Uint32Array;
  readonly row: Uint32Array;
  length = 0;

  constructor(capacity: number) {
    this.begin = new Float64Array(capacity);
    this.end = new Float64Array(capacity);
    this.covered = new Float64Array(capacity);
    this.weight = new Float64Array(capacity);
    this.longest = new Float64Array(capacity);
    this.look = new Uint8Array(capacity);
    this.count = new Uint32Array(capacity);
    this.row = new Uint32Array(capacity);
  }

  private append(level: Level, i: number, covered: number) {
    const at = this.length++;
    this.begin[at] = level.begin[i];
    this.end[at] = level.end[i];
    this.covered[at] = this.weight[at] = this.longest[at] = covered;
    this.look[at] = level.look[i];
    this.count[at] = level.count === null ? 1 : level.count[i];
    this.row[at] = level.row[i];
  }

  /** Puts block i of the finer level into the last block where both fit into the resolution. */
  add(level: Level, i: number, resolution: number) {
    const at = this.length - 1;
    const covered = level.covered === null ? level.end[i] - level.begin[i] : level.covered[i];
    if (at < 0 || level.end[i] - this.begin[at] > resolution || this.end[at] - this.begin[at] > resolution) {
      this.append(level, i, covered);
      return;
    }
    const from = this.end[at];
    this.end[at] = Math.max(from, level.end[i]);
    // What overlaps (beyond the deepest stacking) must not count twice.
    this.covered[at] = Math.min(this.covered[at] + covered, this.end[at] - this.begin[at]);
    this.count[at] += level.count === null ? 1 : level.count[i];
    if (covered > this.longest[at]) {
      this.longest[at] = covered;
      this.row[at] = level.row[i];
    }
    // The look that leads keeps the lead until others have taken as much (Boyer and Moore's vote).
    if (level.look[i] === this.look[at]) this.weight[at] += covered;
    else if (covered > this.weight[at]) {
      this.weight[at] = covered - this.weight[at];
      this.look[at] = level.look[i];
    } else this.weight[at] -= covered;
  }

  finish(resolution: number): Level {
    const { length, begin, end, look, covered, count, row } = this;
    return { resolution, length, begin, end, reach: reachOf(end, length), look, covered, count, row };
  }
}

/** How many blocks a level of this resolution would have. */
function countBlocks(level: Level, resolution: number): number {
  let blocks = 0;
  let begin = 0;
  let end = Infinity;
  for (let i = 0; i < level.length; i++) {
    if (blocks === 0 || level.end[i] - begin > resolution || end - begin > resolution) {
      blocks++;
      begin = level.begin[i];
      end = level.end[i];
    } else if (level.end[i] > end) end = level.end[i];
  }
  return blocks;
}

const ENOUGH = 512; // blocks: fewer need no coarser level
const STEP = 4; // between the resolutions that are tried
const WORTH = 0.5; // of the finer level's size: else it is not kept

/** Entries by begin. The arrays are kept, not copied. */
export function buildTrack(entries: Entries, span: number): Track {
  const { length, begin, end, look, row } = entries;
  let finest: Level = {
    resolution: 0,
    length,
    begin,
    end,
    reach: reachOf(end, length),
    look,
    covered: null,
    count: null,
    row,
  };
  const levels = [finest];
  if (length <= ENOUGH || !(span > 0)) return { levels };
  for (let resolution = span / length / 16; resolution < span; resolution *= STEP) {
    const blocks = countBlocks(finest, resolution);
    if (blocks > finest.length * WORTH) continue;
    const builder = new Builder(blocks);
    for (let i = 0; i < finest.length; i++) builder.add(finest, i, resolution);
    finest = builder.finish(resolution);
    levels.push(finest);
    if (finest.length <= ENOUGH) break;
  }
  return { levels };
}

/** The coarsest level whose merged blocks are no longer than a pixel. */
export function levelFor(track: Track, perPixel: number): Level {
  let found = track.levels[0];
  for (const level of track.levels) if (level.resolution <= perPixel) found = level;
  return found;
}

/** Blocks [first, end) that touch [from, to]. Where events overlap, some before `to` may have ended. */
export function visible(level: Level, from: number, to: number): [number, number] {
  return [lowerBound(level.reach, from, false, level.length), lowerBound(level.begin, to, true, level.length)];
}

/** The block at a time, or the nearest one not further than the slack; -1: none. */
export function blockAt(level: Level, time: number, slack: number): number {
  const [first, end] = visible(level, time - slack, time + slack);
  let best = -1;
  let nearest = Infinity;
  for (let i = first; i < Math.min(end, first + 4096); i++) {
    const distance = Math.max(level.begin[i] - time, time - level.end[i], 0);
    if (distance > slack || distance > nearest) continue;
    // Of several as near the later one: it is drawn last.
    nearest = distance;
    best = i;
  }
  return best;
}

export interface Stacked {
  /** By depth, each by begin. */
  rows: Uint32Array[];
}

/** Puts events (row numbers by begin) into as few rows as hold them side by side; what is deeper shares the last. */
export function stack(
  rows: Uint32Array,
  begin: Float64Array,
  end: Float64Array,
  deepest: number,
  depthOf: Uint8Array,
): Stacked {
  const busy = new Float64Array(deepest).fill(-Infinity);
  const sizes = new Uint32Array(deepest);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    let depth = 0;
    while (depth < deepest - 1 && busy[depth] > begin[row]) depth++;
    if (end[row] > busy[depth]) busy[depth] = end[row];
    sizes[depth]++;
    depthOf[row] = depth;
  }
  const split = Array.from(sizes, (size) => new Uint32Array(size)).filter(({ length }) => length > 0);
  sizes.fill(0);
  for (let i = 0; i < rows.length; i++) {
    const depth = depthOf[rows[i]];
    split[depth][sizes[depth]++] = rows[i];
  }
  return { rows: split };
}
