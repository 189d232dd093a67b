// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, makeFinding, makeReport } from './reports.mjs';

globalThis.addEventListener ??= () => undefined;
const { certainty, effort, firstOf, gain, heading, placesNote } = await load('sections/verdict/answer.ts');
const { layOut } = await load('sections/verdict/time-bar.tsx');
const { editorLink, setEditor } = await load('parts/place-link.tsx');

const { applied, compared, gained, judged, offBy } = await load('tried.ts');
const tried = {
  name: 'pageable-staging',
  state: 'proven',
  why: 'results are equal',
  difference: null,
  gain: { low_ns: 260e6, best_ns: 270e6, high_ns: 280e6, share_of_run: 0.142, coverage: 0.97, pairs: 8 },
  predicted: { low_ns: 200e6, best_ns: 294e6, high_ns: 340e6, share_of_run: 0.155 },
  points: 1.3,
  findings: 1,
  fixes: [
    {
      fix: 'pageable-staging',
      calls: 96,
      bytes: 2 ** 32,
      left_bytes: 0,
      refused: [{ reason: 'too small to gain', calls: 1, bytes: 4096 }],
    },
  ],
};
const saving = (best_ns, low_ns = best_ns, high_ns = best_ns) => ({ low_ns, best_ns, high_ns, share_of_wall: 0 });
const report = (changes) => makeReport({ verdict: { wall_ns: 1.73e9, ...changes } });

test('a finding says what it brings, how sure that is, and how much work it is', () => {
  const finding = makeFinding({ saving: saving(176e6, 120e6, 221e6) });
  assert.equal(gain(report(), finding), '1.73 s → 1.55 s, 1.11 ×');
  assert.equal(certainty(report(), finding), 'saves 120 to 221 ms, calibrated');
  assert.equal(effort(finding), '1-2 lines');
  const small = makeFinding({ saving: saving(5e6, 0.9e6, 6e6), confidence: 'modelled', guess: true });
  assert.equal(gain(report(), small), '5.00 ms of 1.73 s');
  assert.equal(certainty(report(), small), 'saves 900 µs to 6.00 ms, modelled, a guess');
});

test('what was proven stands in place of what is predicted', () => {
  const proven = { ...tried, findings: 2 };
  const finding = makeFinding({ saving: saving(176e6, 120e6, 221e6), tried: proven });
  const with_results = { ...report(), tried: { file: 'try.json', run_ns: 1.9e9, compared: {}, sets: [proven] } };
  assert.equal(gain(with_results, finding), '1.90 s → 1.63 s, 1.17 ×');
  assert.equal(certainty(with_results, finding), 'pageable-staging proven to gain 260 to 280 ms, with 1 other');
  const only_tried = makeFinding({ saving: saving(176e6, 120e6, 221e6), tried: { ...tried, state: 'tried' } });
  assert.equal(certainty(with_results, only_tried), 'saves 120 to 221 ms, calibrated');
});

test('a fix that was tried says what it gained, what it was applied to and what it refused', () => {
  assert.equal(gained(tried), '270 ms (14.2 % of the run), 260 ms to 280 ms with 97.0 % in 8 pairs of runs');
  assert.equal(gained({ ...tried, gain: null }), 'not timed');
  assert.equal(judged({ ...tried, findings: 3 }), 'proven: results are equal; for this and 2 others together');
  assert.equal(judged({ ...tried, state: 'differs', difference: 'standard output differs' }), 'differs: results are equal (standard output differs)');
  assert.equal(offBy(tried), 'predicted 15.5 % of the run: 1.3 points more than tried');
  assert.equal(offBy({ ...tried, points: null }), '');
  assert.deepEqual(applied(tried), [
    'pageable-staging: applied to 96 calls, 4.00 GiB',
    'pageable-staging: not applied to 1 call, 4.00 KiB: too small to gain',
  ]);
  const of = { calls: 48, bytes: 2 ** 31, unchecked_calls: 1, unchecked_bytes: 4096 };
  assert.equal(compared({ compared: of }), '48 copies to the host, 2.00 GiB; unchecked: 1 of 49, 4.00 KiB');
});

