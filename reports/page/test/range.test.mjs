// SPDX-License-Identifier: Apache-2.0
// What the sections show of a range that is selected in the timeline.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, payloadOf, STACKS } from './bundle.mjs';
import { makeFinding } from './reports.mjs';

globalThis.addEventListener ??= () => undefined;
const { parseRange, touches, within } = await load('span.ts');
const { causesWithin, placeName } = await load('sections/idle/model.ts');
const { functionsOf, sitesOf } = await load('sections/api/model.ts');
const { copiesOf, rowsOf } = await load('sections/transfers/model.ts');
const { MEASURES } = await load('sections/calls/weights.ts');
const { choose } = await load('sections/findings/select.ts');
const { kernelsOf, kernelsWithin } = await load('sections/kernels/model.ts');
const { usageWithin } = await load('sections/memory/model.ts');

const kernel = { name: 'f(int)', grid: [1], block: [1], launches: 2, measured_launches: 0, device_ns: 80, counters: {} };
const payload = payloadOf(
  {
    ...STACKS,
    call: [
      // Copied from 10 to 40, by a call from 0 to 50.
      { kind: 0, api: 0, begin: 0, host_ns: 50, device_start: 10, device_ns: 30, bytes: 100, stack: 7, blocking: 1, direction: 0, host_class: 1 },
      // Kernels from 110 to 150 and from 210 to 250.
      { kind: 2, api: 1, begin: 100, host_ns: 5, device_start: 10, device_ns: 40, stack: 9, kernel: 0 },
      { kind: 2, api: 1, begin: 200, host_ns: 5, device_start: 10, device_ns: 40, stack: 9, kernel: 0 },
      { kind: 3, api: 0, begin: 240, host_ns: 30, stack: 9 },
    ],
    // Of the parts below: copy calls, launch latency, host code.
    idle: [
      { begin: 0, ns: 10, part: 1, place: 0, device: 0 },
      { begin: 40, ns: 10, part: 1, place: 0, device: 0 },
      { begin: 50, ns: 50, part: 3, place: 1, device: 0 },
      { begin: 100, ns: 10, part: 2, place: 1, device: 0 },
      { begin: 150, ns: 50, part: 3, place: 1, device: 0 },
      { begin: 200, ns: 10, part: 2, place: 1, device: 0 },
      { begin: 250, ns: 20, part: 3, place: 2, device: 0 },
      { begin: 1000, ns: 20, part: 3, place: 3, device: 0 },
      { begin: 1020, ns: 10, part: 3, place: 4, device: 0 },
      { begin: 1030, ns: 5, part: 3, place: 3, device: 0 },
      { begin: 1100, ns: 100, part: 3, place: 0, device: 0 },
    ],
  },
  {
    own: [[280, 300]],
    idle_places: [
      { label: 'load.cu:20', function: 'load', file: '/src/load.cu', line: 20 },
      { label: 'main.cu:10', function: 'main', file: '/src/main.cu', line: 10 },
      { label: 'main.cu:10', function: 'main', file: '/src/main.cu', line: 10, until: 'load.cu:20' },
      { label: 'main.cu:10', function: 'main', file: '/src/main.cu', line: 10, inner: 'lib.py:3' },
      { label: 'main.cu:10', function: 'main', file: '/src/main.cu', line: 10, inner: 'lib.py:5' },
    ],
  },
);
payload.head.report.kernels = [kernel];
payload.head.report.time = {
  parts: [
    { name: 'kernels', title: 'kernels' },
    { name: 'idle_copy_calls', title: 'idle: copy calls' },
    { name: 'idle_launch_calls', title: 'idle: launch latency' },
    { name: 'idle_host_code', title: 'idle: host code' },
  ],
};

test('a range is two numbers, the second larger', () => {
  assert.deepEqual(parseRange('1,2'), [1, 2]);
  for (const text of ['', '1', '2,1', 'a,b', '1,Infinity']) assert.equal(parseRange(text), null, text);
  assert.ok(within(null, 5) && within([1, 5], 1) && !within([1, 5], 5));
  assert.ok(touches([10, 20], 0, 10) && !touches([10, 20], 0, 9) && !touches([10, 20], 20, 30));
});

