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

/** "between a.cu:1 and a.cu:9", or the place; ", in b.py:3" where it has an inner one. */
export function placeName({ label, until, inner }: Pick<CallPlace, 'label' | 'until' | 'inner'>): string {
  return (until === undefined ? label : `between ${label} and ${until}`) + (inner === undefined ? '' : `, in ${inner}`);
}

/** Places of one name are one. */
function merged(places: Iterable<CallPlace>): CallPlace[] {
  const sums = new Map<string, CallPlace>();
  for (const place of places) {
    const name = `${placeName(place)}\n${place.file ?? ''}`;
    const sum = sums.get(name) ?? { ...place, count: 0, time_ns: 0, longest_ns: 0 };
    sum.count = (sum.count ?? 0) + (place.count ?? 0);
    sum.time_ns = (sum.time_ns ?? 0) + (place.time_ns ?? 0);
    sum.longest_ns = Math.max(sum.longest_ns ?? 0, place.longest_ns ?? 0);
    sums.set(name, sum);
  }
  return [...sums.values()];
}

/** As gmt_idle_pieces_name does: a line that has more than half of the time is divided by what of a library it was in. */
function divided(places: CallPlace[]): CallPlace[] {
  const whole = (place: CallPlace): CallPlace => ({ ...place, inner: undefined });
  const half = places.reduce((sum, { time_ns }) => sum + (time_ns ?? 0), 0) / 2;
  const much = merged(places.map(whole)).find(({ time_ns }) => (time_ns ?? 0) > half);
  const isMuch = (place: CallPlace) =>
    much !== undefined && placeName(whole(place)) === placeName(much) && place.file === much.file;
  return merged(places.map((place) => (isMuch(place) ? place : whole(place))));
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
  const places = divided([...all.values()]).sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0));
  return {
    name,
    title,
    ns: places.reduce((sum, { time_ns }) => sum + (time_ns ?? 0), 0),
    times: places.reduce((sum, { count }) => sum + (count ?? 0), 0),
    longest_ns: Math.max(0, ...places.map(({ longest_ns }) => longest_ns ?? 0)),
    places: places.slice(0, MOST_PLACES),
  };
}
