// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load, payloadOf } from './bundle.mjs';

const { sumText, kernelsOf, roofsOf, roofPoints, roofLine, shortName } = await load('sections/kernels/model.ts');
const { METRICS, countersOf } = await load('sections/kernels/metrics.ts');
const { curvesOf } = await load('sections/kernels/occupancy.ts');
const { datasheetOf, issueRate } = await load('sections/kernels/datasheet.ts');

const rates = {
  dram_bytes_per_s: { median: 3.2e12 },
  l2_sectors_per_s: { median: 2e11 },
  l1_sectors_per_s: { median: 4e11 },
  l1_strided_sectors_per_s: { median: 8e11 },
  shared_wavefronts_per_s: { median: 1e11 },
};
const counters = {
  instructions: 4e6,
  dram_read_bytes: 24e6,
  dram_write_bytes: 8e6,
  l2_read_sectors: 1e6,
  l2_write_sectors: 1e6,
  global_load_sectors: 3e6,
  global_store_sectors: 1e6,
  shared_load_wavefronts: 5e5,
  shared_store_wavefronts: 5e5,
};
const row = (more) => ({ name: 'k(int)', grid: [2, 1, 1], block: [64, 1, 1], launches: 10, device_ns: 1e6, ...more });
const finding = { where: { kernel: 'k(int)' }, fingerprint: '1' };
const make = (kernels, software = false, model = { rates }) =>
  payloadOf({}, { model, report: { device: { software }, findings: [finding], notes: [], kernels, verdict: {} } });

test('what a kernel uses of each calibrated rate', () => {
  const [kernel] = kernelsOf(make([row({ counters })]));
  assert.equal(kernel.each, 1e5);
  assert.deepEqual(kernel.findings, [finding]);
  // 32 MB, 2 M and 4 M sectors and 1 M wavefronts in 100 us
  assert.deepEqual(
    Object.values(kernel.used).map((v) => +v.toFixed(6)),
    [0.1, 0.1, 0.05, 0.1],
  );
});

test('a kernel is called by its title, in reports of versions before by its short name', () => {
  const [titled, before] = kernelsOf(make([row({ title: 'k #2' }), row({})]));
  assert.deepEqual([titled.short, titled.row.name, before.short], ['k #2', 'k(int)', 'k']);
});

test('a sum with estimated launches says how many, and how right it is', () => {
  const row = { device_ns: 4e6, estimated_launches: 30, device_ns_error: 2e5 };
  assert.match(sumText(row), /^≈4\.00 ms, .* 30 launches without a device time, right within 200 .s \(95 %\)$/);
  assert.doesNotMatch(sumText({ ...row, device_ns_error: null }), /within/);
  assert.equal(sumText({ device_ns: 4e6 }), '4.00 ms');
});

test('L2 takes sectors in at a rate of its own, where the model has it', () => {
  const model = { rates: { ...rates, write_sectors_per_s: { median: 5e10 } } };
  const [kernel] = kernelsOf(make([row({ counters })], false, model));
  assert.equal(+kernel.used.l2.toFixed(6), 0.25); // 1 M read in 5 us, 1 M written in 20 us
  assert.deepEqual(
    roofsOf(model)[1].lines.map(({ rate }) => rate),
    [2e11, 5e10],
  );
});

test('what was not measured stays unknown', () => {
  const { dram_write_bytes: _, ...less } = counters;
  const [partial, none] = kernelsOf(make([row({ counters: less }), row({})]));
  assert.ok(Number.isNaN(partial.used.dram) && partial.used.l2 > 0);
  assert.ok(Object.values(none.used).every(Number.isNaN));
  const [simulated] = kernelsOf(make([row({ counters })], true));
  assert.ok(Number.isNaN(simulated.each) && Object.values(simulated.used).every(Number.isNaN));
  const [unpriced] = kernelsOf(make([row({ counters })], false, null));
  assert.ok(Object.values(unpriced.used).every(Number.isNaN) && unpriced.each > 0);
});

