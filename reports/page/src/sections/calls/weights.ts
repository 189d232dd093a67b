// SPDX-License-Identifier: Apache-2.0
// What the icicle of call sites can measure: one row per choice.
import { bytes, ns } from '../../format';
import { Weights, type Weight } from '../../parts/stacks';
import type { Payload } from '../../payload';
import { within, type Range } from '../../span';

export interface Measure {
  id: string;
  title: string;
  /** "bytes copied" */
  what: string;
  counted: string;
  show: (value: number) => string;
  /** Needs times, which a trace of the software device has not. */
  timed: boolean;
  weights: (payload: Payload, range?: Range | null) => Iterable<Weight>;
}

/** Sums a column over the calls of some kinds; calls where it is not known add nothing. */
function ofCalls(column: string, kinds: string[] | null) {
  return (payload: Payload, range: Range | null = null) => {
    const call = payload.table('call');
    const kind = call.numbers('kind');
    const value = call.numbers(column);
    const count = call.numbers('count');
    const stack = call.numbers('stack');
    const begin = call.numbers('begin');
    const wanted = payload.head.names.kind.map((name) => kinds === null || kinds.includes(name));
    const sums = new Weights();
    for (let row = 0; row < call.rows; row++)
      if (wanted[kind[row]] && value[row] > 0 && within(range, begin[row])) sums.add(stack[row], value[row], count[row] || 1);
    return sums.all();
  };
}

function ofAllocations(payload: Payload, range: Range | null = null) {
  const table = payload.table('allocation');
  const size = table.numbers('bytes');
  const stack = table.numbers('stack');
  const begin = table.numbers('begin');
  const sums = new Weights();
  for (let row = 0; row < table.rows; row++) if (size[row] > 0 && within(range, begin[row])) sums.add(stack[row], size[row]);
  return sums.all();
}

export const MEASURES: Measure[] = [
  {
    id: 'copied',
    title: 'bytes copied',
    what: 'copied',
    counted: 'copies',
    show: bytes,
    timed: false,
    weights: ofCalls('bytes', ['transfer']),
  },
  {
    id: 'device',
    title: 'time on the device',
    what: 'on the device',
    counted: 'calls',
    show: ns,
    timed: true,
    weights: ofCalls('device_ns', ['transfer', 'memset', 'launch']),
  },
  {
    id: 'host',
    title: 'time of the host in calls',
    what: 'in calls',
    counted: 'calls',
    show: ns,
    timed: true,
    weights: ofCalls('host_ns', null),
  },
  {
    id: 'allocated',
    title: 'bytes allocated',
    what: 'allocated',
    counted: 'allocations',
    show: bytes,
    timed: false,
    weights: ofAllocations,
  },
];
