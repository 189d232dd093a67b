// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './reports.mjs';

const { callsBySize, copiesBySize, copyCurves, fixedCosts, rates, variants, waysOfCopying } =
  await load('sections/about/figures.ts');
const shipped = new URL('../../../kernels/models/nvidia-h200.json', import.meta.url);

test('every value of the shipped model is in one of the tables, with spread and samples', () => {
  const model = JSON.parse(readFileSync(shipped, 'utf8'));
  assert.equal(rates(model).length, Object.keys(model.rates).length);
  const scalars = Object.values(model.costs).filter((cost) => 'median' in cost).length;
  const alone = [model.latencies, model.access_costs ?? {}].flatMap(Object.keys);
  assert.equal(fixedCosts(model).length, scalars + alone.length);
  const times = JSON.stringify(model.batches).match(/"(row_copies|copy_2d|median|merged|batch|flat)_ns":\d/g);
  assert.equal(waysOfCopying(model).length, times.length);
  const points = (group) => Object.values(group).flatMap((curve) => curve.points ?? []).length;
  assert.equal(copiesBySize(model).length, points(model.transfers));
  assert.equal(callsBySize(model).length, points(model.costs));
  assert.equal(copyCurves(model).length, Object.keys(model.transfers).length);
  assert.equal(variants(model).length, Object.values(model.families).flat().length);
  for (const row of [...rates(model), ...fixedCosts(model)])
    assert.ok(row.value > 0 && row.spread >= 0 && row.n > 0, row.name);
});

test('copies by rows and copies in a row stand beside the one copy that replaces them', () => {
  const batches = {
    rows_2: {
      direction: 'h2d',
      class: 'pinned',
      mode: 'async',
      rows: 2,
      row_bytes: 64,
      device_pitch_bytes: 512,
      row_copies_ns: 9,
      copy_2d_ns: 4,
      n: 21,
    },
    back_to_back_d2h_pageable_sync: {
      direction: 'd2h',
      class: 'pageable',
      mode: 'sync',
      copies: 256,
      points: [{ bytes: 64, median_ns: 3, spread_ns: 1, merged_ns: 7, n: 11 }],
    },
  };
  assert.deepEqual(
    waysOfCopying({ batches }).map(({ name, shape, way, median_ns, spread_ns, n }) => [
      name,
      shape,
      way,
      median_ns,
      spread_ns,
      n,
    ]),
    [
      ['h2d pinned async', '2 rows of 64 B, pitch 512 B', 'row by row', 9, null, 21],
      ['h2d pinned async', '2 rows of 64 B, pitch 512 B', 'one 2-D copy', 4, null, 21],
      ['d2h pageable sync', '256 copies of 64 B', 'each of them', 3, 1, 11],
      ['d2h pageable sync', '256 copies of 64 B', 'one copy of all', 7, null, 11],
    ],
  );
});

test('units follow the names, and what is absent makes no rows', () => {
  const [dram, sectors] = rates({ rates: { dram_bytes_per_s: { median: 1 }, l2_sectors_per_s: { median: 2 } } });
  assert.deepEqual([dram.name, dram.unit], ['dram', 'bytes_per_s']);
  assert.deepEqual([sectors.name, sectors.unit], ['l2 sectors', 'count_per_s']);
  for (const of of [rates, fixedCosts, copiesBySize, callsBySize, copyCurves, variants, waysOfCopying])
    assert.deepEqual(of({}), []);
});

test('the next recording is one command to copy, of what this one lacks', async () => {
  const { recordMore } = await load('sections/about/more.ts');
  const of = (changes, sources) =>
    recordMore({
      sources,
      report: { process: { command: './app -n 3' }, device: { software: false }, findings: [], kernels: [{}], ...changes },
    }).map(({ command }) => command);
  assert.deepEqual(of({}), ['gmtrace --collect deep ./app -n 3']);
  assert.deepEqual(of({}, { 'a.cu': '' }), []);
  assert.deepEqual(of({ device: { software: true } }), ['gmtrace ./app -n 3']);
  assert.deepEqual(of({ kernels: [], findings: [{ where: { note: 'no lines' } }] }), ['nvcc -g -lineinfo ...']);
  const ranges = [
    { name: "a 'b'", findings: 2 },
    { name: 'other', findings: 0 },
  ];
  assert.deepEqual(of({ ranges }, {}), [`gmtrace --range 'a '\\''b'\\''' ./app -n 3`]);
  assert.deepEqual(of({ ranges: [{ name: 'step #', findings: 1 }] }, {}), []);
  assert.deepEqual(of({ process: { command: null } }), ['gmtrace --collect deep ./app']);
});
