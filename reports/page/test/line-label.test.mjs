// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { chainWords, lineLabel } = await load('sections/findings/line-label.ts');

const place = { file: '/src/a.h', line: 7, caller_file: '/src/k.cu', caller_line: 31, ptx_line: null, opcode: 'LDG' };
const calls = [
  { level: 1, function: 'int middle<int>(int const*, int)', file: '/src/b.h', line: 12 },
  { level: 2, function: null, file: '/src/k.cu', line: 31 },
];

test('every call between a line and its kernel, the innermost first', () => {
  assert.equal(lineLabel({ ...place, inlined_at: calls, chain_count: 1 }), 'a.h:7, inlined at middle (b.h:12), at k.cu:31');
  assert.equal(lineLabel({ ...place, inlined_at: calls, chain_count: 3 }), 'a.h:7, inlined at middle (b.h:12), at k.cu:31 (one of 3 ways)');
});

test('what was not inlined has its line only; of a race the outermost call is known', () => {
  assert.equal(lineLabel({ ...place, caller_file: null, inlined_at: [], chain_count: 0 }), 'a.h:7');
  assert.equal(lineLabel(place), 'a.h:7, inlined at k.cu:31');
});

test('without line information: the instruction', () => {
  assert.equal(lineLabel({ ...place, file: null, inlined_at: [], chain_count: 0 }), 'instruction LDG');
  assert.equal(lineLabel({ ...place, file: null, ptx_line: 4, inlined_at: [] }), 'PTX line 4');
});

test('calls that were left out are counted', () => {
  assert.equal(chainWords([calls[0], { ...calls[1], level: 30 }]), 'inlined at middle (b.h:12), 28 more, at k.cu:31');
  assert.equal(chainWords([{ level: 1, function: null, file: null, line: null }]), 'inlined at ?:?');
  assert.equal(chainWords([]), '');
});
