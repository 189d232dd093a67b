// SPDX-License-Identifier: Apache-2.0
// What gmanalyze puts into the page, and how it is unpacked. docs/page.md describes the format;
// reports/html/payload.c writes it.
import type { Diff, Ranks } from './diff/several';
import type { Report } from './report';

/** How the values of a column lie in the payload. */
export type Encoding = 'u8' | 'u32' | 'f64' | 'varint' | 'delta' | 'string';

export interface ColumnHead {
  name: string;
  encoding: Encoding;
  /** Of the column's bytes behind the head. */
  offset: number;
  bytes: number;
}

export interface TableHead {
  name: string;
  rows: number;
  columns: ColumnHead[];
}

export interface Thread {
  tid: number;
  name: string | null;
}
export interface Stream {
  label: string;
  device: number;
  priority: number | null;
}
export interface Device {
  name: string;
  uuid: string | null;
  compute_capability: string | null;
  driver_version: string | null;
  sm_count: number | null;
  memory_bytes: number | null;
  l2_bytes: number | null;
}

/** The innermost function that ran, or the calls around. */
export interface IdlePlace {
  label: string;
  function: string | null;
  file: string | null;
  line: number | null;
  until?: string;
  inner?: string;
}

/** More events than a page can hold: neighbours of one lane and kind were merged. */
export interface Detail {
  events: number;
  rows: number;
  merged_below_ns: number;
}

export interface Head {
  format: 'gmtrace-page';
  version: 1;
  /** Pages over several traces have one of these, neither report nor tables. */
  diff?: Diff;
  ranks?: Ranks;
  /** The object of `gmanalyze --format json`. */
  report: Report;
  /** CLOCK_MONOTONIC of the first CUDA call: all times of the tables count from there. */
  origin_ns: number;
  /** Why uses of memory may be missing, as a clause; null or absent: none is. */
  uses_unseen?: string | null;
  /** Wall-clock time at the origin, ns since 1970; null: unknown. */
  realtime_ns: number | null;
  names: { api: string[]; kind: string[]; direction: string[]; host_class: string[]; allocation: string[] };
  threads: Thread[];
  streams: Stream[];
  devices: Device[];
  /** The device model, as gmcalibrate wrote it; null: none. */
  model: Record<string, unknown> | null;
  /** The page of each rule that found something, by its id: what gmanalyze --explain prints. */
  rule_pages?: Record<string, string>;
  /** [begin, end] in ns from the origin, by fingerprint of the finding. */
  claims: Record<string, [number, number][]>;
  /** [begin, end] in ns from the origin, ascending: gmtrace held the program up. */
  own?: [number, number][];
  /** Where the program was, of table `idle`, by index. */
  idle_places?: IdlePlace[];
  detail: Detail | null;
  /** Text of the files of table source_line, by name; absent: no instruction was counted. */
  sources?: Record<string, string>;
  strings: string[];
  /** Of an editor, with {file} and {line}, as the user gave it; absent: places are no links. */
  editor_url?: string;
  /** The command line that makes this page again. */
  reproduce: string;
  tables: TableHead[];
}

/** Numbers: null is NaN. Strings: null is null. */
export type Column = Float64Array | Uint8Array | Uint32Array | (string | null)[];

export class Table {
  readonly rows: number;
  private readonly columns = new Map<string, Column>();

  constructor(head: TableHead, body: Uint8Array, strings: string[]) {
    this.rows = head.rows;
    for (const column of head.columns) this.columns.set(column.name, decodeColumn(column, head.rows, body, strings));
  }
  /** The numbers of a column; all NaN where the payload has no such column. */
  numbers(name: string): ArrayLike<number> {
    const column = this.columns.get(name);
    if (column === undefined || Array.isArray(column)) return new Float64Array(this.rows).fill(NaN);
    return column;
  }
  strings(name: string): (string | null)[] {
    const column = this.columns.get(name);
    return Array.isArray(column) ? column : new Array<null>(this.rows).fill(null);
  }
}

export interface Payload {
  head: Head;
  /** An empty table where the payload has none of that name. */
  table(name: string): Table;
}

const MAGIC = 0x50544d47; // "GMTP"

// Variable-length integers of 7 bits per byte, least significant first. Up to four bytes are put together by shifts; beyond
// 2^31 these do not reach, so that multiplication takes over.
function decodeVarints(bytes: Uint8Array, rows: number, running: boolean): Float64Array {
  const values = new Float64Array(rows);
  let at = 0;
  let previous = 0;
  for (let row = 0; row < rows; row++) {
    let byte = bytes[at++];
    let raw = byte & 0x7f;
    for (let shift = 7; byte >= 0x80 && shift < 28; shift += 7) {
      byte = bytes[at++];
      raw |= (byte & 0x7f) << shift;
    }
    if (raw === 0 && byte < 0x80) {
      values[row] = NaN;
      continue;
    }
    let value: number;
    // 0 stands for null; the rest is zigzag.
    if (byte < 0x80) {
      raw -= 1;
      value = (raw >>> 1) ^ -(raw & 1);
    } else {
      let large = raw;
      for (let scale = 2 ** 28; byte >= 0x80; scale *= 128) {
        byte = bytes[at++];
        large += (byte & 0x7f) * scale;
      }
      large -= 1;
      value = large % 2 === 0 ? large / 2 : -(large + 1) / 2;
    }
    if (running) value = previous += value;
    values[row] = value;
  }
  if (at !== bytes.length) throw new Error('a column of the payload is damaged');
  return values;
}

function decodeColumn(column: ColumnHead, rows: number, body: Uint8Array, strings: string[]): Column {
  const bytes = body.subarray(column.offset, column.offset + column.bytes);
  switch (column.encoding) {
    case 'u8':
      return bytes;
    case 'u32':
      return new Uint32Array(bytes.slice().buffer);
    case 'f64':
      return new Float64Array(bytes.slice().buffer);
    case 'varint':
      return decodeVarints(bytes, rows, false);
    case 'delta':
      return decodeVarints(bytes, rows, true);
    case 'string':
      return Array.from(decodeVarints(bytes, rows, false), (index) => (Number.isNaN(index) ? null : strings[index]));
  }
}

/** The payload out of its unpacked bytes. Throws where they are none. */
export function decodePayload(bytes: Uint8Array): Payload {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8 || view.getUint32(0, true) !== MAGIC) throw new Error('this page holds no report');
  const headBytes = view.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headBytes))) as Head;
  const body = bytes.subarray(8 + headBytes);
  const heads = new Map(head.tables.map((table) => [table.name, table]));
  const decoded = new Map<string, Table>();
  return {
    head,
    table(name) {
      let table = decoded.get(name);
      if (table === undefined) {
        table = new Table(heads.get(name) ?? { name, rows: 0, columns: [] }, body, head.strings);
        decoded.set(name, table);
      }
      return table;
    },
  };
}

type FromBase64 = (text: string) => Uint8Array<ArrayBuffer>;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // New in 2025, and ten times as fast.
  const built = (Uint8Array as unknown as { fromBase64?: FromBase64 }).fromBase64;
  if (built !== undefined) return built.call(Uint8Array, text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** Unpacks what stands in the page: base64 of gzip. */
export async function readPayload(element: HTMLElement): Promise<Payload> {
  if (typeof DecompressionStream === 'undefined')
    throw new Error('this browser is too old to unpack the report (no DecompressionStream)');
  const packed = new Blob([fromBase64((element.textContent ?? '').trim())]);
  const stream = packed.stream().pipeThrough(new DecompressionStream('gzip'));
  return decodePayload(new Uint8Array(await new Response(stream).arrayBuffer()));
}
