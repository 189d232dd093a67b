// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, payloadOf, STACKS } from './bundle.mjs';

const { allocationsOf, placesOf, usageOf, liveAt, momentAt } = await load('sections/memory/model.ts');
const { leaksOf, idleOf } = await load('sections/memory/waste.ts');

const DEVICE = 0;
const PINNED = 5;
const rows = [
  {
    kind: DEVICE,
    bytes: 100,
    begin: 0,
    freed: 50,
    first_use: 10,
    last_use: 30,
    stack: 7,
    device: 0,
    address: 4096,
    id: 1,
  },
  { kind: DEVICE, bytes: 40, begin: 50, freed: 20, stack: 9, device: 0, address: 8192, id: 2 },
  { kind: PINNED, bytes: 7, begin: 55, stack: 9, id: 3 },
  { kind: DEVICE, bytes: 60, begin: 60, stack: 9, device: 0, first_use: 5, last_use: 5, id: 4 },
  { kind: DEVICE, bytes: 1, begin: 61, freed: 1, stack: 7, device: 1, id: 5 },
];
const make = (list, software = false, wall_ns = 100) =>
  payloadOf(
    { ...STACKS, allocation: list },
    { devices: [{ name: 'A' }, { name: 'B' }], report: { device: { software }, verdict: { wall_ns } } },
  );

test('each device and the page-locked memory of the host are places of their own', () => {
  assert.deepEqual(
    placesOf(make(rows)).map(({ title, rows: own }) => [title, own]),
    [
      ['device 0: A', [0, 1, 3]],
      ['device 1: B', [4]],
      ['page-locked host memory', [2]],
    ],
  );
});

test('use over time adds up by call site, a free before an allocation of the same moment', () => {
  const payload = make(rows);
  const all = allocationsOf(payload);
  const usage = usageOf(all, placesOf(payload)[0]);
  assert.deepEqual(usage.peak, { at: 0, bytes: 100 });
  assert.deepEqual([...usage.moments], [0, 0, 50, 60, 70, 100]);
  assert.deepEqual([...usage.total], [0, 100, 40, 100, 60, 60]);
  assert.deepEqual(
    usage.areas.map(({ label, values }) => [label, ...values]),
    [
      ['main.cu:10 main', 0, 0, 40, 100, 60, 60],
      ['load.cu:20 load', 0, 100, 0, 0, 0, 0],
    ],
  );
  assert.deepEqual(liveAt(all, placesOf(payload)[0], 65), [1, 3]);
  assert.deepEqual(liveAt(all, placesOf(payload)[0], 70), [3]);
  assert.equal(momentAt(usage.moments, 61), 3);
  assert.equal(momentAt(usage.moments, -5), 0);
});

test('a short peak among very many changes is not lost', () => {
  const many = [];
  for (let i = 0; i < 20000; i++) many.push({ kind: DEVICE, bytes: 10, begin: 10 * i, freed: 5, stack: 7, device: 0 });
  many.push({ kind: DEVICE, bytes: 500, begin: 100001, freed: 1, stack: 9, device: 0 });
  many.sort((a, b) => a.begin - b.begin);
  const payload = make(many, false, 200000);
  const usage = usageOf(allocationsOf(payload), placesOf(payload)[0]);
  assert.equal(usage.changes, 40002);
  assert.ok(usage.moments.length <= 2003, `${usage.moments.length} moments`);
  assert.deepEqual(usage.peak, { at: 100001, bytes: 510 });
  assert.equal(Math.max(...usage.total), 510);
  usage.total.forEach((sum, at) =>
    assert.equal(
      usage.areas.reduce((all, { values }) => all + values[at], 0),
      sum,
    ),
  );
});

test('more sites than colours: the rest is one area', () => {
  const frame = Array.from({ length: 12 }, (_, i) => ({ function: `f${i}`, file: null, module: null, runtime: 0 }));
  const list = frame.map((_, i) => ({ kind: DEVICE, bytes: i + 1, begin: i, stack: i, device: 0 }));
  const payload = payloadOf({ frame, stack_frame: frame.map((_, i) => ({ stack: i, frame: i })), allocation: list });
  const { areas } = usageOf(allocationsOf(payload), placesOf(payload)[0]);
  assert.deepEqual(
    areas.map(({ label }) => label),
    ['f11', 'f10', 'f9', 'f8', 'f7', 'f6', 'f5', 'all other call sites'],
  );
  assert.equal(areas[7].values.at(-1), 1 + 2 + 3 + 4 + 5);
});

test('never freed, and idle before, after and without use', () => {
  const payload = make(rows);
  const all = allocationsOf(payload);
  const [device, , host] = placesOf(payload);
  assert.deepEqual(leaksOf(all, device), [{ site: 'main.cu:10', kind: 'device', count: 1, bytes: 60, begin: 60 }]);
  assert.equal(leaksOf(all, host)[0].bytes, 7);
  assert.deepEqual(idleOf(all, device), [
    // 40 bytes never seen used for 20 ns; 60 bytes for 5 ns before their use and 35 after it
    {
      site: 'main.cu:10',
      kind: 'device',
      count: 2,
      bytes: 100,
      before: 300,
      after: 2100,
      unseen: 800,
      idle: 3200,
      share: 1,
    },
    {
      site: 'load.cu:20',
      kind: 'device',
      count: 1,
      bytes: 100,
      before: 1000,
      after: 2000,
      unseen: 0,
      idle: 3000,
      share: 0.6,
    },
  ]);
});

test('without times moments are counted in events, and nothing is said of idleness', () => {
  const payload = make(rows, true, null);
  const all = allocationsOf(payload);
  const usage = usageOf(all, placesOf(payload)[0]);
  assert.equal(all.timed, false);
  assert.deepEqual([...usage.moments], [0, 1, 2, 4, 7, 7]);
  assert.deepEqual(idleOf(all, placesOf(payload)[0]), []);
});
