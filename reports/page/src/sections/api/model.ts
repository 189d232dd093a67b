// SPDX-License-Identifier: Apache-2.0
// Calls by function and by place: the report's own sums, or those of the calls that begin in a range.
import { stacksOf } from '../../parts/stacks';
import type { Payload } from '../../payload';
import { within, type Range } from '../../span';

export interface ApiRow {
  name: string;
  runtime: string | null;
  calls: number;
  /** ns; NaN: not known. */
  time: number;
  longest: number;
  most: string | null;
}
export interface SiteRow {
  site: string;
  name: string;
  calls: number;
  time: number;
  longest: number;
}

/** Sums over the table `call`, by whatever the key says. */
function sumBy(payload: Payload, range: Range | null, keyOf: (row: number) => number) {
  const table = payload.table('call');
  const [api, begin, host, count, kind] = ['api', 'begin', 'host_ns', 'count', 'kind'].map((name) => table.numbers(name));
  const node = payload.head.names.kind.indexOf('node'); // kernels of graphs are no calls
  const timed = !payload.head.report.device.software;
  const sums = new Map<number, { row: number; api: number; calls: number; time: number; longest: number }>();
  for (let row = 0; row < table.rows; row++) {
    if (kind[row] === node || !within(range, begin[row])) continue;
    const key = keyOf(row);
    const sum = sums.get(key) ?? { row, api: api[row], calls: 0, time: timed ? 0 : NaN, longest: timed ? 0 : NaN };
    const calls = count[row] || 1;
    sum.calls += calls;
    sum.time += host[row] || 0;
    sum.longest = Math.max(sum.longest, (host[row] || 0) / calls);
    sums.set(key, sum);
  }
  return [...sums.values()];
}

export function functionsOf(payload: Payload, range: Range | null): ApiRow[] {
  const { report, names } = payload.head;
  const runtimes = new Map((report.calls ?? []).map(({ name, runtime_name }) => [name, runtime_name]));
  if (range === null && report.calls !== undefined)
    return report.calls.map((row) => ({
      name: row.name,
      runtime: row.runtime_name,
      calls: row.calls ?? NaN,
      time: row.time_ns ?? NaN,
      longest: row.longest_ns ?? NaN,
      most: row.places[0]?.label ?? null,
    }));
  const table = payload.table('call');
  const stack = table.numbers('stack');
  const stacks = stacksOf(payload);
  const api = table.numbers('api');
  return sumBy(payload, range, (row) => api[row])
    .map(({ row, api: index, calls, time, longest }) => {
      const name = names.api[index] ?? 'unknown function';
      return { name, runtime: runtimes.get(name) ?? null, calls, time, longest, most: stacks.site(stack[row]) };
    })
    .sort((a, b) => (b.time || 0) - (a.time || 0) || b.calls - a.calls);
}

export function sitesOf(payload: Payload, range: Range | null): SiteRow[] {
  const table = payload.table('call');
  const stack = table.numbers('stack');
  const api = table.numbers('api');
  const stacks = stacksOf(payload);
  return sumBy(payload, range, (row) => stacks.siteKey(stack[row]) * 4096 + api[row])
    .map(({ row, api: index, calls, time, longest }) => ({
      site: stacks.site(stack[row]),
      name: payload.head.names.api[index] ?? 'unknown function',
      calls,
      time,
      longest,
    }))
    .sort((a, b) => (b.time || 0) - (a.time || 0) || b.calls - a.calls);
}
