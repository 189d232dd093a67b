// SPDX-License-Identifier: Apache-2.0
// Bundles the page into built/page.html, which is committed: a C build needs no node.
// `node build.mjs --check` writes nothing and fails where the committed page is not current.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const LIMIT_BYTES = 200 * 1024;
const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, 'built', 'page.html');

const bundle = async () => {
  const result = await build({
    absWorkingDir: here,
    entryPoints: ['src/main.tsx'],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'built',
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.def': 'text' },
    legalComments: 'none', // the licences of what is bundled stand in the page's last section
    logLevel: 'warning',
  });
  const of = (extension) => result.outputFiles.find((file) => file.path.endsWith(extension)).text;
  return { script: of('.js').trimEnd(), style: of('.css').trimEnd() };
};

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

// The program is packed, which halves the page. This is what unpacks and starts it; the policy names
// the hashes of both, so that nothing else can be started.
const STARTER = `(async()=>{const root=document.getElementById('page');try{const packed=atob(document.getElementById('program').textContent.trim());
const stream=new Blob([Uint8Array.from(packed,c=>c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'));
const script=document.createElement('script');script.textContent=await new Response(stream).text();document.body.append(script)}
catch(error){root.textContent='This report cannot be shown: '+(typeof DecompressionStream==='undefined'?'this browser is too old to unpack it (no DecompressionStream)':error.message);root.setAttribute('role','alert')}})()`;
const PROGRAM = '<script id="program" type="application/octet-stream">';

// gmanalyze replaces the two markers; everything else of the page is fixed, and so are its hashes.
const page = ({ script, style }) => `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(STARTER)} ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title><!--gmtrace:title--></title>
<style>${style}</style></head>
<body><div id="page"><p id="loading">Unpacking the report …</p></div>
<noscript><p>This report needs scripts. They are inside this file, and the page asks nothing of any network.
"gmanalyze trace.db" prints the same findings as text.</p></noscript>
<script id="payload" type="application/octet-stream"><!--gmtrace:payload--></script>
${PROGRAM}${gzipSync(script, { level: 9 }).toString('base64')}</script>
<script>${STARTER}</script></body></html>
`;

// Another zlib may pack other bytes of the same program: what is packed is compared.
const unpacked = (text) => {
  const begin = text.indexOf(PROGRAM) + PROGRAM.length;
  const end = text.indexOf('</script>', begin);
  return text.slice(0, begin) + gunzipSync(Buffer.from(text.slice(begin, end), 'base64')).toString() + text.slice(end);
};

const text = page(await bundle());
const size = Buffer.byteLength(text);
if (size > LIMIT_BYTES) {
  console.error(`page: ${size} bytes are more than ${LIMIT_BYTES}`);
  process.exit(1);
}
if (process.argv.includes('--check')) {
  let committed = '';
  try {
    committed = unpacked(readFileSync(target, 'utf8'));
  } catch {
    /* absent or no page of ours: not current */
  }
  if (committed !== unpacked(text)) {
    console.error('page: reports/page/built/page.html is not current: npm run build in reports/page');
    process.exit(1);
  }
  console.log(`page: current, ${size} bytes`);
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  console.log(`page: wrote built/page.html, ${size} bytes`);
}
