// SPDX-License-Identifier: Apache-2.0
// What the device was idle for within a range, as analyzer/summary/time_report.c computes it for the whole run.
import { stacksOf } from '../../parts/stacks';
import type { Payload } from '../../payload';
import { touches, type Range } from '../../span';
import type { CallPlace, TimePart } from '../../report';

type Span = [number, number];

/** Sorted and without overlaps. */
function merge(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const [begin, end] of spans.filter(([a, b]) => b > a).sort((a, b) => a[0] - b[0])) {
    const last = merged[merged.length - 1];
    if (last !== undefined && begin <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([begin, end]);
  }
  return merged;
}

/** What of disjoint, ascending spans others of that kind leave. */
function subtract(from: Span[], cut: Span[]): Span[] {
  const left: Span[] = [];
  let next = 0;
  for (const [begin, end] of from) {
    let at = begin;
    while (next < cut.length && cut[next][1] <= at) next++;
    for (let k = next; k < cut.length && cut[k][0] < end; k++) {
      if (cut[k][0] > at) left.push([at, cut[k][0]]);
      at = Math.max(at, cut[k][1]);
    }
    if (end > at) left.push([at, end]);
  }
  return left;
}

const lengthOf = (spans: Span[]) => spans.reduce((sum, [begin, end]) => sum + end - begin, 0);

/** In the order in which they count where threads are in several calls at once. */
const CAUSES: { name: string; title: string; is: (kind: string, api: string) => boolean }[] = [
  { name: 'idle_allocation', title: 'idle: allocation', is: (kind) => kind === 'allocate' || kind === 'free' },
  { name: 'idle_module_loading', title: 'idle: module loading', is: (_, api) => /^cu(Module|Library|Link)/.test(api) },
  { name: 'idle_copy_calls', title: 'idle: copy calls', is: (kind) => kind === 'transfer' || kind === 'memset' },
  { name: 'idle_launch_calls', title: 'idle: launch calls', is: (kind) => kind === 'launch' },
  { name: 'idle_synchronization', title: 'idle: synchronization', is: (kind) => kind === 'sync' },
  { name: 'idle_other_calls', title: 'idle: other calls', is: () => true },
];
const MOST_PLACES = 5;

export function causesWithin(payload: Payload, range: Range): TimePart[] {
  const { names, own = [] } = payload.head;
  const table = payload.table('call');
  const [kind, api, begin, host, start, device, stack] = [
    'kind',
    'api',
    'begin',
    'host_ns',
    'device_start',
    'device_ns',
    'stack',
  ].map((name) => table.numbers(name));
  const stacks = stacksOf(payload);
  const node = names.kind.indexOf('node');
  const busy: Span[] = [];
  const calls: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    const ran = begin[row] + start[row];
    if (device[row] > 0 && touches(range, ran, ran + device[row])) busy.push([ran, ran + device[row]]);
    if (kind[row] !== node && touches(range, begin[row], begin[row] + (host[row] || 0))) calls.push(row);
  }
  calls.sort((a, b) => begin[a] - begin[b]);
  const causeOf = calls.map((row) =>
    CAUSES.findIndex(({ is }) => is(names.kind[kind[row]] ?? '', names.api[api[row]] ?? '')),
  );
  let idle = subtract(subtract([[range[0], range[1]]], merge(busy)), merge(own.map(([a, b]): Span => [a, b])));
  const parts = CAUSES.map(({ name, title }, cause): TimePart => {
    const cut: Span[] = [];
    const places = new Map<number, CallPlace>();
    let done = -Infinity;
    let next = 0;
    calls.forEach((row, i) => {
      const from = Math.max(begin[row], done);
      const to = begin[row] + (host[row] || 0);
      if (causeOf[i] !== cause || to <= from) return;
      done = to;
      cut.push([from, to]);
      while (next < idle.length && idle[next][1] <= from) next++;
      let ns = 0;
      for (let k = next; k < idle.length && idle[k][0] < to; k++)
        ns += Math.min(idle[k][1], to) - Math.max(idle[k][0], from);
      if (ns > 0) add(places, stacks.siteKey(stack[row]), stacks.site(stack[row]), ns);
    });
    const before = lengthOf(idle);
    idle = subtract(idle, cut);
    return partOf(name, title, before - lengthOf(idle), places);
  });
  const gaps = new Map<number, CallPlace>();
  let next = 0;
  for (const [from, to] of idle) {
    while (next < calls.length && begin[calls[next]] < to) next++;
    const [a, b] = [calls[next - 1], calls[next]];
    const site = (row: number | undefined) => (row === undefined ? 'the edge of the range' : stacks.site(stack[row]));
    const key = (a === undefined ? 0 : stacks.siteKey(stack[a])) * 65536 + (b === undefined ? 0 : stacks.siteKey(stack[b]));
    add(gaps, key, site(a), to - from, site(b));
  }
  return [...parts, partOf('idle_host_code', 'idle: host code', lengthOf(idle), gaps)];
}

function add(places: Map<number, CallPlace>, key: number, label: string, ns: number, until?: string) {
  const place: CallPlace = places.get(key) ?? {
    label,
    function: null,
    file: null,
    line: null,
    ...(until !== undefined && { until }),
    count: 0,
    time_ns: 0,
    longest_ns: 0,
  };
  place.count = (place.count ?? 0) + 1;
  place.time_ns = (place.time_ns ?? 0) + ns;
  place.longest_ns = Math.max(place.longest_ns ?? 0, ns);
  places.set(key, place);
}

function partOf(name: string, title: string, ns: number, all: Map<number, CallPlace>): TimePart {
  const places = [...all.values()].sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0));
  return {
    name,
    title,
    ns,
    times: places.reduce((sum, { count }) => sum + (count ?? 0), 0),
    longest_ns: Math.max(0, ...places.map(({ longest_ns }) => longest_ns ?? 0)),
    places: places.slice(0, MOST_PLACES),
  };
}
