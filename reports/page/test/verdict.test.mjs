// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, makeFinding, makeReport } from './reports.mjs';

const { busyNote, copyTotals, runNote, sentence } = await load('sections/verdict/summary.ts');
const { badges } = await load('sections/verdict/badges.ts');
const { certainty, gain } = await load('sections/verdict/answer.ts');

const row = (direction, host_class, bytes, time_ns, count = 1) => ({
  direction,
  host_class,
  up_to_bytes: null,
  count,
  bytes,
  time_ns,
});

test('one sentence says how busy the GPU was, what copies took and what could be saved', () => {
  const report = makeReport({
    verdict: {
      copy_ns: 100e6,
      combined_saving: { low_ns: 1e6, best_ns: 50e6, high_ns: 60e6, share_of_wall: 0.05 },
    },
    transfers: [row('h2d', 'pageable', 10, 95e6), row('d2h', 'pinned', 1000, 5e6)],
    findings: [makeFinding()],
  });
  assert.equal(
    sentence(report),
    '25.0 % of 1.00 s the GPU was busy; copies took 100 ms, 95.0 % from or to pageable memory; ' +
      '1 finding would save about 50.0 ms.',
  );
});

test('the length of the run is without what gmtrace took, and both are said', () => {
  const verdict = { wall_ns: 1e9, recorded_ns: 1.75e9, gmtrace_ns: 0.75e9 };
  assert.equal(runNote(makeReport({ verdict })), "the program's; recorded 1.75 s, gmtrace's own 750 ms");
  assert.match(sentence(makeReport({ verdict })), /^25\.0 % of 1\.00 s the GPU was busy; /);
  const unknown = 'from the first CUDA call to the end';
  assert.equal(runNote(makeReport()), unknown);
  assert.equal(runNote(makeReport({ verdict: { ...verdict, gmtrace_ns: null } })), unknown);
});

test('a busy share that is estimated says from what', () => {
  const verdict = { device_seen_share: 0.4, gpu_busy_error_ns: 3e6 };
  assert.match(sentence(makeReport({ verdict })), /^About 25\.0 % of 1\.00 s the GPU was busy; /);
  assert.match(busyNote(makeReport({ verdict })), /from the 40\.0 % of the recording .* right within 3\.00 ms \(95 %\)$/);
  assert.doesNotMatch(busyNote(makeReport({ verdict: { ...verdict, gpu_busy_error_ns: null } })), /within/);
  assert.doesNotMatch(busyNote(makeReport()), /estimated/);
});

test('what is not known is not said', () => {
  const report = makeReport({ verdict: { gpu_busy_ns: null }, findings: [makeFinding(), makeFinding()] });
  assert.equal(sentence(report), 'The run took 1.00 s; nothing was copied; 2 findings, none of them priced.');
  assert.match(sentence(makeReport({ verdict: { wall_ns: null } })), /^How long the run took is not known; /);
});

test('the software device has bytes and no times', () => {
  const report = makeReport({
    device: { software: true },
    verdict: { wall_ns: null, gpu_busy_ns: null },
    transfers: [row('h2d', 'pageable', 3 << 20, null), row('d2d', '-', 1 << 20, null)],
  });
  assert.match(sentence(report), /no times; copies moved 4\.00 MiB, 75\.0 % from or to pageable memory; no check found/);
});

test('times of the software device are called modelled, and for which GPU', () => {
  const report = makeReport({
    device: { software: true },
    device_model: { device: 'NVIDIA H200', match: 'another GPU' },
    verdict: { modelled: true, wall_ns: null, gpu_busy_ns: null, copy_ns: 3e6, combined_saving: { low_ns: 1e6, best_ns: 2e6, high_ns: 4e6, share_of_wall: null } },
    transfers: [row('h2d', 'pageable', 3 << 20, 3e6)],
    findings: [makeFinding({ saving: { low_ns: 1e6, best_ns: 2e6, high_ns: 4e6, share_of_wall: null }, modelled: true })],
  });
  assert.match(sentence(report), /times are modelled for NVIDIA H200; copies would take about 3\.00 ms.*; 1 finding would save about 2\.00 ms, modelled\./);
  assert.equal(badges({ report, detail: null })[0].text, 'software device: modelled for NVIDIA H200');
  assert.equal(gain(report, report.findings[0]), 'about 2.00 ms on NVIDIA H200');
  assert.match(certainty(report, report.findings[0]), /^1\.00 to 4\.00 ms, modelled from exact counts$/);
});

test('copies of one way are added up, and one unknown time makes their sum unknown', () => {
  const totals = copyTotals([
    row('h2d', 'pinned', 5, 10, 2),
    row('h2d', 'pinned', 7, null, 3),
    row('d2h', 'pinned', 1, 4),
  ]);
  assert.deepEqual(
    totals.map(({ direction, count, bytes, time_ns }) => [direction, count, bytes, time_ns]),
    [
      ['d2h', 1, 1, 4],
      ['h2d', 5, 12, null],
    ],
  );
});

test('gaps of one kind are one badge, which lists them all', () => {
  const gap = (what, why) => ({ what, why, remedy: null });
  const gaps = [gap('kernels', 'one'), gap('kernels', 'two'), gap('copies', 'three'), gap('memsets', 'four')];
  const shown = badges({ report: makeReport({ could_not_check: gaps }), detail: null });
  const kernels = shown.filter(({ text }) => text === 'kernels: incomplete');
  assert.equal(kernels.length, 1);
  assert.equal(kernels[0].help, 'one\ntwo');
  assert.ok(shown.some(({ text }) => text === 'memsets: incomplete'));
  assert.ok(!shown.some(({ text }) => text.includes('more gaps')));
});

test('badges distinguish losses from rules that could not run, and show where the prices come from', () => {
  const of = (report) =>
    badges({ report: makeReport(report), detail: null }).map(({ tone, text }) => `${tone}: ${text}`);
  assert.deepEqual(of({}), ['good: calibrated on this device', 'good: nothing lost']);
  assert.deepEqual(of({ device: { software: true }, device_model: { match: null } })[0], 'fair: software device');
  assert.deepEqual(
    of({
      device_model: { match: 'shipped', noisy: true },
      could_not_check: [
        { what: 'recording', why: '3 records were dropped', remedy: null },
        { what: 'kernel_timestamps', why: 'off: not asked for', remedy: null },
        { what: 'GM505 block-barrier-idle', why: 'no counts', remedy: null },
      ],
      verdict: { kernel_classes: 4, measured_classes: 3 },
      process: { end_reason: 'killed' },
    }),
    [
      'fair: modelled: figures of another GPU of this name',
      'bad: noisy calibration',
      'fair: 3 of 4 kernel classes measured',
      'bad: recording: incomplete',
      'fair: kernel timestamps: off',
      'fair: 1 rule not checked',
      'bad: program was killed',
    ],
  );
  const end = (process) => of({ process }).filter((badge) => badge.includes('program'));
  assert.deepEqual(end({ exit_status: 0, exit_code: 0, exit_signal: null }), []);
  assert.deepEqual(end({ exit_status: 256, exit_code: 1, exit_signal: null }), ['bad: program ended: exit status 1']);
  assert.deepEqual(end({ exit_status: 11, exit_code: null, exit_signal: 11 }), [
    'bad: program failed: ended by signal 11',
  ]);
  assert.deepEqual(end({ end_reason: 'exec', exit_code: 1 }), ['bad: program replaced itself']);
});
