// SPDX-License-Identifier: Apache-2.0
// What the counters mean: from the table that the recorder is made from, libtrace/metrics.def.
import table from '../../../../../libtrace/metrics.def';

export interface Metric {
  name: string;
  /** patched, hardware, spill, simulated */
  group: string;
  /** Name in CUPTI; empty: only the software device counts it. */
  source: string;
  unit: string;
  meaning: string;
}

const ROW = /^GMT_METRIC\(\d+, (\w+), (\w+), "([^"]*)", "([^"]*)", "([^"]*)"\)/gm;

export const METRICS: Metric[] = Array.from(table.matchAll(ROW), ([, name, group, source, unit, meaning]) => ({
  name,
  group: group.toLowerCase(),
  source,
  unit,
  meaning,
}));

const byName = new Map(METRICS.map((metric, order) => [metric.name, { ...metric, order }]));

export interface CounterRow extends Metric {
  order: number;
  value: number;
}

/** The counters that were measured, in the order of the table; those it does not know last. */
export function countersOf(counters: Record<string, number> | undefined): CounterRow[] {
  return Object.entries(counters ?? {})
    .map(([name, value]) => ({
      ...(byName.get(name) ?? { name, group: '', source: '', unit: '', meaning: '', order: METRICS.length }),
      value,
    }))
    .sort((a, b) => a.order - b.order);
}
