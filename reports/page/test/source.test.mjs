// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, payloadOf } from './bundle.mjs';

const { sourceOf, listing, waysOf, wordOf } = await load('sections/kernels/source.ts');

const rows = [
  // two launches: 64 and 4 sectors a request in all, so that one launch moves half of it
  ['k', 2, 'a.cu', 7, 'global_load', 'ld', 4, 4, 128, 16, null, null, 3584],
  ['k', 2, 'a.cu', 7, 'other', 'mul', 6, null, null, null, null, null, null],
  ['k', 2, 'a.cu', 9, 'global_store', 'st', 2, 2, 8, 8, null, null, 0],
  ['k', 2, 'b.h', 20, 'shared_load', 'ld', 2, 2, null, null, 64, 2, 7936, 'inlined at f (b.h:9), at a.cu:3; inlined at a.cu:4'],
  ['other', 1, null, 3, 'global_load', 'ld', 1, 1, 32, 4, null, null, 896],
];
const columns = ['kernel_name', 'launches', 'file', 'line', 'access', 'opcodes', 'executed', 'requests', 'sectors', 'ideal_sectors', 'wavefronts', 'ideal_wavefronts', 'excess_bytes', 'inlined'];
const payload = payloadOf(
  { source_line: rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]))) },
  { sources: { 'a.cu': Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n') } },
);

test('counts of one launch, by file, the one with the most excess first', () => {
  const source = sourceOf(payload, 'k');
  assert.equal(source.launches, 2);
  assert.equal(source.excess, (3584 + 7936) / 2);
  assert.deepEqual(source.files.map(({ file, text }) => [file, text?.length ?? null]), [['b.h', null], ['a.cu', 30]]);
  const [shared] = source.files[0].counts;
  assert.deepEqual([shared.actual, shared.ideal, shared.excess], [32, 1, 3968]);
  const [load, arithmetic, store] = source.files[1].counts;
  assert.deepEqual([load.actual, load.ideal, load.executed, load.excess], [32, 4, 2, 1792]);
  assert.ok(Number.isNaN(arithmetic.actual) && store.share === 0);
  assert.ok(Math.abs(load.share + shared.share - 1) < 1e-12);
  assert.equal(sourceOf(payload, 'none'), null);
});

test('lines that were counted with their neighbours, and what is left out between', () => {
  const shown = listing(sourceOf(payload, 'k').files[1], 1);
  assert.deepEqual(shown.map((row) => row?.line), [6, 7, 8, 9, 10]);
  assert.deepEqual(shown[1].counts.map(({ kind }) => kind), ['global_load'], 'the arithmetic beside a load is not shown');
  assert.equal(shown[0].text, 'line 6');
  assert.deepEqual(listing(sourceOf(payload, 'k').files[1], 0).map((row) => row?.line), [7, undefined, 9]);
});

test('without the text or without lines there are still the counts', () => {
  assert.deepEqual(listing(sourceOf(payload, 'k').files[0]).map(({ line, text }) => [line, text]), [[20, null]]);
  const [ptx] = sourceOf(payload, 'other').files;
  assert.equal(ptx.file, null);
  assert.deepEqual(listing(ptx).map(({ line, counts }) => [line, counts[0].excess]), [[3, 896]]);
});

test('kinds in words; what is not known stays as it is', () => {
  assert.equal(wordOf('shared_load'), 'shared load');
  assert.equal(wordOf('<new>'), '<new>');
});

test('every way in which the accesses of a line were inlined, once', () => {
  const source = sourceOf(payload, 'k');
  const [shared] = source.files[0].counts;
  assert.deepEqual(shared.inlined, ['inlined at f (b.h:9), at a.cu:3', 'inlined at a.cu:4']);
  assert.deepEqual(waysOf([shared, shared]), shared.inlined);
  assert.deepEqual(source.files[1].counts.map(({ inlined }) => inlined), [[], [], []]);
  assert.deepEqual(waysOf([{ ...shared, actual: NaN }]), [], 'arithmetic beside them has none of its own');
});

test('kernels of one name in two modules have each their own lines', () => {
  const row = (file, classes) => ({ ...Object.fromEntries(columns.map((name, at) => [name, rows[0][at] ?? null])), file, classes });
  const two = payloadOf({ source_line: [row('a.cu', '1,3'), row('b.cu', '2')] });
  const filesOf = (...which) => sourceOf(two, 'k', ...which)?.files.map(({ file }) => file) ?? null;
  assert.deepEqual([filesOf(1), filesOf(3), filesOf(2), filesOf(13)], [['a.cu'], ['a.cu'], ['b.cu'], null]);
  assert.deepEqual(sourceOf(payload, 'k', 1).files.length, 2, 'a page that does not distinguish classes');
});
