// SPDX-License-Identifier: Apache-2.0
// Heaps and regions that the program's allocators registered (memory.heaps of docs/json.md) as rows of tables.
import { holderRows, type HeldRow, type Holders } from './held';

/** Heaps of one domain that have one name. */
export interface NamedHeaps {
  name: string | null;
  domain: string | null;
  count: number;
  held_bytes: number;
  region_bytes: number;
  peak_bytes: number;
  peak_at_ns: number | null;
}
export interface HeapsDevice {
  device: number;
  at_ns: number | null;
  total_bytes: number;
  parts: { regions: number; unused: number; outside: number };
  region_count: number;
  heap_count: number;
  heaps: { largest: NamedHeaps[]; rest_names: number; rest_count: number; rest_held_bytes: number; rest_region_bytes: number };
  regions: Holders;
  outside: Holders;
  never_ended_bytes: number;
  never_ended: number;
}
export interface Heaps {
  devices: HeapsDevice[];
}

/** peak: what is not known of the rest of them is null. */
export interface HeapRow {
  name: string;
  domain: string | null;
  count: number;
  held: number;
  used: number;
  peak: number | null;
  peakAt: number | null;
}

const plural = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

/** Whose bytes: the rows' sum is the total. */
export function regionRows({ parts, heap_count, regions, outside }: HeapsDevice): HeldRow[] {
  const unused: HeldRow = { what: `not handed out, in ${plural(heap_count, 'heap')}`, place: null, bytes: parts.unused, count: null };
  return [
    ...holderRows('in use: regions', regions),
    ...(parts.unused > 0 ? [unused] : []),
    ...holderRows('outside of heaps and regions', outside),
  ];
}

/** The largest ones and the rest, which adds up to all of them. */
export function heapRows({ heaps }: HeapsDevice): HeapRow[] {
  const rows: HeapRow[] = heaps.largest.map((heap) => ({
    name: heap.name ?? 'no name',
    domain: heap.domain,
    count: heap.count,
    held: heap.held_bytes,
    used: heap.region_bytes,
    peak: heap.peak_bytes,
    peakAt: heap.peak_at_ns,
  }));
  if (heaps.rest_names > 0)
    rows.push({
      name: plural(heaps.rest_names, 'other name'),
      domain: null,
      count: heaps.rest_count,
      held: heaps.rest_held_bytes,
      used: heaps.rest_region_bytes,
      peak: null,
      peakAt: null,
    });
  return rows;
}

/** Of what a heap holds: not handed out. null: it holds nothing. */
export function unusedShare({ held, used }: HeapRow): number | null {
  return held > 0 ? Math.max(0, held - used) / held : null;
}
