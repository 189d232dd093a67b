// SPDX-License-Identifier: Apache-2.0
// Measures a report in headless Chromium: size, time to open, frame times while the timeline is panned
// and zoomed by real input, and the memory of its scripts.
//
//     python3 tests/bench/make_trace.py --calls 1000000 large.db
//     gmanalyze --calibrate never large.db -o large.html >/dev/null
//     node tests/bench/page/measure.mjs large.html [RUNS]
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '../../..');
const { chromium } = createRequire(join(root, 'reports/page/package.json'))('playwright-core');

const [file, runs = '3'] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node tests/bench/page/measure.mjs REPORT.html [RUNS]');
  process.exit(2);
}
const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = CANDIDATES.find((candidate) => candidate && existsSync(candidate));
const GESTURE_MS = 4000;

// Runs in the page before its own scripts: the moments that count, in seconds from the navigation.
function watch() {
  const seen = (globalThis.measured = {});
  const note = (name) => (seen[name] ??= performance.now() / 1000);
  new MutationObserver(() => {
    if (seen.findings === undefined && document.querySelector('#findings h2 + *')) {
      requestAnimationFrame(() => requestAnimationFrame(() => note('findings')));
    }
    if (document.documentElement?.dataset.ready) note('ready');
    // Painted: the frame after the one in which the lanes were drawn has begun.
    if (seen.lanes === undefined && document.querySelector('.t-canvas canvas')) {
      note('lanes');
      requestAnimationFrame(() => requestAnimationFrame(() => note('painted')));
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-ready'] });
  globalThis.countFrames = () => {
    const frames = [];
    let last;
    let on = true;
    const next = (now) => {
      if (last !== undefined) frames.push(now - last);
      last = now;
      if (on) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    return () => {
      on = false;
      return frames;
    };
  };
}

/** Frame times in ms while `act` is done over and over. */
async function framesDuring(page, act) {
  await page.evaluate(() => void (globalThis.stop = globalThis.countFrames()));
  const end = Date.now() + GESTURE_MS;
  for (let i = 0; Date.now() < end; i++) await act(i);
  return page.evaluate(() => globalThis.stop());
}

async function gestures(page) {
  const canvas = page.getByRole('application', { name: /Timeline/ });
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await canvas.boundingBox();
  const [left, right, middle] = [x + 0.35 * width, x + 0.85 * width, y + height / 2];
  const back = async () => {
    await canvas.focus();
    await page.keyboard.press('0');
  };
  const drag = async () => {
    await page.mouse.move(left, middle);
    await page.mouse.down();
    let at = 0;
    const frames = await framesDuring(page, async (i) => {
      at = (1 - Math.cos(i / 25)) / 2;
      await page.mouse.move(left + at * (right - left), middle);
    });
    await page.mouse.up();
    return frames;
  };
  const wheel = async () => {
    await page.mouse.move((left + right) / 2, middle);
    // In and out again, about a factor of thousand.
    return framesDuring(page, (i) => page.mouse.wheel(0, i % 80 < 40 ? -120 : 120));
  };
  const found = {};
  await back();
  found['zoom by wheel, from all'] = await wheel();
  await back();
  for (let i = 0; i < 2; i++) await page.keyboard.press('w');
  found['pan by drag, 2/5 of the trace in sight'] = await drag();
  for (let i = 0; i < 8; i++) await page.keyboard.press('w');
  found['pan by drag, 1/100 of the trace in sight'] = await drag();
  await back();
  for (let i = 0; i < 2; i++) await page.keyboard.press('w');
  await page.keyboard.down('d');
  found['pan by held keys'] = await framesDuring(page, async (i) => {
    await page.keyboard.down(i % 60 < 30 ? 'd' : 'a');
  });
  return found;
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const at = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(share * values.length))];
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);

const opened = [];
const frames = {};
let heap = 0;
let version = '';
for (let run = 0; run < Number(runs); run++) {
  // A browser of its own each time: nothing of the last page is left.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'] });
  version = browser.version();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForFunction(() => globalThis.measured.painted && globalThis.measured.ready, undefined, { timeout: 120000 });
  opened.push(await page.evaluate(() => globalThis.measured));
  for (const [name, values] of Object.entries(await gestures(page))) (frames[name] ??= []).push(...values);
  heap = Math.max(heap, await page.evaluate(() => performance.memory.usedJSHeapSize));
  await browser.close();
}

const seconds = (key) => {
  const values = sorted(opened.map((run) => run[key]));
  return `${at(values, 0.5).toFixed(2)} s (${values[0].toFixed(2)} to ${values.at(-1).toFixed(2)})`;
};
console.log(`${cpus().length} cores (${cpus()[0].model.trim()}), no GPU, headless Chromium ${version}, ${runs} runs\n`);
row('what', 'result');
row('---', '---');
row('size', `${(statSync(file).size / 1e6).toFixed(2)} MB`);
row('to verdict and findings', seconds('findings'));
row('to the first paint of the timeline', seconds('painted'));
row('to the last section', seconds('ready'));
for (const [name, values] of Object.entries(frames)) {
  const [half, most] = [at(values, 0.5), at(values, 0.95)];
  row(name, `frame ${half.toFixed(1)} ms (p50), ${most.toFixed(1)} ms (p95): ${(1000 / most).toFixed(0)} frames/s at p95, ${values.length} frames`);
}
row('JavaScript heap', `${(heap / 1e6).toFixed(0)} MB`);
