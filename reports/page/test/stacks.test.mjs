// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, payloadOf, STACKS } from './bundle.mjs';

const { Stacks, Weights } = await load('parts/stacks.ts');
const { layOut, findPath, pathKey, step, flatten } = await load('parts/layout.ts');
const { MEASURES } = await load('sections/calls/weights.ts');

const stacks = new Stacks(payloadOf(STACKS));
const weights = [
  { stack: 7, value: 30, count: 2 },
  { stack: 9, value: 10, count: 1 },
];
const names = (node) => ({ [node.label]: [node.value, ...node.children.map(names)] });

test("the user's part of a stack leaves out the runtime, what serves it and the start of the process", () => {
  assert.deepEqual(stacks.user(7), [2, 1]);
  assert.deepEqual(stacks.all(7), [4, 3, 2, 1, 0]);
  assert.equal(stacks.site(7), 'load.cu:20');
  assert.equal(stacks.site(123), 'no stack recorded');
  assert.equal(stacks.label(2), 'load (load.cu:20)');
  assert.equal(stacks.label(4), 'libc.so.6+0xff');
});

test('a tree from main inwards, and inverted', () => {
  assert.deepEqual(names(stacks.tree(weights)), {
    all: [40, { 'main (main.cu:10)': [40, { 'load (load.cu:20)': [30] }] }],
  });
  assert.deepEqual(names(stacks.tree(weights, { inverted: true })), {
    all: [40, { 'load (load.cu:20)': [30, { 'main (main.cu:10)': [30] }] }, { 'main (main.cu:10)': [10] }],
  });
  const whole = stacks.tree(weights, { runtime: true });
  assert.equal(whole.children[0].label, '__libc_start_main');
});

test('what has no stack is counted all the same', () => {
  const sums = new Weights();
  sums.add(NaN, 5);
  sums.add(9, 1, 3);
  const root = stacks.tree(sums.all());
  assert.equal(root.value, 6);
  assert.equal(root.count, 4);
  assert.deepEqual(
    root.children.map(({ label }) => label),
    ['no stack recorded', 'main (main.cu:10)'],
  );
});

test('cells lie below their callers, as wide as their share, and arrow keys walk them', () => {
  const root = stacks.tree(weights, { inverted: true });
  const { cells } = layOut(root, [], 0);
  assert.deepEqual(
    cells.map(({ depth, left, width }) => [depth, left, width]),
    [
      [0, 0, 1],
      [1, 0, 0.75],
      [1, 0.75, 0.25],
      [2, 0, 0.75],
    ],
  );
  assert.equal(step(cells, cells[0], 'ArrowDown'), cells[1]);
  assert.equal(step(cells, cells[1], 'ArrowRight'), cells[2]);
  assert.equal(step(cells, cells[2], 'ArrowRight'), cells[2]);
  assert.equal(step(cells, cells[3], 'ArrowUp'), cells[1]);
  assert.deepEqual(
    layOut(root, [], 0.3).cells.map(({ depth }) => depth),
    [0, 1, 2],
  );
  assert.equal(layOut(root, [], 0.3).hidden, 1);
  assert.deepEqual(
    layOut(root, [1], 0).cells.map(({ width }) => width),
    [1],
  );
});

test('a zoom survives in a link, and as far as the tree has it', () => {
  const root = stacks.tree(weights);
  assert.equal(pathKey(root, [0, 0]), '1.2');
  assert.deepEqual(findPath(root, '1.2'), [0, 0]);
  assert.deepEqual(findPath(root, '1.4'), [0]);
  assert.deepEqual(findPath(root, 'nonsense'), []);
});

test('the table twin holds every node once, with its own part', () => {
  const rows = flatten(stacks.tree(weights));
  assert.deepEqual(
    rows.map(({ node, depth, self, parent }) => [node.frame, depth, self, parent]),
    [
      [1, 1, 10, ''],
      [2, 2, 30, 'main (main.cu:10)'],
    ],
  );
});

test('call sites are measured by copies, device time, host time and allocations', () => {
  const payload = payloadOf({
    ...STACKS,
    call: [
      { kind: 0, stack: 7, bytes: 100, host_ns: 5, device_ns: 3, begin: 0 },
      { kind: 2, stack: 9, host_ns: 2, device_ns: 40, begin: 1 },
      { kind: 4, stack: 9, bytes: 1000, host_ns: 7, begin: 2 },
      { kind: 0, stack: 7, bytes: 300, begin: 3, count: 4 },
    ],
    allocation: [
      { kind: 0, bytes: 1000, stack: 9, begin: 2 },
      { kind: 0, bytes: null, stack: 9, begin: 3 },
    ],
  });
  const sum = Object.fromEntries(
    MEASURES.map(({ id, weights: of }) => [id, [...of(payload)].map((w) => [w.stack, w.value, w.count])]),
  );
  assert.deepEqual(sum, {
    copied: [[7, 400, 5]],
    device: [
      [7, 3, 1],
      [9, 40, 1],
    ],
    host: [
      [7, 5, 1],
      [9, 9, 2],
    ],
    allocated: [[9, 1000, 1]],
  });
});
