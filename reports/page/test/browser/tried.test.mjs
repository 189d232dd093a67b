// SPDX-License-Identifier: Apache-2.0
// A report with what gmtrace try found out, and a comparison with it, in a real browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, folder, makeDiff, makePage, open, openAll, root } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let report, diff;
before(() => {
  const results = join(folder, 'try.json');
  execFileSync('python3', [join(root, 'tests/rules/tried.py'), results]);
  report = makePage('pipeline_slow.db.gz', '--tried', results);
  diff = makeDiff('pipeline_slow.db.gz', 'pipeline_fast.db.gz', '--tried', results);
});
after(close);

async function expectNoFault(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
}

test('a finding says what its fix gained, what it was applied to, and what it refused', async () => {
  const { page, faults, context } = await open(report);
  const first = page.locator('#verdict');
  assert.match((await first.innerText()).replace(/\s+/g, ' '), /1\.90 s → 1\.63 s, 1\.17 ×.*pageable-staging proven to gain 260 to 280 ms, with 1 other/);
  await openAll(page);
  const section = page.locator('section#findings');
  const text = (await section.innerText()).replace(/\s+/g, ' ');
  assert.match(text, /270 ms 14(\.2)? % of the run, proven/);
  assert.match(text, /proven: results are equal, and the gain is no accident; for this and 1 other together/);
  assert.match(text, /predicted 15\.5 % of the run: 1\.3 points more than tried/);
  assert.match(text, /pageable-staging: not applied to 12 calls, 4\.00 KiB: too small to gain/);
  assert.match(text, /6 sets of fixes tried on this program/);
  assert.match(text, /48 copies to the host, 2\.00 GiB; unchecked: 1 of 49, 4\.00 KiB/);
  await expectNoFault(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a comparison says what was predicted, tried and got', async () => {
  const { page, faults, context } = await open(diff);
  const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
  assert.match(text, /Predicted 176 ms; tried: pageable-staging gains 270 ms \(14\.2 % of the run\).*; got not known for this alone/);
  await expectNoFault(page);
  assert.deepEqual(faults, []);
  await context.close();
});
