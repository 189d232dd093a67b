// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, makeReport } from './reports.mjs';

const { restOf } = await load('sections/failed/rest.ts');

test('what no row is of is counted, and what programs handle is a line of its own', () => {
  assert.deepEqual(restOf(makeReport()), []);
  const none = { alarm: null, rows: [], other_calls: 0, handled: [] };
  assert.deepEqual(restOf(makeReport({ failed_calls: none })), []);
  const handled = [
    { result: 704, error: 'A', runtime_error: 'a', words: 'peer access is already enabled', calls: 2 },
    { result: 2, error: 'B', runtime_error: 'b', words: 'out of memory', calls: 1 },
  ];
  assert.deepEqual(restOf(makeReport({ failed_calls: { ...none, other_calls: 1, handled } })), [
    '1 more call failed at other places, or with other errors.',
    '3 calls returned with an error that programs ask for or handle: peer access is already enabled (2), out of memory (1).',
  ]);
});
