// SPDX-License-Identifier: Apache-2.0
// What the device was idle for within a range: the pieces that the analysis found (analyzer/summary/idle_causes.h), cut to the range.
import type { Payload } from '../../payload';
import type { Range } from '../../span';
import type { CallPlace, TimePart } from '../../report';

const MOST_PLACES = 5;

/** Pieces of idle time by begin; `part`: index into report.time.parts, `place`: into head.idle_places. */
export interface Pieces {
  rows: number;
  begin: ArrayLike<number>;
  ns: ArrayLike<number>;
  part: ArrayLike<number>;
  place: ArrayLike<number>;
  device: ArrayLike<number>;
}

export function piecesOf(payload: Payload): Pieces {
  const table = payload.table('idle');
  const [begin, ns, part, place, device] = ['begin', 'ns', 'part', 'place', 'device'].map((name) => table.numbers(name));
  return { rows: table.rows, begin, ns, part, place, device };
}

/** "between a.cu:1 and a.cu:9", or the place. */
export function placeName({ label, until }: Pick<CallPlace, 'label' | 'until'>): string {
  return until === undefined ? label : `between ${label} and ${until}`;
}

/** Of several devices: the sum of all. */
export function causesWithin(payload: Payload, range: Range): TimePart[] {
  const { report, idle_places = [] } = payload.head;
  const pieces = piecesOf(payload);
  const sums = new Map<number, Map<number, CallPlace>>();
  for (let row = 0; row < pieces.rows; row++) {
    const from = Math.max(range[0], pieces.begin[row]);
    const ns = Math.min(range[1], pieces.begin[row] + pieces.ns[row]) - from;
    if (!(ns > 0)) continue;
    const places = sums.get(pieces.part[row]) ?? new Map<number, CallPlace>();
    sums.set(pieces.part[row], places);
    const known = idle_places[pieces.place[row]] ?? { label: 'not known', function: null, file: null, line: null };
    const place = places.get(pieces.place[row]) ?? { ...known, count: 0, time_ns: 0, longest_ns: 0 };
    place.count = (place.count ?? 0) + 1;
    place.time_ns = (place.time_ns ?? 0) + ns;
    place.longest_ns = Math.max(place.longest_ns ?? 0, ns);
    places.set(pieces.place[row], place);
  }
  return (report.time?.parts ?? []).flatMap(({ name, title }, part) =>
    name.startsWith('idle_') ? [partOf(name, title, sums.get(part) ?? new Map<number, CallPlace>())] : [],
  );
}

function partOf(name: string, title: string, all: Map<number, CallPlace>): TimePart {
  const places = [...all.values()].sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0));
  return {
    name,
    title,
    ns: places.reduce((sum, { time_ns }) => sum + (time_ns ?? 0), 0),
    times: places.reduce((sum, { count }) => sum + (count ?? 0), 0),
    longest_ns: Math.max(0, ...places.map(({ longest_ns }) => longest_ns ?? 0)),
    places: places.slice(0, MOST_PLACES),
  };
}
