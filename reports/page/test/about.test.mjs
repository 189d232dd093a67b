// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './reports.mjs';

const { callsBySize, copiesBySize, copyCurves, fixedCosts, rates, variants } = await load('sections/about/figures.ts');
const shipped = new URL('../../../kernels/models/nvidia-h200.json', import.meta.url);

test('every value of the shipped model is in one of the tables, with spread and samples', () => {
  const model = JSON.parse(readFileSync(shipped, 'utf8'));
  assert.equal(rates(model).length, Object.keys(model.rates).length);
  const scalars = Object.values(model.costs).filter((cost) => 'median' in cost).length;
  assert.equal(fixedCosts(model).length, scalars + Object.keys(model.latencies).length);
  const points = (group) => Object.values(group).flatMap((curve) => curve.points ?? []).length;
  assert.equal(copiesBySize(model).length, points(model.transfers));
  assert.equal(callsBySize(model).length, points(model.costs));
  assert.equal(copyCurves(model).length, Object.keys(model.transfers).length);
  assert.equal(variants(model).length, Object.values(model.families).flat().length);
  for (const row of [...rates(model), ...fixedCosts(model)]) assert.ok(row.value > 0 && row.spread >= 0 && row.n > 0, row.name);
});

test('units follow the names, and what is absent makes no rows', () => {
  const [dram, sectors] = rates({ rates: { dram_bytes_per_s: { median: 1 }, l2_sectors_per_s: { median: 2 } } });
  assert.deepEqual([dram.name, dram.unit], ['dram', 'bytes_per_s']);
  assert.deepEqual([sectors.name, sectors.unit], ['l2 sectors', 'count_per_s']);
  for (const of of [rates, fixedCosts, copiesBySize, callsBySize, copyCurves, variants]) assert.deepEqual(of({}), []);
});