test('causes of idle time are the pieces that lie in the range', () => {
  const causes = (range) => Object.fromEntries(causesWithin(payload, range).map((part) => [part.name, part.ns]));
  assert.deepEqual(causes([0, 300]), { idle_copy_calls: 20, idle_launch_calls: 20, idle_host_code: 120 });
  assert.deepEqual(causes([45, 80]), { idle_copy_calls: 5, idle_launch_calls: 0, idle_host_code: 30 });
  const host = causesWithin(payload, [0, 300]).at(-1);
  assert.deepEqual(host.places.map(placeName), ['main.cu:10', 'between main.cu:10 and load.cu:20']);
  assert.deepEqual([host.times, host.longest_ns], [3, 50]);
});

test('places of one name are one, and a line that has most of the time is divided', () => {
  const host = (range) => causesWithin(payload, range).at(-1).places.map((place) => [placeName(place), place.time_ns, place.count]);
  assert.deepEqual(host([1000, 1050]), [
    ['main.cu:10, in lib.py:3', 25, 2],
    ['main.cu:10, in lib.py:5', 10, 1],
  ]);
  assert.deepEqual(host([1000, 1200]), [
    ['load.cu:20', 100, 1],
    ['main.cu:10', 35, 3],
  ]);
});

test('calls, copies and kernels are those that begin in the range', () => {
  assert.deepEqual(
    functionsOf(payload, [90, 230]).map(({ name, calls, time }) => [name, calls, time]),
    [['cudaLaunchKernel', 2, 10]],
  );
  assert.deepEqual(
    sitesOf(payload, [0, 300]).map(({ site, calls, time }) => [site, calls, time]),
    [
      ['load.cu:20', 1, 50],
      ['main.cu:10', 1, 30],
      ['main.cu:10', 2, 10],
    ],
  );
  assert.equal(copiesOf(payload, [90, 300]).rows, 0);
  assert.deepEqual(
    rowsOf(copiesOf(payload, [0, 90])).map(({ up_to_bytes, count, bytes }) => [up_to_bytes, count, bytes]),
    [[256, 1, 100]],
  );
  const host = MEASURES.find(({ id }) => id === 'host');
  assert.deepEqual([...host.weights(payload, [90, 230])].map(({ value, count }) => [value, count]), [[10, 2]]);
  const kernels = kernelsOf(payload);
  assert.deepEqual(kernelsWithin(payload, kernels, [0, 100]), []);
  const [one] = kernelsWithin(payload, kernels, [100, 200]);
  assert.deepEqual([one.row.launches, one.row.device_ns, one.row.share_of_wall], [1, 40, 0.4]);
  assert.equal(kernelsWithin(payload, kernels, null), kernels);
});

test('findings are those that claim a part of the range', () => {
  const wish = { sort: 'saving', category: '', rule: '', severity: '', kernel: '', range: '', text: '', from: '', to: '' };
  const findings = [makeFinding({ fingerprint: 'a' }), makeFinding({ fingerprint: 'b' })];
  const claims = { a: [[0, 50]], b: [[100, 150]] };
  const chosen = (range) => choose(findings, wish, claims, range).map(({ fingerprint }) => fingerprint);
  assert.deepEqual(chosen(null), ['a', 'b']);
  assert.deepEqual(chosen([60, 200]), ['b']);
});

test('memory is as it was at the begin of the range, and its peak the highest there', () => {
  const usage = {
    moments: Float64Array.of(0, 10, 20, 30),
    total: Float64Array.of(5, 9, 3, 0),
    areas: [{ site: 1, label: 'x', values: Float64Array.of(5, 9, 3, 0) }],
    peak: { at: 10, bytes: 9 },
    changes: 4,
  };
  const part = usageWithin(usage, [15, 25]);
  assert.deepEqual([...part.moments], [15, 20, 25]);
  assert.deepEqual([...part.total], [9, 3, 3]);
  assert.deepEqual(part.peak, { at: 15, bytes: 9 });
  assert.deepEqual([...usageWithin(usage, [-20, -10]).total], [0, 0]);
  assert.equal(usageWithin(usage, null), usage);
});
