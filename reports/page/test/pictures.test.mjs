// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from './pack.mjs';
import { load, makeFinding } from './reports.mjs';

const { decodePayload } = await load('payload.ts');
const { copyPlot } = await load('sections/findings/plots/copies.ts');
const { ratios } = await load('sections/findings/plots/ratios.ts');
const { roofPlot, whatIf } = await load('sections/findings/plots/occupancy.ts');

const evidence = (values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, unit: '' }]));
const NAMES = { kind: ['transfer', 'launch'], direction: ['h2d', 'd2h'], host_class: [], api: [], allocation: [] };
const curve = (ns) => ({
  points: [
    { bytes: 1024, median_ns: ns },
    { bytes: 4096, median_ns: 2 * ns },
  ],
});
const MODEL = { transfers: { h2d_pinned_sync: curve(100), h2d_pageable_sync: curve(400), d2h_pinned_sync: curve(1) } };

/** calls: [kind, begin, host_ns, bytes, direction, stack, device_start, device_ns]; the last two: does not wait */
function payloadOf(calls, claims, software = false) {
  const column = (at) => calls.map((call) => call[at]);
  const call = {
    kind: ['u8', column(0)],
    begin: ['delta', column(1)],
    host_ns: ['varint', column(2)],
    bytes: ['varint', column(3)],
    direction: ['u8', column(4)],
    stack: ['varint', column(5)],
    blocking: ['u8', calls.map((call) => (call.length > 6 ? 0 : 1))],
    device_start: ['varint', calls.map((call) => call[6] ?? null)],
    device_ns: ['varint', calls.map((call) => call[7] ?? null)],
  };
  const tables = {
    call,
    stack_frame: { stack: ['varint', [1, 2]], frame: ['varint', [0, 1]] },
    frame: {
      file: ['string', ['a.cu', 'b.cu']],
      module: ['string', ['app', 'app']],
      line: ['varint', [7, 8]],
      offset: ['varint', [1, 2]],
    },
  };
  return decodePayload(new Uint8Array(pack({ names: NAMES, claims, report: { device: { software } } }, tables)));
}

test('a finding about copies shows those of its place and time, one point per size', () => {
  const finding = makeFinding({
    fingerprint: 'x',
    where: { file: 'a.cu', line: 7 },
    evidence: evidence({ bytes: 6144, copies: 3, pinned_time: 300 }),
  });
  const payload = payloadOf(
    [
      [0, 0, 500, 1024, 0, 1],
      [0, 1000, 600, 1024, 0, 1],
      [0, 2000, 800, 4096, 0, 1],
      [0, 3000, 800, 4096, 0, 2], // another place
      [0, 90000, 800, 4096, 0, 1], // another time
      [1, 2100, 800, 4096, 0, 1], // no copy
    ],
    { x: [[0, 4000]] },
  );
  const plot = copyPlot(payload, MODEL, finding);
  assert.equal(plot.direction, 'h2d');
  assert.deepEqual(
    plot.curves.map(({ name }) => name),
    ['page-locked', 'pageable'],
  );
  assert.deepEqual(
    plot.copies.map(({ x, n }) => [x, n]),
    [
      [1024, 2],
      [4096, 1],
    ],
  );
  assert.ok(Math.abs(plot.copies[0].y - ((1024 / 500 + 1024 / 600) / 2) * 1e9) < 1);
  assert.deepEqual(plot.after, { x: 2048, y: (6144 / 300) * 1e9 });
});

test('a copy that does not wait belongs to the time of its work, and has the speed of that', () => {
  const finding = makeFinding({ fingerprint: 'x', where: { api: 'cudaMemcpyAsync' } });
  const payload = payloadOf(
    [
      [0, 0, 10, 4096, 0, 1, 5000, 1000],
      [0, 20, 10, 1024, 0, 1, 100, 1000], // its work is over before
    ],
    { x: [[5000, 6000]] },
  );
  const model = { transfers: { h2d_pinned_async: curve(100) } };
  assert.deepEqual(copyPlot(payload, model, finding).copies, [{ x: 4096, y: 4096e6, n: 1 }]);
});

