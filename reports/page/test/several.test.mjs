// SPDX-License-Identifier: Apache-2.0
// Pages over several traces: how changes, costs and traces are named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './reports.mjs';

const { changeText, costText, formatUnit, shortNames, STATES, VERDICT_MARKS } = await load('diff/several.ts');

test('a change is a percentage, a multiple, or unknown', () => {
  assert.equal(changeText({ a: 100, b: 105, change: 0.05 }), '+5.00 %');
  assert.equal(changeText({ a: 100, b: 50, change: -0.5 }), '-50.0 %');
  assert.equal(changeText({ a: 100, b: 100, change: 0 }), '0 %');
  assert.equal(changeText({ a: 1, b: 123, change: 122 }), '123 times as much');
  assert.equal(changeText({ a: 0, b: 3, change: null }), 'none before');
  assert.equal(changeText({ a: null, b: 3, change: null }), '–');
});

test('a finding without a price shows the bytes that it moves unnecessarily', () => {
  const side = (best_ns, excess_bytes) => ({ saving: { best_ns }, excess_bytes });
  assert.equal(costText(side(2e6, 1024)), 'saves 2.00 ms');
  assert.equal(costText(side(null, 2048)), '2.00 KiB unnecessary');
  assert.equal(costText(side(null, null)), 'not priced');
});

test('traces are named by as much of their paths as distinguishes them', () => {
  assert.deepEqual(shortNames(['/a/x.db', '/b/y.db']), ['x.db', 'y.db']);
  assert.deepEqual(shortNames(['/run1/x.db', '/run2/x.db']), ['run1/x.db', 'run2/x.db']);
  assert.deepEqual(shortNames(['x.db', 'x.db']), ['x.db', 'x.db']);
  assert.deepEqual(shortNames(['/deep/1/x.db', '/deep/2/x.db', null]), ['1/x.db', '2/x.db', '–']);
});

test('unknown values are a dash in every unit, and every verdict and state has a mark', () => {
  for (const unit of ['count', 'bytes', 'ns']) assert.equal(formatUnit(null, unit), '–');
  for (const verdict of ['same', 'faster', 'slower', 'less', 'more', 'unclear']) assert.ok(VERDICT_MARKS[verdict]);
  for (const state of ['new', 'worse', 'better', 'fixed', 'same', 'not checked'])
    assert.ok(STATES.find((row) => row.state === state)?.mark);
});