test('the roofline holds kernels with counters and time, and its slope ends at the issue rate', () => {
  const kernels = kernelsOf(make([row({ counters }), row({}), row({ counters, device_ns: null })]));
  const [dram] = roofsOf({ rates });
  const points = roofPoints(kernels, dram);
  assert.deepEqual(
    points.map(({ kernel, intensity, rate }) => [kernel.index, intensity, rate]),
    [[0, 4, 4e10]],
  );
  assert.deepEqual(dram.lines, [{ title: 'device memory', rate: 1e11 }]);
  assert.deepEqual(roofLine(1e11, 1e12, 1, 100), [
    [1, 1e11],
    [10, 1e12],
  ]);
  assert.deepEqual(roofLine(1e11, NaN, 1, 100), [
    [1, 1e11],
    [100, 1e13],
  ]);
  assert.deepEqual(roofLine(1e11, 1e12, 20, 100), []);
});

test('datasheets only of GPUs that are known by name', () => {
  assert.equal(datasheetOf('NVIDIA H200').dram_bytes_per_s, 4.8e12);
  assert.equal(datasheetOf('NVIDIA A100-SXM4-80GB').dram_bytes_per_s, 2.039e12);
  assert.equal(datasheetOf('NVIDIA A100 80GB PCIe').dram_bytes_per_s, 1.935e12);
  assert.equal(datasheetOf('NVIDIA A100-PCIE-40GB').dram_bytes_per_s, 1.555e12);
  assert.equal(datasheetOf('NVIDIA H100 80GB HBM3').dram_bytes_per_s, 3.35e12);
  for (const name of ['NVIDIA H100 80GB HBM3 MIG 1g.10gb', 'NVIDIA GeForce RTX 4090', null])
    assert.equal(datasheetOf(name), null);
  // 108 multiprocessors x 4 a cycle x 1.41 GHz
  assert.ok(Math.abs(issueRate(datasheetOf('NVIDIA A100-SXM4-40GB')) / (108 * 4 * 1.41e9) - 1) < 0.01);
});

test('names lose parameters and template arguments, and nothing else', () => {
  const names = {
    'scale(float*, int)': 'scale',
    'void a::b::scale<float, (int)4>(float*, int)': 'a::b::scale',
    'void (anonymous namespace)::copy<T<int> >(T<int>)': 'copy',
    cuda_kernel: 'cuda_kernel',
    'void f<&(anonymous namespace)::g>(int)': 'f',
    '': '',
  };
  for (const [name, short] of Object.entries(names)) assert.equal(shortName(name), short);
  assert.ok(shortName('<script>alert(1)</script>').length > 0);
  assert.ok(shortName('void op::operator()(int)').includes('operator'));
  assert.ok(shortName('bool operator< <int>(A, B)').includes('operator<'));
});

test('every counter of libtrace/metrics.def has its meaning here', () => {
  const text = readFileSync(new URL('../../../libtrace/metrics.def', import.meta.url), 'utf8');
  assert.equal(METRICS.length, text.split('\n').filter((line) => line.startsWith('GMT_METRIC(')).length);
  assert.ok(METRICS.length > 50 && METRICS.every(({ name, unit, meaning }) => name && unit && meaning));
  const rows = countersOf({ new_one: 3, instructions: 2, global_load_bytes: 1 });
  assert.deepEqual(
    rows.map(({ name, value }) => [name, value]),
    [
      ['global_load_bytes', 1],
      ['instructions', 2],
      ['new_one', 3],
    ],
  );
  assert.deepEqual(countersOf(undefined), []);
});

test('the launch lies on each of its what-if curves', () => {
  // blur_with_big_ring of examples/pipeline on an H200: 48 KiB of shared memory for 2 warps
  const occupancy = {
    most_warps: 64,
    theoretical: 0.125,
    by_block_size: { 32: 4, 64: 4, 96: 4, 1024: 2 },
    by_registers: { 168: 4, 255: 3 },
    by_shared_bytes: { 45568: 5, 57344: 4, 76800: 3 },
  };
  const launch = row({ registers: 32, static_shared_bytes: 0, dynamic_shared_bytes: 48960 });
  const curves = curvesOf(launch, occupancy);
  assert.deepEqual(
    curves.map(({ id, now }) => [id, now]),
    [
      ['block', 64],
      ['registers', 32],
      ['shared', 48960],
    ],
  );
  for (const { steps, now, upTo } of curves)
    assert.equal(steps.find(({ value }) => (upTo ? value >= now : value === now)).occupancy, 0.125);
  assert.deepEqual(
    curves[0].steps.map(({ occupancy: part }) => part),
    [4 / 64, 8 / 64, 12 / 64, 1],
  );
  assert.deepEqual(curvesOf(row({}), {}), []);
});
