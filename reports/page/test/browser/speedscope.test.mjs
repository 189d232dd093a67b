// SPDX-License-Identifier: Apache-2.0
// `gmanalyze export --to speedscope`, opened by speedscope itself as its command line would: it takes the file, and shows every
// profile and the stacks in it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { folder, root } from './open.mjs';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const speedscope = dirname(createRequire(import.meta.url).resolve('speedscope/package.json'));
let browser;

after(() => browser?.close());

test('speedscope opens the profile of a recording', async () => {
  const trace = join(folder, 'pipeline_slow.db');
  const profile = join(folder, 'pipeline_slow.speedscope.json');
  execFileSync('sh', ['-c', 'gunzip -c "$0" >"$1"', join(root, 'tests/data/pipeline_slow.db.gz'), trace]);
  execFileSync(join(process.env.GMT_BUILD, 'bin/gmanalyze'), ['export', '--to', 'speedscope', '-o', profile, trace], { stdio: 'pipe' });
  const titles = JSON.parse(readFileSync(profile, 'utf8')).profiles.map((each) => each.name);
  assert.deepEqual(titles, ['Device time', 'Copied bytes', 'Allocated bytes', 'Predicted saving', 'Calls']);
  // What bin/cli.mjs of the package makes, and hands to a browser.
  const script = join(folder, 'profile.js');
  const text = readFileSync(profile).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64("pipeline_slow.speedscope.json", "${text}")`);

  const executablePath = CANDIDATES.find((candidate) => candidate && existsSync(candidate));
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--allow-file-access-from-files'] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(dialog.message());
    dialog.dismiss();
  });
  await page.goto(`${pathToFileURL(join(speedscope, 'dist/release/index.html')).href}#localProfilePath=${script}`);
  // The bar at the top names the profile that is shown, "Device time (1/5)".
  for (const [index, title] of titles.entries()) {
    await page.getByText(`${title} (${index + 1}/${titles.length})`).waitFor({ timeout: 120000 });
    await page.keyboard.press('3'); // the sandwich view lists frames
    const name = title === 'Predicted saving' ? 'GM102 pageable-transfer' : title === 'Allocated bytes' ? 'cudaMalloc' : 'cudaMemcpy';
    await page.getByText(name).first().waitFor({ timeout: 120000 });
    await page.keyboard.press('n');
  }
  assert.deepEqual(faults, []);
});
