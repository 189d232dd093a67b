// SPDX-License-Identifier: Apache-2.0
// Opens reports in headless Chromium, and keeps account of whatever a page must not do: complain on the
// console, fail, break its own policy, or ask for anything over a network.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const SECTIONS = ['verdict', 'findings', 'timeline', 'idle', 'memory', 'transfers', 'kernels', 'api', 'calls', 'checks', 'about'];
export const root = resolve(import.meta.dirname, '../../../..');

/** A folder that is gone when the tests end. */
export const folder = mkdtempSync(join(tmpdir(), 'gmtrace-page-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A small trace made of SQL, as the tests of the rules make theirs; files are named from tests/rules, or whole. */
export function makeTrace(name, ...files) {
  const header = ['store/db/database.h', 'record/spool_names.h'].map((file) => readFileSync(join(root, 'libtrace', file), 'utf8')).join();
  const constant = (of) => Number(new RegExp(`define ${of} (\\w+)`).exec(header)[1]);
  const trace = join(folder, `${name}.db`);
  const sql = [
    `PRAGMA application_id = ${constant('GMT_TRACE_APPLICATION_ID')};`,
    `PRAGMA user_version = ${constant('GMT_TRACE_USER_VERSION')};`,
    readFileSync(join(root, 'libtrace/store/db/schema.sql'), 'utf8'),
    ...['common.sql', 'golden/trace.sql', ...files].map((file) => readFileSync(resolve(root, 'tests/rules', file), 'utf8')),
  ];
  execFileSync('sqlite3', [trace], { input: sql.join('\n'), stdio: ['pipe', 'ignore', 'inherit'] });
  return trace;
}

const nameOf = (recording) => recording.replace(/.*\//, '').replace(/\.db(\.gz)?$/, '');

/** A recording as a trace: a .db, or a .db.gz below tests/data. */
function unpack(recording) {
  if (!recording.endsWith('.gz')) return recording;
  const trace = join(folder, `${nameOf(recording)}.db`);
  execFileSync('sh', ['-c', 'gunzip -c "$0" >"$1"', join(root, 'tests/data', recording), trace]);
  return trace;
}

function gmanalyze(...words) {
  const build = process.env.GMT_BUILD;
  assert.ok(build, 'GMT_BUILD: the folder of a build, with bin/gmanalyze');
  execFileSync(join(build, 'bin/gmanalyze'), words, { stdio: 'pipe' });
}

/** The page that gmanalyze writes of a recording. */
export function makePage(recording, ...options) {
  const page = join(folder, `${nameOf(recording)}.html`);
  gmanalyze('--calibrate', 'never', unpack(recording), '-o', page, ...options);
  return page;
}

/** The page of gmanalyze diff. */
export function makeDiff(a, b, ...options) {
  const page = join(folder, 'diff.html');
  gmanalyze('diff', '--calibrate', 'never', unpack(a), unpack(b), '-o', page, ...options);
  return page;
}

let browser;

/** opened.faults: what the page did that it must not, in words. before(page): what is to be done before it is loaded. */
export async function open(path, { width = 1280, height = 900, dark = false, hash = '', waiting = 120000, before = async () => {} } = {}) {
  if (browser === undefined) {
    const executablePath = CANDIDATES.find((candidate) => candidate && existsSync(candidate));
    assert.ok(executablePath, 'no Chromium found: scripts/setup installs it');
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 120000 });
  }
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(pathToFileURL(path).href)) faults.push(`request: ${request.url()}`);
  });
  page.setDefaultTimeout(120000);
  await before(page);
  await page.goto(pathToFileURL(path).href + hash);
  await page.waitForSelector('html[data-ready]', { state: 'attached', timeout: waiting });
  return { page, faults, context };
}

/** Opens whatever can be opened, so that what is hidden at first is looked at as well. */
export async function openAll(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  for (const button of await page.getByRole('button', { name: 'Open all' }).all()) await button.click();
}

export async function close() {
  await browser?.close();
  browser = undefined;
}
