// SPDX-License-Identifier: Apache-2.0
// Whose bytes: places of the program, or libraries, and what they hold, as rows of one table.

export interface Holder {
  label: string;
  /** Of regions: one that all of them have. */
  name: string | null;
  function: string | null;
  file: string | null;
  line: number | null;
  bytes: number;
  count: number;
}
export interface Holders {
  largest: Holder[];
  rest_bytes: number;
  rest_count: number;
  rest_places: number;
}

export interface HeldRow {
  what: string;
  place: Holder | null;
  bytes: number;
  count: number | null;
}

/** Named ones and the rest, which adds up to all of them. */
export function holderRows(what: string, holders: Holders): HeldRow[] {
  const rows: HeldRow[] = holders.largest.map((place) => ({ what, place, bytes: place.bytes, count: place.count }));
  if (holders.rest_places > 0)
    rows.push({ what: `${what}, at ${holders.rest_places} other places`, place: null, bytes: holders.rest_bytes, count: holders.rest_count });
  return rows;
}
