// SPDX-License-Identifier: Apache-2.0
// A report with heaps and regions of an allocator, in a real browser.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, makePage, makeTrace, open } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MANY = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
  INSERT INTO string SELECT 91000 + i, 'heap ' || i FROM n;
  INSERT INTO heap (id, usage, address, bytes, name_id, begin_ns) SELECT 10 * id, 'sub_allocator', (1 << 44) + (id << 20), 4096, id, 1350000
  FROM string WHERE id >= 91000;
  INSERT INTO region (id, heap_id, made_id, address, bytes, begin_ns) SELECT id + 1, id, id + 1, address, bytes, 1600000 FROM heap WHERE id >= 91000;
  INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns, end_ns)
  VALUES (91000, 'device', 1 << 44, 1 << 40, 1, 1, 4, 1, 1000000, 1300000);`;
let pooled, none, many;
before(() => {
  const folder = mkdtempSync(join(tmpdir(), 'gmtrace-heaps-'));
  writeFileSync(join(folder, 'many.sql'), MANY);
  many = makePage(makeTrace('many', join(folder, 'many.sql')));
  rmSync(folder, { recursive: true });
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
  assert.match(await rowOf(heaps, 'pool'), /^pool allocator 1 64\.0 MiB 8\.00 MiB 87\.5 % 8\.00 MiB 1\.70 ms$/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('of many names, all the others are in sight, too', async () => {
  const { page, faults, context } = await open(many, { hash: '#memory' });
  const heaps = page.locator('section#memory').getByRole('table', { name: 'Heaps' });
  assert.equal(await heaps.locator('tbody tr').count(), 21);
  assert.match(await rowOf(heaps, 'other names'), /^980 other names 980 3\.83 MiB 3\.83 MiB 0\.00 % – –$/);
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
