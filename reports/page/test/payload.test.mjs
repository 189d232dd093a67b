// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { build } from 'esbuild';
import { pack } from './pack.mjs';

const source = fileURLToPath(new URL('../src/payload.ts', import.meta.url));
const bundled = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const { decodePayload } = await import(
  `data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString('base64')}`
);

test('every encoding comes back', () => {
  const big = 2 ** 51 - 1;
  const bytes = pack(
    { format: 'gmtrace-page' },
    {
      call: {
        kind: ['u8', [0, 255, 7]],
        wide: ['u32', [0, 4294967295, 12]],
        real: ['f64', [0.5, null, -1e300]],
        plain: ['varint', [0, -1, big]],
        begin: ['delta', [-5, big, 12]],
        gap: ['delta', [10, null, 9]],
        name: ['string', ['a', null, '</script>']],
      },
    },
  );
  const payload = decodePayload(new Uint8Array(bytes));
  const table = payload.table('call');
  assert.equal(table.rows, 3);
  assert.deepEqual([...table.numbers('kind')], [0, 255, 7]);
  assert.deepEqual([...table.numbers('wide')], [0, 4294967295, 12]);
  assert.deepEqual([...table.numbers('real')], [0.5, NaN, -1e300]);
  assert.deepEqual([...table.numbers('plain')], [0, -1, big]);
  assert.deepEqual([...table.numbers('begin')], [-5, big, 12]);
  assert.deepEqual([...table.numbers('gap')], [10, NaN, 9]);
  assert.deepEqual(table.strings('name'), ['a', null, '</script>']);
  assert.deepEqual([...table.numbers('absent')], [NaN, NaN, NaN]);
  assert.equal(payload.table('none').rows, 0);
});

test('numbers of every length come back', () => {
  const values = [null];
  for (let bits = 0; bits < 51; bits++) {
    for (const near of [-2, -1, 0, 1]) values.push(2 ** bits + near, -(2 ** bits) + near);
  }
  const table = decodePayload(
    new Uint8Array(pack({ format: 'gmtrace-page' }, { t: { plain: ['varint', values], sum: ['delta', values] } })),
  ).table('t');
  const wanted = values.map((value) => value ?? NaN);
  assert.deepEqual([...table.numbers('plain')], wanted);
  assert.deepEqual([...table.numbers('sum')], wanted);
});

test('what is no payload is refused', () => {
  assert.throws(() => decodePayload(new Uint8Array([1, 2, 3])), /holds no report/);
  const bytes = pack({}, { t: { v: ['varint', [1, 2, 3]] } });
  const cut = new Uint8Array(bytes.subarray(0, bytes.length - 1));
  assert.throws(() => decodePayload(cut).table('t'), /damaged/);
});
