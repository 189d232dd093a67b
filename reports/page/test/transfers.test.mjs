// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, payloadOf, STACKS } from './bundle.mjs';

const { copiesOf, calibrated, curveOf, timeAt, sitesOf, nameOf } = await load('sections/transfers/model.ts');
const { columnsWithout } = await load('sections/transfers/columns.ts');
const { thin, logTicks, COLUMNS, ROWS } = await load('parts/density.ts');

const [H2D, D2H, PAGEABLE, PINNED, DEVICE] = [0, 1, 1, 2, 4];
const copy = (begin, more) => ({
  kind: 0,
  begin,
  direction: H2D,
  host_class: PAGEABLE,
  blocking: 1,
  bytes: 1000,
  stack: 7,
  ...more,
});
const calls = [
  copy(0, { host_ns: 500, device_start: 100, device_ns: 300 }),
  { kind: 2, begin: 1000, host_ns: 10, device_start: 50, device_ns: 950 }, // the device works until 2000
  copy(1500, { host_ns: 700, device_start: 600, device_ns: 50 }), // waits 500 of its 700
  copy(1600, { host_ns: 20, device_ns: 90, device_start: 400, blocking: 0, host_class: PINNED }),
  copy(3000, { host_ns: 40, blocking: 0, host_class: PINNED, direction: D2H }),
  copy(4000, { host_ns: 900, bytes: 3000, count: 3, stack: 9 }),
  copy(5000, { host_ns: 5, bytes: 8, direction: 2, host_class: DEVICE, blocking: 0 }),
];
const model = {
  transfers: {
    h2d_pageable_sync: {
      points: [
        { bytes: 3000, median_ns: 400 },
        { bytes: 1000, median_ns: 200 },
      ],
    },
    h2d_pinned_async: { points: [{ bytes: 1000, median_ns: 500, device_ns: 45, call_ns: 7 }] },
    d2d_async: { points: [{ bytes: 8, median_ns: 4 }] },
    memset_async: { points: [{ bytes: 8, median_ns: 4 }] },
    mapped_read: { points: [{ bytes: 8, median_ns: 4 }] },
  },
};
const make = (software = false) => payloadOf({ ...STACKS, call: calls }, { report: { device: { software } } });

test('a copy took what the call took without waiting, or what the device took', () => {
  const copies = copiesOf(make());
  assert.deepEqual([...copies.time], [500, 200, 90, 40, 300, 5]);
  assert.deepEqual([...copies.bytes], [1000, 1000, 1000, 1000, 1000, 8]);
  assert.equal(copies.rate[0], 2e9);
  assert.deepEqual(copies.groups.map(nameOf), ['h2d pageable', 'h2d pinned', 'd2h pinned', 'd2d device']);
});

test('the software device knows sizes and no times', () => {
  const copies = copiesOf(make(true));
  assert.ok(copies.time.every(Number.isNaN) && copies.rate.every(Number.isNaN));
  assert.equal(copies.rows, 6);
});

test('calibrated curves are found by direction, class and mode, and read between their points', () => {
  const curves = calibrated(model);
  assert.deepEqual(
    curves.map(({ key }) => key),
    ['h2d_pageable_sync', 'h2d_pinned_async', 'd2d_async'],
  );
  const pageable = curveOf(curves, { direction: 'h2d', host_class: 'pageable' }, true);
  assert.equal(timeAt(pageable, 2000), 300);
  assert.equal(timeAt(pageable, 5000), 600); // on the last line
  assert.equal(timeAt(pageable, 1), 200);
  assert.equal(timeAt(curveOf(curves, { direction: 'h2d', host_class: 'pinned' }, false), 1000), 45);
  assert.equal(curveOf(curves, { direction: 'd2d', host_class: 'device' }, false).key, 'd2d_async');
  assert.equal(curveOf(curves, { direction: 'd2h', host_class: 'pinned' }, false), null);
  assert.deepEqual(calibrated(null), []);
});

test('by call site: sums, and what the calibration expects of the same copies', () => {
  const payload = make();
  const rows = sitesOf(payload, copiesOf(payload), calibrated(model), (group) => group !== 3);
  assert.deepEqual(
    rows.map((row) => [row.site, row.host_class, row.count, row.bytes, row.time, row.expected]),
    [
      ['main.cu:10', 'pageable', 3, 3000, 900, 600],
      ['load.cu:20', 'pageable', 2, 2000, 700, 400],
      ['load.cu:20', 'pinned', 1, 1000, 90, 45],
      ['load.cu:20', 'pinned', 1, 1000, 40, NaN],
    ],
  );
});

test('a million points become a few thousand marks that stand for all of them', () => {
  const n = 1e6;
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  const group = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    x[i] = 2 ** ((i * 7919) % 28);
    y[i] = 1e6 * (1 + ((i * 104729) % 1000));
    group[i] = i % 3;
  }
  y[5] = 0; // no place on a logarithmic axis
  const started = process.cpuUsage();
  const marks = thin({ x, y, group, weight: y }, { logX: true, logY: true });
  assert.ok(process.cpuUsage(started).user < 10e6, 'it takes 10 s of processor time');
  assert.ok(marks.length < 28 * ROWS * 3 && marks.length > 1000, `${marks.length} marks`);
  assert.equal(
    marks.reduce((sum, mark) => sum + mark.count, 0),
    n - 1,
  );
  for (const mark of marks) assert.deepEqual([mark.x, mark.y, mark.group], [x[mark.at], y[mark.at], group[mark.at]]);
});

test('a mark lies at its weightiest point', () => {
  const points = { x: [1, 1, 100], y: [1, 1.0001, 100], group: [0, 0, 0], weight: [5, 9, 1], count: [10, 1, 1] };
  const marks = thin(points, { logX: true, logY: true });
  assert.deepEqual(marks, [
    { x: 1, y: 1.0001, group: 0, count: 11, at: 1 },
    { x: 100, y: 100, group: 0, count: 1, at: 2 },
  ]);
  assert.ok(COLUMNS > 100);
});

test('ticks are powers of the base, as many as can be read', () => {
  assert.deepEqual(logTicks(1, 1e4, 10), [1, 10, 100, 1000, 10000]);
  assert.deepEqual(logTicks(3, 16 ** 6, 16, 3), [1, 16 ** 2, 16 ** 4, 16 ** 6].slice(1));
});

test('columns of times are there where there are times, and named as modelled where they are', () => {
  const columns = ['count', 'time', 'rate', 'share'].map((key) => ({ key, title: key, value: () => 0 }));
  const titles = (software, modelled) => columnsWithout(columns, { device: { software } }, modelled).map(({ title }) => title);
  assert.deepEqual(titles(false, false), ['count', 'time', 'rate', 'share']);
  assert.deepEqual(titles(true, false), ['count']);
  assert.deepEqual(titles(true, true), ['count', 'time, modelled', 'rate, modelled']);
});
