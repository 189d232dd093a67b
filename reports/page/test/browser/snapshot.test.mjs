// SPDX-License-Identifier: Apache-2.0
// A report with a memory snapshot of PyTorch's allocator, in a real browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, folder, makePage, makeTrace, open, root } from './open.mjs';

let report;
before(() => {
  execFileSync('python3', [join(root, 'tests/rules/snapshots.py'), folder]);
  report = makePage(makeTrace('stuck', join(folder, 'stuck.sql')), '--memory-snapshot', join(folder, 'stuck.pickle'));
});
after(close);

test('the section on memory says whose bytes it is, and what other settings would do', async () => {
  const { page, faults, context } = await open(report);
  const section = page.locator('section#memory');
  await section.scrollIntoViewIfNeeded();
  const text = (await section.innerText()).replace(/\s+/g, ' ');
  assert.match(text, /Whose bytes: [0-9.]+ MiB of device 0 at the memory snapshot/);
  assert.match(text, /100 MiB asked at .*, 30\.0 MiB free on the device; segments held 240 MiB, tensors in them 60\.0 MiB/);
  assert.match(text, /With expandable_segments:True the request that failed would have fit: 160 MiB/);
  const table = section.getByRole('table', { name: 'Whose bytes' });
  assert.equal(await table.getByText('train.py:12').count(), 1);
  assert.deepEqual(faults, []);
  await context.close();
});
