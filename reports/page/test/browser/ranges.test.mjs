// SPDX-License-Identifier: Apache-2.0
// The tree of ranges in a real browser: of a program that names ranges, and of one that names none.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { close, makePage, makeTrace, open } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let ranged, none;
before(() => {
  ranged = makePage(makeTrace('ranged', 'named_ranges.sql'));
  none = makePage(makeTrace('none'));
});
after(close);

const names = (page) => page.locator('#ranges .tree tbody code').allInnerTexts();

test('opens node by node, by key too, and a link shows the same nodes', async () => {
  const { page, faults, context } = await open(ranged);
  assert.deepEqual(await names(page), ['elsewhere', 'epoch', 'step #']);
  const row = page.locator('#ranges .tree tr', { hasText: 'epoch' });
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /17\.1 ms 11\.1 ms .*500 /);
  await page.getByRole('button', { name: 'Open epoch' }).focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await names(page), ['elsewhere', 'epoch', 'fetch@loader', 'step #']);
  assert.equal(await page.getByRole('button', { name: 'Close epoch' }).getAttribute('aria-expanded'), 'true');
  const hash = await page.evaluate(() => location.hash);
  await context.close();
  const again = await open(ranged, { hash });
  assert.deepEqual(await names(again.page), ['elsewhere', 'epoch', 'fetch@loader', 'step #']);
  await again.page.getByRole('button', { name: 'Close every range' }).click();
  assert.deepEqual(await names(again.page), ['elsewhere', 'epoch', 'step #']);
  assert.deepEqual([...faults, ...again.faults], []);
  await again.context.close();
});

test('boxes are by what is chosen, and findings lead to their cards', async () => {
  const { page, faults, context } = await open(ranged);
  const boxes = () => page.locator('#ranges .icicle button').allInnerTexts();
  const byTime = await boxes();
  assert.ok(byTime.includes('fetch@loader') && byTime.includes('elsewhere'), byTime.join());
  await page.locator('#ranges label', { hasText: 'By' }).locator('select').selectOption('copied');
  assert.ok(!(await boxes()).includes('elsewhere'), 'it copies nothing');
  await page.locator('#ranges label', { hasText: 'Ranges of' }).locator('select').selectOption('process');
  assert.deepEqual(await names(page), ['all']);
  await page.locator('#ranges .tree').getByRole('button', { name: /^3: / }).click();
  const cards = await page.locator('#findings [data-finding]:not(details *)').count();
  assert.ok(cards > 0);
  assert.match(await page.evaluate(() => location.hash), /f\.range=all/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('is in no page of a program that names none', async () => {
  const { page, faults, context } = await open(none);
  assert.equal(await page.locator('#ranges').count(), 0);
  assert.equal(await page.locator('.contents a', { hasText: 'Ranges' }).count(), 0);
  assert.equal(await page.locator('#about').count(), 1);
  assert.deepEqual(faults, []);
  await context.close();
});

for (const [name, options] of [['light, 1440 wide', { width: 1440 }], ['dark, 390 wide', { dark: true, width: 390 }]])
  test(`has no fault by axe-core, and fits (${name})`, async () => {
    const { page, faults, context } = await open(ranged, { ...options, hash: '#ranges&n.open=2' });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      globalThis.axe.run('#ranges', { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
    assert.deepEqual(violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html}`), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    assert.deepEqual(faults, []);
    await context.close();
  });