test('what a call waited for before its copy is not the time of the copy', () => {
  const finding = makeFinding({ fingerprint: 'x' });
  const payload = payloadOf([[0, 0, 9000, 4096, 0, 1]], { x: [[8000, 9000]] });
  assert.deepEqual(copyPlot(payload, MODEL, finding).copies, [{ x: 4096, y: 4096e6, n: 1 }]);
  assert.equal(copyPlot(payloadOf([[0, 0, 9000, 4096, 0, 1]], { x: [[8000, 9000]] }, true), MODEL, finding), null);
});

test('without events the mean of the copies stands for them; without a model there is no plot', () => {
  const payload = payloadOf([], {});
  const finding = makeFinding({
    where: { api: 'cudaMemcpy (cuMemcpyHtoD_v2)' },
    evidence: evidence({ bytes: 65536, copies: 64, runs: 2, time: 1e6, time_of_one_copy_per_run: 1000 }),
  });
  const plot = copyPlot(payload, MODEL, finding);
  assert.deepEqual(plot.copies, [{ x: 1024, y: (65536 / 1e6) * 1e9, n: 64 }]);
  assert.deepEqual(plot.after, { x: 32768, y: 65536e6 });
  assert.equal(copyPlot(payload, null, finding), null);
});

test('sectors per request stand beside the fewest possible', () => {
  const strided = makeFinding({
    rule: 'GM301',
    evidence: evidence({ load_sectors: 1600, load_ideal_sectors: 200, load_sectors_per_request: 32 }),
  });
  assert.deepEqual(ratios(strided).rows, [{ label: 'loads', value: 32, ideal: 4 }]);
});

test('where nothing is above the ideal, and for other rules, there is no picture', () => {
  const fine = evidence({ load_sectors: 100, load_ideal_sectors: 100, load_sectors_per_request: 1 });
  assert.equal(ratios(makeFinding({ rule: 'GM305', evidence: fine })), null);
  assert.equal(ratios(makeFinding({ rule: 'GM306', evidence: fine })), null);
});

test('the what-if of shared memory marks the launch', () => {
  const kernel = {
    name: 'k',
    block: [64, 1, 1],
    static_shared_bytes: 1000,
    dynamic_shared_bytes: 24,
    occupancy: { most_warps: 64, theoretical: 0.125, by_shared_bytes: { 2048: 2, 1024: 4 } },
  };
  const plot = whatIf([kernel], makeFinding({ rule: 'GM404', where: { kernel: 'k' } }));
  assert.deepEqual(plot.points, [
    { x: 1024, y: 12.5 },
    { x: 2048, y: 6.25 },
  ]);
  assert.deepEqual(plot.now, { x: 1024, y: 12.5 });
  assert.equal(whatIf([kernel], makeFinding({ rule: 'GM504', where: { kernel: 'k' } })), null);
  assert.equal(
    whatIf(
      [{ ...kernel, occupancy: { unknown: 'no limits' } }],
      makeFinding({ rule: 'GM404', where: { kernel: 'k' } }),
    ),
    null,
  );
});

test('a kernel stands on the calibrated curves where its traffic was counted', () => {
  const model = {
    occupancy_curve: [
      { occupancy: 0.5, bandwidth_bytes_per_s: 5 },
      { occupancy: 1, bandwidth_bytes_per_s: 9 },
    ],
  };
  const finding = makeFinding({
    evidence: evidence({ achieved_occupancy: 12, traffic: 3, occupancy_after_fix: 100, calibrated_after_fix: 9 }),
  });
  const plot = roofPlot(model, finding);
  assert.deepEqual(plot.curves[0].points, [
    { x: 50, y: 5 },
    { x: 100, y: 9 },
  ]);
  assert.deepEqual(
    [plot.now, plot.after],
    [
      { x: 12, y: 3 },
      { x: 100, y: 9 },
    ],
  );
  assert.equal(roofPlot(model, makeFinding({ evidence: evidence({ achieved_occupancy: 12, traffic: null }) })), null);
});
