// SPDX-License-Identifier: Apache-2.0
// Reports of traces that no recorder of ours would write (tests/rules/hostile), in a real browser: names
// that would be markup stay text, and no section gives up.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { close, makePage, makeTrace, open, openAll, root, SECTIONS } from './open.mjs';

after(close);

// What would only be there if a name of the trace had become markup. The page itself has three scripts, and the one
// that they unpack.
const FOREIGN = 'img, iframe, object, embed, form, base, link, style:not(head > style), meta:not(head > meta), b > b, [onerror]';

async function look(page) {
  return page.evaluate((foreign) => ({
    scripts: document.scripts.length,
    foreign: [...document.querySelectorAll(foreign)].map((element) => element.outerHTML.slice(0, 120)),
    hit: globalThis.hit,
    over: document.documentElement.scrollWidth - innerWidth,
  }), FOREIGN);
}

async function sections(page, name) {
  const ranges = (await page.locator('section#ranges').count()) > 0 ? ['ranges'] : [];
  assert.equal(ranges.length > 0, name === 'names', `${name}: ranges`);
  for (const id of [...SECTIONS, ...ranges]) {
    const section = page.locator(`section#${id}`);
    await section.scrollIntoViewIfNeeded();
    const text = (await section.innerText()).replace(/\s+/g, ' ');
    assert.equal(await section.getByRole('alert').count(), 0, `${name}: ${id} failed: ${text.slice(0, 300)}`);
    assert.ok(text.length > 30, `${name}: ${id}: "${text}"`);
    assert.doesNotMatch(text, /\bNaN\b|\bundefined\b|\[object /, `${name}: ${id}`);
  }
}

for (const file of readdirSync(join(root, 'tests/rules/hostile')).filter((name) => name.endsWith('.sql'))) {
  const name = file.replace('.sql', '');
  describe(name, () => {
    let report;
    before(() => {
      report = makePage(makeTrace(name, `hostile/${file}`));
    });
    for (const width of [1280, 390])
      test(`is shown whole, ${width} wide, and nothing of it is run`, async () => {
        const { page, faults, context } = await open(report, { width, hash: '#kernels&k.open=0&t.event=0&t.table=yes' });
        page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
        await sections(page, name);
        await openAll(page);
        for (const button of await page.getByRole('button', { name: 'Open every range' }).all()) await button.click();
        await sections(page, name);
        // Each that is pressed has another name then.
        const pictures = page.getByRole('button', { name: 'Show data' });
        for (let left = await pictures.count(); left > 0; left--) await pictures.first().click();
        await page.evaluate(() => {
          for (const input of document.querySelectorAll('input[type="search"]')) {
            input.value = '<script>';
            input.dispatchEvent(new Event('input', { bubbles: true }));
          }
        });
        await sections(page, name);
        const { scripts, foreign, hit, over } = await look(page);
        assert.equal(scripts, 4);
        assert.deepEqual(foreign, []);
        assert.equal(hit, undefined);
        assert.ok(over <= 0, `${over} pixels too wide`);
        assert.deepEqual(faults, []);
        await context.close();
      });
  });
}
