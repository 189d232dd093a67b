// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { branchesOf, boxesOf, labelOf, measuresOf, openAtFirst, visible } = await load('sections/ranges/model.ts');

const node = (name, parent, host_ns, more = {}) => ({
  name,
  parent,
  depth: 0,
  of_process: false,
  others: false,
  count: 1,
  threads: 1,
  host_ns,
  host_self_ns: host_ns,
  device_ns: 0,
  device_self_ns: 0,
  idle_ns: null,
  launches: 0,
  copies: 0,
  h2d_bytes: 0,
  d2h_bytes: 0,
  allocated_bytes: 0,
  held_bytes: 0,
  findings: 0,
  best_ns: 0,
  ...more,
});

// step (100) > forward (60) > conv (40), step > backward (30), fetch (10); and one of the process.
const NODES = [
  node('whole', null, 200, { of_process: true }),
  node('step', null, 100),
  node('forward', 1, 60),
  node('conv', 2, 40),
  node('backward', 1, 30),
  node(null, 1, 5, { others: true }),
  node('fetch', null, 10),
];
const labels = (branches) => branches.map(({ node }) => labelOf(node));
const HOST = measuresOf(NODES)[0];

test('ranges of threads and of the process are trees of their own', () => {
  const roots = branchesOf(NODES, false);
  assert.deepEqual(labels(roots), ['step', 'fetch']);
  assert.deepEqual(labels(roots[0].children), ['forward', 'backward', '(others)']);
  assert.deepEqual(labels(branchesOf(NODES, true)), ['whole']);
});

test('at first open is what holds half of what is around it, and only below what is open there are rows', () => {
  const roots = branchesOf(NODES, false);
  assert.deepEqual(openAtFirst(roots, HOST), [1, 2]);
  assert.deepEqual(labels(visible(roots, new Set([1, 2]))), ['step', 'forward', 'conv', 'backward', '(others)', 'fetch']);
  assert.deepEqual(labels(visible(roots, new Set([2]))), ['step', 'fetch']);
  assert.deepEqual(openAtFirst([], HOST), []);
});

test('only what is known of some range can be chosen', () => {
  assert.deepEqual(
    measuresOf(NODES).map(({ id }) => id),
    ['host'],
  );
  const simulated = NODES.map((one) => ({ ...one, host_ns: null, launches: 3, h2d_bytes: 5, d2h_bytes: 2 }));
  const measures = measuresOf(simulated);
  assert.deepEqual(
    measures.map(({ id }) => id),
    ['launches', 'copied'],
  );
  assert.equal(measures[1].of(simulated[1]), 7);
  assert.deepEqual(
    measuresOf(NODES.map((one) => ({ ...one, host_ns: null }))).map(({ id }) => id),
    ['count'],
  );
});

test('boxes are as wide as the measure, and no narrower than what lies in them', () => {
  const root = boxesOf(branchesOf(NODES, false), HOST);
  assert.equal(root.value, 110);
  assert.equal(root.children[0].value, 100);
  // Two that overlap each other are longer than what is around both.
  const crossing = [node('a', null, 50), node('b', 0, 40), node('c', 0, 30)];
  assert.equal(boxesOf(branchesOf(crossing, false), HOST).value, 70);
  const unknown = boxesOf(branchesOf([node('a', null, null)], false), HOST);
  assert.equal(unknown.value, 0);
});
