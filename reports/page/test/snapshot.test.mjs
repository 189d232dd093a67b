// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { heldRows } = await load('sections/memory/snapshot.ts');
const { holderRows } = await load('sections/memory/held.ts');

const holder = (label, bytes, count) => ({ label, function: null, file: null, line: null, bytes, count });
const none = { largest: [], rest_bytes: 0, rest_count: 0, rest_places: 0 };

test('the rows of a memory snapshot add up to its total', () => {
  const device = {
    total_bytes: 1000,
    parts: { tensors: 600, pending: 0, rounding: 40, unused: 160, outside: 200 },
    segments: 3,
    tensors: { largest: [holder('a.py:1', 400, 2)], rest_bytes: 200, rest_count: 7, rest_places: 4 },
    outside: { ...none, largest: [holder('libcublasLt.so.12', 200, 1)] },
  };
  const rows = heldRows(device);
  assert.equal(rows.reduce((sum, { bytes }) => sum + bytes, 0), device.total_bytes);
  assert.deepEqual(
    rows.map(({ what, bytes, count }) => [what, bytes, count]),
    [
      ['tensors', 400, 2],
      ['tensors, at 4 other places', 200, 7],
      ['rounding of blocks', 40, null],
      ['unused blocks in 3 segments', 160, null],
      ['outside of the allocator', 200, 1],
    ],
  );
});

test('places that are all named have no rest', () => {
  assert.deepEqual(holderRows('tensors', none), []);
});
