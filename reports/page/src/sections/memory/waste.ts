// SPDX-License-Identifier: Apache-2.0
// Memory that was held unused: never freed, or allocated while nothing used it.
import type { Allocations, Place } from './model';

export interface LeakRow {
  site: string;
  kind: string;
  count: number;
  bytes: number;
  /** Of the first of them. */
  begin: number;
}

export interface IdleRow {
  site: string;
  kind: string;
  count: number;
  bytes: number;
  /** bytes x ns: before the first use, after the last one, and of allocations without any use seen. */
  before: number;
  after: number;
  unseen: number;
  idle: number;
  /** Of bytes x time allocated. */
  share: number;
}

function bySite<Row>(
  all: Allocations,
  rows: number[],
  make: (site: string, kind: string) => Row,
  add: (sum: Row, row: number) => void,
) {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const kind = all.kind(row);
    const key = `${all.stacks.siteKey(all.stack[row])} ${kind}`;
    let sum = sums.get(key);
    if (sum === undefined) sums.set(key, (sum = make(all.stacks.site(all.stack[row]), kind)));
    add(sum, row);
  }
  return [...sums.values()];
}

export function leaksOf(all: Allocations, place: Place): LeakRow[] {
  const rows = place.rows.filter((row) => all.freed[row] === Infinity);
  return bySite<LeakRow>(
    all,
    rows,
    (site, kind) => ({ site, kind, count: 0, bytes: 0, begin: Infinity }),
    (sum, row) => {
      sum.count++;
      sum.bytes += all.bytes[row] || 0;
      sum.begin = Math.min(sum.begin, all.begin[row]);
    },
  ).sort((a, b) => b.bytes - a.bytes);
}

/** Needs times. Uses are those by copies, memsets and launches whose arguments point to the allocation. */
export function idleOf(all: Allocations, place: Place): IdleRow[] {
  if (!all.timed) return [];
  const lifetimes = new Map<IdleRow, number>();
  const rows = bySite<IdleRow>(
    all,
    place.rows.filter((row) => all.bytes[row] > 0),
    (site, kind) => ({ site, kind, count: 0, bytes: 0, before: 0, after: 0, unseen: 0, idle: 0, share: 0 }),
    (sum, row) => {
      const size = all.bytes[row];
      const end = Math.min(all.freed[row], all.end);
      const life = size * Math.max(0, end - all.begin[row]);
      sum.count++;
      sum.bytes += size;
      lifetimes.set(sum, (lifetimes.get(sum) ?? 0) + life);
      if (Number.isNaN(all.firstUse[row])) {
        sum.unseen += life;
        return;
      }
      sum.before += size * Math.max(0, all.firstUse[row] - all.begin[row]);
      sum.after += size * Math.max(0, end - all.lastUse[row]);
    },
  );
  for (const row of rows) {
    const life = lifetimes.get(row) ?? 0;
    row.idle = row.before + row.after + row.unseen;
    row.share = life > 0 ? row.idle / life : NaN;
  }
  return rows.filter((row) => row.idle > 0).sort((a, b) => b.idle - a.idle);
}
