// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { agreement, lookupPathsOf, exampleOf, runtimesOf } = await load('sections/checks/words.ts');

const entry = (calls) => ({ name: 'cuMemBatchDecompressAsync', class: 'move', requests: 1, calls, by: 'dlsym' });

test('agreement with CUPTI is shown, and calls that no hook saw', () => {
  const none = { agrees: null, entry_points: [] };
  assert.match(agreement(none), /no device records to compare with\. No call of a driver function/);
  assert.match(agreement({ agrees: true, entry_points: [entry(0), entry(null)] }), /agree\. No call of a driver function/);
  assert.match(agreement({ agrees: false, entry_points: [entry(5), entry(2)] }), /differ\. 7 calls went to/);
  assert.match(agreement({ agrees: true, entry_points: [entry(1)] }), / 1 call went to/);
});

test('ways to the driver and forms of the runtime stand in one line each', () => {
  const lookup_paths = [
    { name: 'dlsym', requests: 1, detail: null },
    { name: 'cuGetProcAddress_v2', requests: 1410, detail: 'for versions up to 13.0' },
  ];
  assert.equal(
    lookupPathsOf({ lookup_paths }),
    'dlsym (1 request); cuGetProcAddress_v2 (1,410 requests, for versions up to 13.0)',
  );
  const runtimes = [
    { module: '/opt/app/bin/app', runtime: 'static', detail: 'version 13.0 or later' },
    { module: 'libx.so', runtime: 'unknown', detail: null },
  ];
  assert.equal(runtimesOf({ runtimes }), 'app: static, version 13.0 or later; libx.so: unknown');
});

test('an example says which side lacks its partner', () => {
  const call = { side: 'call', id: 4, detail: 'cuMemcpyHtoD_v2 of 64 bytes' };
  assert.equal(exampleOf({ examples: [call] }), 'no record of cuMemcpyHtoD_v2 of 64 bytes');
  assert.equal(exampleOf({ examples: [{ side: 'record', id: 9, detail: null }] }), 'no call of 9');
  assert.equal(exampleOf({ examples: [] }), null);
});
