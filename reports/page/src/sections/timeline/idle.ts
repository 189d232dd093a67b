// SPDX-License-Identifier: Apache-2.0
// The lane of a device that says why it was idle.
import type { Pieces } from '../idle/model';
import type { Events } from './events';
import { causeLook } from './looks';
import type { Lane, Model } from './model';
import { buildTrack } from './tracks';

/** "host code" */
export function causeOf({ events, idle }: Pick<Model, 'events' | 'idle'>, row: number): string {
  return events.head.report.time?.parts[idle.part[row]]?.title.replace(/^idle: /, '') ?? 'not known';
}

/** Rows of the pieces of a device, by begin. */
function rowsOf(idle: Pieces, device: number): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < idle.rows; row++) if (idle.device[row] === device) rows.push(row);
  return Uint32Array.from(rows);
}

/** null: nothing is known of it, or it never was. */
export function idleLane(events: Events, idle: Pieces, device: number, span: number): Lane | null {
  const row = rowsOf(idle, device);
  const { length } = row;
  if (length === 0 || events.byOrder) return null;
  const parts = events.head.report.time?.parts ?? [];
  const looks = parts.map(({ name }) => causeLook(name));
  const track = buildTrack(
    {
      length,
      begin: Float64Array.from(row, (i) => idle.begin[i]),
      end: Float64Array.from(row, (i) => idle.begin[i] + idle.ns[i]),
      look: Uint8Array.from(row, (i) => looks[idle.part[i]] ?? 0),
      row,
    },
    span,
  );
  return { kind: 'idle', title: 'idle, by cause', device, of: -1, tracks: [track], events: length, memory: null };
}

/** The piece at a time; -1: there is none. */
export function idleAt({ idle }: Pick<Model, 'idle'>, device: number, time: number): number {
  let low = 0;
  let high = idle.rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (idle.begin[middle] <= time) low = middle + 1;
    else high = middle;
  }
  // Pieces of one device do not overlap; those of others lie between.
  for (let row = low - 1; row >= 0 && row > low - 64; row--)
    if (idle.device[row] === device) return idle.begin[row] + idle.ns[row] > time ? row : -1;
  return -1;
}
