// SPDX-License-Identifier: Apache-2.0
// The page of a million calls: small enough to be mailed, findings before the timeline, and all of it soon. Processor time is
// held to a limit, since the clock depends on what else runs, and to one of several times what it takes, since machines differ
// (tests/bench/page measures it).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, folder, makePage, open, root } from './open.mjs';

const MOST_BYTES = 15e6;
const MOST_SECONDS = 10;

let report;
before(() => {
  const trace = join(folder, 'large.db');
  execFileSync('python3', [join(root, 'tests/bench/make_trace.py'), '--calls', '1000000', trace]);
  report = makePage(trace);
});
after(close);

test('a million calls take at most 15 MB', () => {
  const { size } = statSync(report);
  assert.ok(size <= MOST_BYTES, `${size} bytes`);
});

test('findings come before the timeline, and the last section within 10 s of processor time', async () => {
  let tools;
  const watch = async (page) => {
    tools = await page.context().newCDPSession(page);
    await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.addInitScript(() => {
      new MutationObserver(() => {
        if (document.querySelector('#findings h2 + *:not(.later)'))
          globalThis.findingsFirst ??= document.querySelector('.t-canvas canvas') === null;
      }).observe(document, { subtree: true, childList: true });
    });
  };
  const { page, faults, context } = await open(report, { waiting: 120000, before: watch });
  const { metrics } = await tools.send('Performance.getMetrics');
  const seconds = metrics.find(({ name }) => name === 'TaskDuration').value;
  await page.waitForSelector('.t-canvas canvas', { timeout: 120000 });
  assert.equal(await page.evaluate(() => globalThis.findingsFirst), true);
  assert.ok(seconds > 0.1 && seconds <= MOST_SECONDS, `${seconds.toFixed(2)} s of the main thread`);
  assert.deepEqual(faults, []);
  await context.close();
});