test('what has no price says what it has instead', () => {
  const none = saving(null, null, null);
  assert.equal(gain(report(), makeFinding({ saving: none, excess_bytes: 1 << 20 })), '1.00 MiB unnecessary');
  assert.equal(gain(report(), makeFinding({ saving: none, saved_peak_bytes: 1 << 20 })), '1.00 MiB less at the peak');
  assert.equal(gain(report(), makeFinding({ saving: none, at_most_ns: 2e6 })), 'at most 2.00 ms');
  assert.equal(certainty(report(), makeFinding({ saving: none })), '');
});

test('the heading states what the first three save, and all of them', () => {
  const findings = Array.from({ length: 4 }, () => makeFinding());
  const verdict = { wall_ns: 1.73e9, combined_saving: saving(472e6), first_saving: saving(352e6) };
  assert.equal(
    heading(makeReport({ verdict, findings })),
    'Do first: 1.73 s → 1.38 s, 1.26 ×; all 4 findings: 1.73 s → 1.26 s, 1.38 ×',
  );
  const same = { ...verdict, first_saving: saving(472e6) };
  assert.equal(heading(makeReport({ verdict: same, findings })), 'Do first: 1.73 s → 1.26 s, 1.38 ×');
  assert.equal(heading(makeReport({ verdict, findings: findings.slice(1) })), 'Do first: 1.73 s → 1.26 s, 1.38 ×');
});

test('below what is first stands why a place has no line', () => {
  const note = 'app has no line numbers: compile it with -g';
  const named = makeFinding();
  const unnamed = makeFinding({ where: { ...named.where, note } });
  assert.equal(placesNote(makeReport({ findings: [named, unnamed] })), note);
  assert.equal(placesNote(makeReport({ findings: [named, named, named, unnamed] })), null);
});

test('the parts of the time fill the bar, one after the other', () => {
  const part = (name, ns) => ({ name, title: name, ns, times: null, longest_ns: null, places: [] });
  const time = { recorded_ns: 100, note: null, parts: [part('kernels', 30), part('copies', 0), part('gmtrace', 70)] };
  const parts = layOut(makeReport({ time }));
  assert.deepEqual(
    parts.map(({ name, at, part: of }) => [name, at, of]),
    [
      ['kernels', 0, 0.3],
      ['gmtrace', 0.3, 0.7],
    ],
  );
  assert.deepEqual(layOut(makeReport({ time: null })), []);
});

test('links into an editor are made of absolute files, and of no scheme that runs anything', () => {
  assert.equal(editorLink('/src/a.cu', 4), null);
  setEditor('vscode://file{file}:{line}');
  assert.equal(editorLink('/src/a b.cu', 4), 'vscode://file/src/a%20b.cu:4');
  assert.equal(editorLink('/src/"><script>.cu', null), 'vscode://file/src/%22%3E%3Cscript%3E.cu:1');
  assert.equal(editorLink('a.cu', 4), null);
  assert.equal(editorLink(null, 4), null);
  for (const url of ['javascript:alert({line})', 'JavaScript:0', 'data:text/html,{file}', '{file}', undefined]) {
    setEditor(url);
    assert.equal(editorLink('/src/a.cu', 4), null, url);
  }
});

test('nothing is named first that saves less than a thousandth of the run', () => {
  const share = (share_of_wall, changes) => makeFinding({ saving: { ...saving(5e6), share_of_wall }, ...changes });
  const first = (...findings) => firstOf(makeReport({ findings })).length;
  assert.equal(first(share(0.1), share(0.001), share(0.0009)), 2);
  assert.equal(first(share(0.0009)), 0);
  assert.equal(first(share(0.0009), share(0.1)), 2);
  assert.equal(first(share(0.1), share(0.0009, { saved_peak_bytes: 4096 })), 2);
  assert.equal(first(share(0.1), share(null)), 2);
  assert.equal(first(share(0.1), share(0.0009, { tried })), 2);
  assert.equal(first(share(0.1), share(0.1), share(0.1), share(0.1)), 3);
});
