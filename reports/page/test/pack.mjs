// SPDX-License-Identifier: Apache-2.0
// Packs a payload as reports/html/payload.c does, for tests of what reads it.
import { gzipSync } from 'node:zlib';

// Numbers as long as they are exact, which is most of a million; BigInt for the rest.
function varint(bytes, at, raw) {
  let rest = raw;
  while (rest >= 128) {
    bytes[at++] = Number(typeof rest === 'bigint' ? rest & 127n : rest % 128) | 128;
    rest = typeof rest === 'bigint' ? rest >> 7n : Math.floor(rest / 128);
  }
  bytes[at++] = Number(rest);
  return at;
}

// null is 0, value v is zigzag(v) + 1.
export function encodeVarints(values, running) {
  const bytes = Buffer.alloc(values.length * 10);
  let at = 0;
  let previous = 0n;
  let previousNumber = 0;
  for (const value of values) {
    if (value === null || Number.isNaN(value)) {
      bytes[at++] = 0;
      continue;
    }
    const now = Math.round(value);
    const step = running ? now - previousNumber : now;
    previousNumber = now;
    if (Math.abs(step) < 2 ** 50 && Math.abs(now) < 2 ** 51)
      at = varint(bytes, at, (step >= 0 ? 2 * step : -2 * step - 1) + 1);
    else {
      const exact = running ? BigInt(now) - previous : BigInt(now);
      at = varint(bytes, at, (exact >= 0n ? 2n * exact : -2n * exact - 1n) + 1n);
    }
    if (running) previous = BigInt(now);
  }
  return bytes.subarray(0, at);
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
