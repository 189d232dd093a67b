// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { heapRows, regionRows, unusedShare } = await load('sections/memory/heaps.ts');

const holder = (label, bytes, count) => ({ label, name: null, function: null, file: null, line: null, bytes, count });
const none = { largest: [], rest_bytes: 0, rest_count: 0, rest_places: 0 };
const heap = (name, count, held_bytes, region_bytes) => ({
  name, domain: null, count, held_bytes, region_bytes, peak_bytes: 2 * region_bytes, peak_at_ns: 5,
});

test('the rows of heaps and regions add up to the total', () => {
  const device = {
    total_bytes: 1000,
    parts: { regions: 600, unused: 300, outside: 100 },
    heap_count: 1,
    regions: { largest: [holder('a.py:1', 400, 2)], rest_bytes: 200, rest_count: 7, rest_places: 4 },
    outside: { ...none, largest: [holder('libcublasLt.so.12', 100, 1)] },
  };
  const rows = regionRows(device);
  assert.equal(rows.reduce((sum, { bytes }) => sum + bytes, 0), device.total_bytes);
  assert.deepEqual(
    rows.map(({ what, bytes, count }) => [what, bytes, count]),
    [
      ['in use: regions', 400, 2],
      ['in use: regions, at 4 other places', 200, 7],
      ['not handed out, in 1 heap', 300, null],
      ['outside of heaps and regions', 100, 1],
    ],
  );
});

test('heaps that hand out everything keep nothing', () => {
  const rows = regionRows({ parts: { unused: 0 }, heap_count: 2, regions: none, outside: none });
  assert.deepEqual(rows, []);
});

test('heaps by name: what is not listed is one row, whose peak is not known', () => {
  const heaps = { largest: [heap('pool', 2, 800, 200), heap(null, 1, 0, 0)], rest_names: 3, rest_count: 5, rest_held_bytes: 100, rest_region_bytes: 100 };
  const rows = heapRows({ heaps });
  assert.deepEqual(
    rows.map((row) => [row.name, row.count, row.held, row.used, row.peak, unusedShare(row)]),
    [
      ['pool', 2, 800, 200, 400, 0.75],
      ['no name', 1, 0, 0, 0, null],
      ['3 other names', 5, 100, 100, null, 0],
    ],
  );
});
