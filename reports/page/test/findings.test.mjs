// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, makeFinding } from './reports.mjs';

const { byReason, choose, valuesOf, FACETS, WISH_KEYS } = await load('sections/findings/select.ts');

const NO_WISH = { ...Object.fromEntries(WISH_KEYS.map((key) => [key, ''])), sort: 'saving' };
const LIST = [
  makeFinding({
    fingerprint: 'a',
    rule: 'GM102',
    severity: 'medium',
    saving: { best_ns: 5 },
    where: { file: 'b.cu', line: 9 },
  }),
  makeFinding({
    fingerprint: 'b',
    rule: 'GM301',
    severity: 'low',
    saving: { best_ns: null },
    excess_bytes: 10,
    where: { label: 'k', kernel: 'k<int>' },
  }),
  makeFinding({
    fingerprint: 'c',
    rule: 'GM101',
    severity: 'high',
    saving: { best_ns: 2 },
    where: { file: 'b.cu', line: 10 },
  }),
  makeFinding({
    fingerprint: 'd',
    rule: 'GM301',
    severity: 'low',
    saving: { best_ns: null },
    excess_bytes: 99,
    where: { label: 'j', kernel: 'j' },
  }),
  makeFinding({
    fingerprint: 'e',
    rule: 'GM201',
    severity: 'low',
    saving: { best_ns: 7 },
    headline: 'Freed 32 times',
    range: 'epoch',
    where: { file: 'a.cu', line: 70 },
  }),
];
const CLAIMS = {
  a: [
    [0, 10],
    [50, 60],
  ],
  b: [[20, 30]],
};
const shown = (wish) =>
  choose(LIST, { ...NO_WISH, ...wish }, CLAIMS)
    .map(({ fingerprint }) => fingerprint)
    .join('');

test('findings are ordered as the report ranks them; by severity; by place', () => {
  assert.equal(shown({}), 'abcde');
  assert.equal(shown({ sort: 'severity' }), 'cabde');
  assert.equal(shown({ sort: 'place' }), 'eacdb');
  assert.equal(shown({ sort: 'no such order' }), 'abcde');
});

test('notes of one reason stand together', () => {
  const notes = ['noise', 'hidden', 'noise'].map((note, i) => makeFinding({ fingerprint: `${i}`, note }));
  assert.deepEqual(
    byReason(notes).map(([why, list]) => [why, list.map(({ fingerprint }) => fingerprint).join('')]),
    [
      ['noise', '02'],
      ['hidden', '1'],
    ],
  );
});

test('filters leave what has all that was chosen', () => {
  assert.equal(shown({ category: 'transfers' }), 'ac');
  assert.equal(shown({ rule: 'GM301' }), 'bd');
  assert.equal(shown({ severity: 'low', kernel: 'k<int>' }), 'b');
  assert.equal(shown({ rule: 'GM301', category: 'transfers' }), '');
  assert.equal(shown({ range: 'epoch' }), 'e');
});

test('text is looked for word by word in title, headline, place and rule', () => {
  assert.equal(shown({ text: 'freed TIMES' }), 'e');
  assert.equal(shown({ text: 'gm10' }), 'ac');
  assert.equal(shown({ text: 'freed nowhere' }), '');
});

test('a range of time leaves what claims a part of it', () => {
  assert.equal(shown({ from: '40' }), 'a');
  assert.equal(shown({ from: '12', to: '20' }), 'b');
  assert.equal(shown({ to: '5' }), 'a');
  assert.equal(shown({ from: '11', to: '19' }), '');
});

test('a facet counts its values, and leaves out findings without one', () => {
  const kernel = FACETS.find(({ key }) => key === 'kernel');
  assert.deepEqual(valuesOf(LIST, kernel.of), [
    ['j', 1],
    ['k<int>', 1],
  ]);
  assert.deepEqual(valuesOf(LIST, FACETS[1].of)[0], ['GM301', 2]);
});
