// SPDX-License-Identifier: Apache-2.0
// Where lanes lie on the canvas, in CSS pixels, and what is at a point.
import type { Head } from '../../payload';
import type { Lane, LaneKind } from './model';

export interface PlacedLane {
  lane: Lane;
  top: number;
  height: number;
  trackHeight: number;
  /** Where the title stands, where there is no gutter. */
  titleTop: number;
}
export interface Heading {
  text: string;
  top: number;
}
export interface Layout {
  width: number;
  height: number;
  /** Titles stand in a column on the left; 0: above their lanes. */
  gutter: number;
  ruler: number;
  lanes: PlacedLane[];
  headings: Heading[];
}

const HEIGHT: Record<LaneKind, number> = { thread: 20, own: 14, busy: 14, idle: 14, stream: 20, copies: 15, memory: 56 };
const STACKED = 15; // a track's height where a lane has several
const GAP = 5;
const HEADING = 20;
const RULER = 26;
const TITLE = 15;
const NARROW = 620;
const GUTTER = 184;

/** When not all are asked for, the lanes with the most events: so many threads, and streams of all devices. */
const MOST: Partial<Record<LaneKind, number>> = { thread: 8, stream: 12 };
const LEAST = 2; // of each device

/** The lanes that are drawn, in their order; those that are wanted (they hold what is selected) always. */
export function chooseLanes(lanes: Lane[], all: boolean, wanted: (lane: Lane) => boolean): Lane[] {
  if (all) return lanes;
  const devices = Math.max(1, new Set(lanes.filter(({ device }) => device >= 0).map(({ device }) => device)).size);
  const places = new Map<string, number>();
  const kept = new Set<Lane>();
  for (const lane of [...lanes].sort((a, b) => b.events - a.events)) {
    const most = MOST[lane.kind] ?? Infinity;
    const group = `${lane.kind} ${lane.device}`;
    const taken = places.get(group) ?? 0;
    const share = lane.device < 0 ? most : Math.max(LEAST, Math.ceil(most / devices));
    if (taken >= share && !wanted(lane)) continue;
    places.set(group, taken + 1);
    kept.add(lane);
  }
  return lanes.filter((lane) => kept.has(lane));
}

function groupTitle(lane: Lane, head: Head): string {
  if (lane.device < 0) return 'Host threads';
  const name = head.devices[lane.device]?.name ?? 'GPU';
  return head.devices.length > 1 ? `GPU ${lane.device}: ${name}` : name;
}

export function layOut(lanes: Lane[], head: Head, width: number): Layout {
  const gutter = width < NARROW ? 0 : GUTTER;
  const layout: Layout = { width, height: 0, gutter, ruler: RULER, lanes: [], headings: [] };
  let top = RULER + 2;
  let group = '';
  for (const lane of lanes) {
    const title = groupTitle(lane, head);
    if (title !== group) {
      group = title;
      layout.headings.push({ text: title, top });
      top += HEADING;
    }
    const titleTop = top;
    if (gutter === 0) top += TITLE;
    const depth = Math.max(1, lane.tracks.length);
    const trackHeight = depth > 1 ? STACKED : HEIGHT[lane.kind];
    layout.lanes.push({ lane, top, height: trackHeight * depth, trackHeight, titleTop });
    top += trackHeight * depth + GAP;
  }
  layout.height = top + 2;
  return layout;
}

/** The lane at a height, and the depth of the track in it. */
export function laneAt(layout: Layout, y: number): { placed: PlacedLane; depth: number } | null {
  for (const placed of layout.lanes) {
    if (y < placed.top - 1 || y > placed.top + placed.height + 1) continue;
    const depth = Math.floor((y - placed.top) / placed.trackHeight);
    return { placed, depth: Math.min(Math.max(depth, 0), Math.max(0, placed.lane.tracks.length - 1)) };
  }
  return null;
}

/** The x axis in CSS pixels of the canvas. */
export interface Scale {
  left: number;
  width: number;
  x: (time: number) => number;
  time: (x: number) => number;
  perPixel: number;
}

export function scaleOf(layout: Pick<Layout, 'gutter' | 'width'>, from: number, to: number): Scale {
  const left = layout.gutter;
  const width = Math.max(1, layout.width - left);
  const perPixel = (to - from) / width;
  return {
    left,
    width,
    perPixel,
    x: (time) => left + (time - from) / perPixel,
    time: (x) => from + (x - left) * perPixel,
  };
}
