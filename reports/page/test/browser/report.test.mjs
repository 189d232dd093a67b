// SPDX-License-Identifier: Apache-2.0
// The report of a program that was recorded on an H200, in a real browser: every section, what a reader
// does with it, and what a page must never do.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { close, makeDiff, makePage, makeTrace, open, openAll, SECTIONS } from './open.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVERYTHING = '#timeline&t.event=100&t.range=100000000,700000000&t.table=yes&k.open=1&c.inverted=1&c.search=frame';
const hashOf = (page) => page.evaluate(() => location.hash);

let slow, fast, simulated, counted;
before(() => {
  slow = makePage('pipeline_slow.db.gz');
  fast = makePage('pipeline_fast.db.gz');
  counted = makePage('deep/reference_h200.db.gz');
  simulated = makePage(makeTrace('simulated', 'simulated.sql'));
});
after(close);

describe('every section', () => {
  for (const theme of ['light', 'dark'])
    test(`is there and not empty, ${theme}`, async () => {
      const { page, faults, context } = await open(slow, { dark: theme === 'dark' });
      for (const id of SECTIONS) {
        const section = page.locator(`section#${id}`);
        await section.scrollIntoViewIfNeeded();
        const text = (await section.innerText()).replace(/\s+/g, ' ');
        assert.ok(text.length > 60, `${id}: "${text}"`);
        assert.equal(await section.getByRole('alert').count(), 0, `${id} failed: ${text}`);
        const { width } = await section.boundingBox();
        assert.ok(width > 600, `${id} is ${width} wide`);
      }
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      assert.deepEqual(faults, []);
      await context.close();
    });

  test('says of the repaired program that nothing was found', async () => {
    const { page, faults, context } = await open(fast);
    assert.equal(await page.locator('[data-finding]:not(details *)').count(), 0);
    assert.match(await page.locator('#verdict').innerText(), /no findings?|nothing/i);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('states no time of a run on the software device', async () => {
    const { page, faults, context } = await open(simulated);
    assert.match(await page.locator('header').first().innerText(), /software device: .* modelled for NVIDIA H200/);
    for (const id of ['verdict', 'kernels', 'transfers', 'findings']) {
      const text = await page.locator(`section#${id}`).innerText();
      assert.ok(!/\d (ns|µs|ms|s)\b/.test(text) || /modelled/i.test(text), id);
      assert.doesNotMatch(text, /% of the run/, id);
    }
    const transfers = await page.locator('#transfers').innerText();
    assert.match(transfers, /no times are measured; those below are modelled by size/);
    assert.doesNotMatch(transfers, /no bandwidths/);
    const [sites, sizes] = await page.locator('#transfers thead').allInnerTexts();
    assert.doesNotMatch(sites, /Time|Bandwidth/);
    assert.match(sizes, /Time, modelled\s+Bandwidth, modelled/);
    await openAll(page);
    assert.ok((await page.locator('#findings .filters').count()) > 0);
    assert.doesNotMatch(await page.locator('#findings .filters').innerText(), /ms of the run/);
    assert.deepEqual(faults, []);
    await context.close();
  });
});

describe('a reader', () => {
  test('opens a finding by its link, and sees fix, evidence and stack', async () => {
    const { page, context } = await open(slow);
    const fingerprint = await page.locator('[data-finding]').first().getAttribute('data-finding');
    await context.close();
    const again = await open(slow, { hash: `#findings&f=${fingerprint}` });
    const card = again.page.locator(`[data-finding="${fingerprint}"]`);
    await openAll(again.page);
    await again.page.waitForFunction((id) => {
      const { top, bottom } = document.querySelector(`[data-finding="${id}"]`).getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    }, fingerprint);
    const text = await card.innerText();
    for (const word of ['cudaHostRegister', 'pipeline_slow.cu', 'SELECT', 'calibrated'])
      assert.ok(text.toLowerCase().includes(word.toLowerCase()), `${word} in ${text}`);
    assert.deepEqual(again.faults, []);
    await again.context.close();
  });

  test('filters findings by category, and the link keeps it', async () => {
    const { page, faults, context } = await open(slow);
    const all = await page.locator('#findings [data-finding]').count();
    const category = page.getByLabel('Category');
    const value = await category.locator('option', { hasText: /transfer/i }).first().getAttribute('value');
    await category.selectOption(value);
    const few = await page.locator('#findings [data-finding]').count();
    assert.ok(few > 0 && few < all, `${few} of ${all}`);
    const hash = await hashOf(page);
    await context.close();
    const again = await open(slow, { hash });
    assert.equal(await again.page.locator('#findings [data-finding]').count(), few);
    assert.deepEqual([...faults, ...again.faults], []);
    await again.context.close();
  });

  test('sorts kernels by a column, upwards and downwards, filters them, and copies them', async () => {
    const { page, faults, context } = await open(slow);
    const table = page.locator('#kernels table').first();
    const header = table.getByRole('columnheader', { name: /Loads/ });
    const column = await header.evaluate((cell) => cell.cellIndex);
    const values = async () =>
      (await table.locator(`tbody tr td:nth-child(${column + 1})`).allInnerTexts()).map(parseFloat).filter(Number.isFinite);
    for (const direction of ['descending', 'ascending']) {
      await header.getByRole('button').click();
      assert.equal(await header.getAttribute('aria-sort'), direction);
      const seen = await values();
      assert.ok(seen.length >= 5);
      assert.deepEqual(seen, [...seen].sort((a, b) => (direction === 'ascending' ? a - b : b - a)));
    }
    await page.locator('#kernels').getByRole('searchbox').first().fill('transpose');
    assert.equal(await table.locator('tbody tr').count(), 1);
    await page.locator('#kernels').getByRole('button', { name: /CSV/ }).first().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied.trim().split('\r\n').length, 2);
    assert.match(copied, /transpose_unpadded/);
    assert.deepEqual(faults, []);
    await context.close();
  });

  for (const width of [1920, 1440, 390])
    test(`reads source lines and fixes whole, ${width} wide`, async () => {
      const { page, faults, context } = await open(counted, { width });
      await openAll(page);
      const lines = await page.locator('#findings td code.source-line').evaluateAll((all) =>
        all.map((code) => ({ text: code.textContent, high: code.getBoundingClientRect().height / parseFloat(getComputedStyle(code).lineHeight) })),
      );
      assert.ok(lines.length > 3, `${lines.length} lines`);
      // 34 rem hold some 65 letters, 20 rem 38.
      for (const { text, high } of lines)
        assert.ok(high < 1.6 + text.length / (width > 700 ? 50 : 30), `${high} rows for "${text}"`);
      const covered = await page.locator('#findings .code').evaluateAll(
        (all) =>
          all.filter((code) => {
            const [text, button] = ['pre', '.copy'].map((what) => code.querySelector(what).getBoundingClientRect());
            return text.right > button.left && text.left < button.right && text.bottom > button.top && text.top < button.bottom;
          }).length,
      );
      assert.equal(covered, 0, 'a button to copy lies over what it copies');
      assert.deepEqual(faults, []);
      await context.close();
    });

  test('sees first what to do, where and what it brings, and where the time went', async () => {
    const { page, faults, context } = await open(slow, { width: 1440, height: 900 });
    const first = page.locator('#verdict .first li');
    assert.equal(await first.count(), 3);
    const text = await first.first().innerText();
    for (const word of ['cudaMallocHost', 'pipeline_slow.cu:176', '1-2 lines', '→', '×', 'saves'])
      assert.ok(text.includes(word), `${word} in ${text}`);
    for (const row of ['#verdict .first li:last-child', '#verdict .time-bar > svg']) {
      const { y, height } = await page.locator(row).boundingBox();
      assert.ok(y + height < 900, `${row} is not on the first screen`);
    }
    const widths = await page.locator('#verdict .time-bar > svg rect').evaluateAll((all) => all.map((rect) => rect.width.baseVal.value));
    const sum = widths.reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1000) < 5, `parts of ${sum} in 1000`);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('selects a time, and every section shows what lies in it', async () => {
    const { page, faults, context } = await open(slow);
    const counts = async () => {
      const rows = {};
      for (const id of ['findings [data-finding]', 'api tbody tr', 'transfers tbody tr', 'kernels tbody tr', 'idle tbody tr'])
        rows[id] = (await page.locator(`#${id}`).allInnerTexts()).join('\n');
      rows.memory = await page.locator('#memory p').first().innerText();
      rows.calls = await page.locator('#calls').innerText();
      return rows;
    };
    const whole = await counts();
    await context.close();
    const again = await open(slow, { hash: '#timeline&t.range=1000000000,1200000000' });
    const chip = again.page.getByRole('button', { name: /Only between 1\.00 s and 1\.20 s/ });
    assert.equal(await chip.count(), 1);
    const part = await (async () => {
      const rows = {};
      for (const id of Object.keys(whole))
        rows[id] =
          id === 'memory'
            ? await again.page.locator('#memory p').first().innerText()
            : id === 'calls'
              ? await again.page.locator('#calls').innerText()
              : (await again.page.locator(`#${id}`).allInnerTexts()).join('\n');
      return rows;
    })();
    for (const id of Object.keys(whole)) assert.notEqual(part[id], whole[id], `${id} is not filtered`);
    await chip.click();
    assert.equal(await chip.count(), 0);
    assert.doesNotMatch(await hashOf(again.page), /t\.range/);
    assert.deepEqual([...faults, ...again.faults], []);
    await again.context.close();
  });

  test('leaves a search box with Escape, and the next key is the page\'s', async () => {
    const { page, faults, context } = await open(slow);
    const search = page.locator('#findings-text');
    await search.fill('copy');
    await page.keyboard.press('Escape');
    assert.equal(await search.inputValue(), 'copy');
    await page.keyboard.press('?');
    assert.ok(await page.locator('dialog[open]').isVisible());
    assert.equal(await search.inputValue(), 'copy');
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('reads the source of a finding, and gets into an editor where that was asked for', async () => {
    const linked = makePage('deep/reference_h200.db.gz', '--editor-url', 'vscode://file{file}:{line}');
    const { page, faults, context } = await open(linked);
    await openAll(page);
    const quote = page.locator('#findings [data-finding] .quote').first();
    assert.match(await quote.locator('.quote-line.meant').innerText(), /▸ +\S/);
    assert.match(await quote.locator('figcaption a').getAttribute('href'), /^vscode:\/\/file\/.*\.cu?:\d+$/);
    assert.deepEqual(faults, []);
    await context.close();
    makePage('deep/reference_h200.db.gz'); // the others have no links
    const plain = await open(counted);
    await openAll(plain.page);
    assert.equal(await plain.page.locator('a[href]:not([href^="#"])').count(), 0);
    await plain.context.close();
  });

  test("opens a kernel's own page by link", async () => {
    const { page, faults, context } = await open(slow, { hash: '#kernels&k.open=0' });
    const text = await page.locator('#kernels').innerText();
    assert.match(text, /median_by_insertion/);
    assert.match(text, /local_load_requests|local load/i);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('zooms and moves the timeline by keys and wheel, and the link keeps the view', async () => {
    const { page, faults, context } = await open(slow);
    const canvas = page.getByRole('application', { name: /Timeline/ });
    await canvas.scrollIntoViewIfNeeded();
    const range = async () => {
      await page.waitForTimeout(400);
      const read = (key) => page.evaluate((k) => Number(new URLSearchParams(location.hash.replace(/^#(\w+(?=&|$))?&?/, '')).get(k)), key);
      return (await read('t.to')) - (await read('t.from'));
    };
    await canvas.focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('w');
    const near = await range();
    assert.ok(near > 0, 'the view is in the address');
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -240);
    const nearer = await range();
    assert.ok(nearer < near, `${nearer} < ${near}`);
    const hash = await hashOf(page);
    await page.keyboard.press('0');
    await context.close();
    const again = await open(slow, { hash });
    await again.page.waitForTimeout(400);
    const kept = /t\.from=([^&]*)/.exec(await hashOf(again.page))?.[1];
    assert.equal(kept, /t\.from=([^&]*)/.exec(hash)[1]);
    assert.deepEqual([...faults, ...again.faults], []);
    await again.context.close();
  });

  test('finds calls on the timeline by name', async () => {
    const { page, faults, context } = await open(slow);
    await page.locator('#timeline').getByRole('searchbox').fill('transpose');
    await page.waitForFunction(() => /\b64\b/.test(document.querySelector('#timeline').innerText));
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('chooses the dark theme, and it stays', async () => {
    const { page, faults, context } = await open(slow);
    await page.getByLabel('Theme').selectOption('dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.reload();
    await page.waitForSelector('html[data-ready]', { state: 'attached' });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('walks through the whole page with the Tab key alone, seeing where he is', async () => {
    const { page, faults, context } = await open(fast);
    const seen = new Set();
    let last = '';
    for (let i = 0; i < 400; i++) {
      await page.keyboard.press('Tab');
      const now = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === document.body) return null;
        const { outlineStyle, boxShadow } = getComputedStyle(element);
        element.dataset.walked ??= String(Math.random());
        return { id: element.dataset.walked, tag: element.tagName, section: element.closest('section')?.id ?? 'head',
          visible: outlineStyle !== 'none' || boxShadow !== 'none', html: element.outerHTML.slice(0, 120) };
      });
      if (now === null) break;
      assert.notEqual(now.id, last, `a trap: ${now.html}`);
      assert.ok(now.visible, `no sign of the focus: ${now.html}`);
      last = now.id;
      seen.add(now.section);
    }
    for (const id of ['head', 'timeline', 'idle', 'memory', 'transfers', 'kernels', 'api', 'calls', 'checks', 'about'])
      assert.ok(seen.has(id), `${id} was not reached: ${[...seen]}`);
    assert.deepEqual(faults, []);
    await context.close();
  });
});

describe('a comparison of two traces', () => {
  for (const [name, options] of [['light, 1440 wide', { width: 1440 }], ['dark, 390 wide', { dark: true, width: 390 }]])
    test(`begins with what was predicted and what came, and has no fault by axe-core (${name})`, async () => {
      const { page, faults, context } = await open(makeDiff('pipeline_slow.db.gz', 'pipeline_fast.db.gz'), options);
      const result = await page.locator('#result').innerText();
      assert.match(result, /1\.52 x faster: 1\.73 s -> 1\.14 s, 595 ms less \(predicted: 4[67]\d ms less\); 11 findings fixed, none left, none new\./);
      for (const id of ['findings', 'traces', 'figures', 'kernels', 'copies', 'memory'])
        assert.ok((await page.locator(`section#${id}`).innerText()).length > 60, id);
      // A change that nobody would act on is not red.
      const peak = page.locator('#figures tr', { hasText: 'peak device memory' }).locator('.verdict');
      assert.equal(await peak.getAttribute('class'), 'verdict');
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
      assert.deepEqual(violations.map(({ id, help }) => `${id}: ${help}`), []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      assert.deepEqual(faults, []);
      await context.close();
    });
});

describe('whoever reads it in another way', () => {
  for (const [name, options] of [
    ['light, 1280 wide', {}],
    ['dark, 390 wide', { dark: true, width: 390, height: 844 }],
    ["a kernel's own page, light, 390 wide", { width: 390, height: 844, hash: '#kernels&k.open=0' }],
    ['an event, a range and the tables, dark, 1280 wide', { dark: true, hash: EVERYTHING }],
  ])
    test(`finds no fault by axe-core: names, contrast, roles (${name})`, async () => {
      const { page, faults, context } = await open(slow, options);
      await openAll(page);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
      const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
      assert.deepEqual(found, []);
      assert.deepEqual(faults, []);
      await context.close();
    });

  test('hears a name for every control', async () => {
    const { page, context } = await open(slow);
    await openAll(page);
    const session = await context.newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const roles = ['button', 'link', 'textbox', 'searchbox', 'combobox', 'slider', 'checkbox', 'radio', 'img', 'application', 'Canvas'];
    const controls = nodes.filter(({ ignored, role }) => !ignored && roles.includes(role?.value));
    assert.ok(controls.length > 60, `${controls.length} controls`);
    const nameless = controls.filter(({ name }) => !name?.value?.trim());
    assert.deepEqual(nameless.map(({ role, backendDOMNodeId }) => `${role.value} ${backendDOMNodeId}`), []);
    await context.close();
  });

  for (const width of [390, 1280])
    test(`need not scroll sideways at ${width} pixels`, async () => {
      const { page, context } = await open(slow, { width, height: 844 });
      await openAll(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels too wide`);
      await context.close();
    });

  for (const width of [390, 500])
    for (const [name, of] of [['recorded', () => slow], ['simulated', () => simulated]])
      test(`reads headings and places of tables in whole words at ${width} pixels (${name})`, async () => {
        const { page, context } = await open(of(), { width, height: 844 });
        await openAll(page);
        const split = await page.evaluate(() => {
          const found = [];
          let seen = 0;
          for (const cell of document.querySelectorAll('main th, main td:first-child')) {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
              const text = texts.currentNode;
              for (const { 0: word, index } of text.data.matchAll(/(?<![\w.:])[\w.:]{2,24}(?![\w.:])/g)) {
                const range = document.createRange();
                range.setStart(text, index);
                range.setEnd(text, index + word.length);
                const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
                seen += lines.size > 0 ? 1 : 0;
                if (lines.size > 1) found.push(`${word} in "${cell.innerText.slice(0, 60)}" of ${cell.closest('section')?.id}`);
              }
            }
          }
          return { found, seen };
        });
        assert.ok(split.seen > 50, `${split.seen} words`);
        assert.deepEqual(split.found, []);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
        await context.close();
      });

  test('gets the findings on paper', async () => {
    const { page, context } = await open(slow);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('#findings [data-finding]').first().isVisible());
    assert.equal(await page.getByRole('navigation').first().isVisible(), false);
    await context.close();
  });
});
