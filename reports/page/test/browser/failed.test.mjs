// SPDX-License-Identifier: Apache-2.0
// A run whose calls failed, in a real browser: the verdict begins with it; a run without has neither alarm nor section.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { close, makePage, makeTrace, open } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let failed, sound;
before(() => {
  failed = makePage(makeTrace('failed', 'failed_calls.sql'));
  sound = makePage(makeTrace('sound'));
});
after(close);

for (const [name, options] of [['light, 1280 wide', {}], ['dark, 390 wide', { dark: true, width: 390 }]])
  test(`begins with the call that failed, and lists the others (${name})`, async () => {
    const { page, faults, context } = await open(failed, options);
    const first = await page.locator('#verdict > p').first().innerText();
    assert.match(first, /^cudaMemcpy at app\.cu:42 failed: an illegal memory access \(700\); what follows is of a program that failed\./);
    await page.locator('#verdict').getByRole('button', { name: 'Failed calls' }).click();
    const rows = (await page.locator('#failed tbody tr').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    assert.equal(rows.length, 2);
    assert.match(rows[0], /app\.cu:42 cudaMemcpy \(cuCtxSynchronize\) an illegal memory access cudaErrorIllegalAddress \(700\) 1 97\.5 ms/);
    assert.match(rows[1], /cudaMemcpy \(cuMemcpyHtoD_v2\) .* 2 98\.0 ms/);
    assert.match(await page.locator('#failed').innerText(), /2 calls returned with an error that programs ask for or handle: .*peer access is already enabled \(1\)/);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
    assert.deepEqual(violations.map(({ id, help }) => `${id}: ${help}`), []);
    assert.deepEqual(faults, []);
    await context.close();
  });

test('has neither alarm nor section where no call failed', async () => {
  const { page, faults, context } = await open(sound);
  assert.equal(await page.locator('.alarm, section#failed').count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});
