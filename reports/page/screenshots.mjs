// SPDX-License-Identifier: Apache-2.0
// Makes the pictures of docs/images from the recording of tests/data:
//
//     npm ci && npm run build        (and gmanalyze built after it)
//     GMT_BUILD=../../build/release node screenshots.mjs
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { close, makePage, open, root } from './test/browser/open.mjs';

const LIMIT_BYTES = 250 * 1024;
const folder = join(root, 'docs/images');
const settle = (page) => page.waitForTimeout(600); // plots and the timeline draw after the page is there

async function openFirst(page) {
  await page.locator('#findings [data-finding] h3 button').first().click();
  await page.locator('#findings').scrollIntoViewIfNeeded();
  return page.locator('#findings [data-finding]').first();
}

const section = (id) => async (page) => page.locator(`section#${id}`);

// Some time into the run: calls, what the device did for them, and lines between.
const ZOOMED = '#timeline&t.from=1281000000&t.to=1312000000';

/** Name, how it is opened, and what is shown: a locator, or the window as it is. */
const PICTURES = [
  ['overview', {}, null],
  ['finding', {}, openFirst],
  ['timeline-dark', { dark: true, hash: ZOOMED, height: 1400 }, section('timeline')],
  ['memory', { height: 1400 }, section('memory')],
  ['transfers', { height: 1400 }, section('transfers')],
  ['kernels', { height: 1400 }, section('kernels')],
  ['narrow', { width: 390, height: 844 }, null],
];

mkdirSync(folder, { recursive: true });
const report = makePage('pipeline_slow.db.gz');
let tooLarge = false;
for (const [name, options, of] of PICTURES) {
  const { page, faults, context } = await open(report, options);
  // What stays in sight while scrolling would lie over a section.
  if (of) await page.evaluate(() => void (document.querySelector('.contents').style.position = 'static'));
  await settle(page);
  const path = join(folder, `${name}.png`);
  const shown = (await of?.(page)) ?? page;
  await settle(page);
  if (shown === page) await page.screenshot({ path });
  else {
    // With the room around it, so that no text touches the picture's edge.
    const box = await shown.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { x: left + scrollX - 14, y: top + scrollY - 10, width: width + 28, height: height + 24 };
    });
    await page.screenshot({ path, clip: box, fullPage: true });
  }
  const { size } = statSync(path);
  tooLarge ||= size > LIMIT_BYTES;
  console.log(`${name}.png: ${(size / 1024).toFixed(0)} KiB`);
  for (const fault of faults) console.error(`${name}: ${fault}`);
  await context.close();
}
await close();
if (tooLarge) {
  console.error(`a picture is larger than ${LIMIT_BYTES / 1024} KiB`);
  process.exit(1);
}
