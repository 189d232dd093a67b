// SPDX-License-Identifier: Apache-2.0
// A report with heaps and regions of an allocator, in a real browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { close, makePage, makeTrace, open } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let pooled, none;
before(() => {
  pooled = makePage(makeTrace('pooled', 'heaps.sql'));
  none = makePage(makeTrace('none'));
});
after(close);

const words = (text) => text.replace(/\s+/g, ' ').trim();
const rowOf = async (table, has) => words(await table.locator('tbody tr', { hasText: has }).innerText());

test('the section on memory says whose bytes the regions are, and what heaps keep', async () => {
  const { page, faults, context } = await open(pooled);
  const section = page.locator('section#memory');
  await section.scrollIntoViewIfNeeded();
  const text = words(await section.innerText());
  assert.match(text, /Whose bytes: 577 MiB of device 0 when its allocators had handed out most, 1\.90 ms/);
  assert.match(text, /2 regions, 8\.06 MiB, never ended/);
  const whose = section.getByRole('table', { name: 'Whose bytes: regions' });
  assert.match(await rowOf(whose, 'not handed out, in 1 heap'), /56\.0 MiB 9\.71 %/);
  assert.match(await rowOf(whose, 'place not recorded'), /in use: regions .*64\.0 KiB 0\.01 % 1/);
  assert.equal(await whose.locator('tbody tr', { hasText: 'outside of heaps and regions' }).count(), 1);
  const heaps = section.getByRole('table', { name: 'Heaps' });
  assert.match(await rowOf(heaps, 'pool'), /^pool allocator 1 64\.0 MiB 8\.00 MiB 87\.5 % 8\.06 MiB 1\.80 ms$/);
  assert.deepEqual(faults, []);
  await context.close();
});

for (const [name, options] of [['light, 1440 wide', { width: 1440 }], ['dark, 390 wide', { dark: true, width: 390 }]])
  test(`has no fault by axe-core, and fits (${name})`, async () => {
    const { page, faults, context } = await open(pooled, { ...options, hash: '#memory' });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      globalThis.axe.run('#memory', { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
    assert.deepEqual(violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html}`), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    assert.deepEqual(faults, []);
    await context.close();
  });

test('is in no page of a program whose allocators say nothing', async () => {
  const { page, faults, context } = await open(none);
  assert.doesNotMatch(await page.locator('section#memory').innerText(), /Whose bytes|Heaps/);
  assert.deepEqual(faults, []);
  await context.close();
});
