// SPDX-License-Identifier: Apache-2.0
// Packs a payload as reports/payload.c does, for tests of what reads it.
import { gzipSync } from 'node:zlib';

function varint(bytes, raw) {
  let rest = BigInt(raw);
  do {
    const byte = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? byte | 128 : byte);
  } while (rest > 0n);
}

// null is 0, value v is zigzag(v) + 1.
export function encodeVarints(values, running) {
  const bytes = [];
  let previous = 0n;
  for (const value of values) {
    if (value === null || Number.isNaN(value)) {
      bytes.push(0);
      continue;
    }
    const now = BigInt(Math.round(value));
    const step = running ? now - previous : now;
    previous = now;
    varint(bytes, (step >= 0n ? 2n * step : -2n * step - 1n) + 1n);
  }
  return Buffer.from(bytes);
}

function encode(encoding, values, strings, index) {
  switch (encoding) {
    case 'u8':
      return Buffer.from(Uint8Array.from(values));
    case 'u32':
      return Buffer.from(Uint32Array.from(values).buffer);
    case 'f64':
      return Buffer.from(Float64Array.from(values, (v) => v ?? NaN).buffer);
    case 'varint':
      return encodeVarints(values, false);
    case 'delta':
      return encodeVarints(values, true);
    case 'string':
      return encodeVarints(
        values.map((text) => {
          if (text === null) return null;
          if (!index.has(text)) index.set(text, strings.push(text) - 1);
          return index.get(text);
        }),
        false,
      );
    default:
      throw new Error(`no encoding ${encoding}`);
  }
}

/** head: all of Head but tables and strings. tables: { name: { column: [encoding, values] } }. */
export function pack(head, tables) {
  const strings = [];
  const index = new Map();
  const blobs = [];
  let offset = 0;
  const heads = Object.entries(tables).map(([name, columns]) => ({
    name,
    rows: Math.max(0, ...Object.values(columns).map(([, values]) => values.length)),
    columns: Object.entries(columns).map(([column, [encoding, values]]) => {
      const blob = encode(encoding, values, strings, index);
      const at = { name: column, encoding, offset, bytes: blob.length };
      blobs.push(blob);
      offset += blob.length;
      return at;
    }),
  }));
  const text = Buffer.from(JSON.stringify({ ...head, strings, tables: heads }));
  const prefix = Buffer.alloc(8);
  prefix.write('GMTP', 'latin1');
  prefix.writeUInt32LE(text.length, 4);
  return Buffer.concat([prefix, text, ...blobs]);
}

export function intoPage(template, bytes, title = 'test') {
  return template
    .replace('<!--gmtrace:title-->', () => title)
    .replace('<!--gmtrace:payload-->', () => gzipSync(bytes).toString('base64'));
}
