// SPDX-License-Identifier: Apache-2.0
// Imports a module of the front end into a test; and a small trace as a payload.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { pack } from './pack.mjs';

export async function load(path) {
  const source = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundled = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'esm',
    loader: { '.def': 'text' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString('base64')}`);
}

const { decodePayload } = await load('payload.ts');

export const NAMES = {
  api: ['cudaMemcpy', 'cudaLaunchKernel'],
  kind: ['transfer', 'memset', 'launch', 'sync', 'allocate', 'free', 'other', 'node'],
  direction: ['h2d', 'd2h', 'd2d', 'h2h', 'peer', 'unknown'],
  host_class: ['unknown', 'pageable', 'pinned', 'managed', 'device', 'array'],
  allocation: ['device', 'pitched', 'managed', 'async', 'pool', 'pinned', 'registered'],
};

const ENCODINGS = {
  kind: 'u8',
  direction: 'u8',
  host_class: 'u8',
  blocking: 'u8',
  runtime: 'u8',
  begin: 'delta',
  function: 'string',
  file: 'string',
  module: 'string',
  kernel_name: 'string',
  access: 'string',
  opcodes: 'string',
  inlined: 'string',
  classes: 'string',
};

/** rows: { table: [{ column: value }] }; values of columns that a row lacks are not known. */
export function payloadOf(rows, head = {}) {
  const tables = {};
  for (const [table, list] of Object.entries(rows)) {
    const names = new Set(list.flatMap((row) => Object.keys(row)));
    tables[table] = Object.fromEntries(
      [...names].map((name) => [name, [ENCODINGS[name] ?? 'varint', list.map((row) => row[name] ?? null)]]),
    );
  }
  const report = { device: { software: false }, findings: [], notes: [], kernels: [], transfers: [], verdict: {} };
  const whole = {
    format: 'gmtrace-page',
    names: NAMES,
    model: null,
    devices: [],
    threads: [],
    streams: [],
    report,
    ...head,
  };
  return decodePayload(new Uint8Array(pack(whole, tables)));
}

/** Frames: 0 libc's start, 1 main, 2 load, 3 inside the runtime, 4 libc below the runtime. Stack 7: load; 9: main. */
export const STACKS = {
  frame: [
    { function: '__libc_start_main', file: null, module: '/lib/libc.so.6', offset: 16, runtime: 0 },
    { function: 'main', file: '/src/main.cu', line: 10, module: '/app', offset: 1, runtime: 0 },
    { function: 'load', file: '/src/load.cu', line: 20, module: '/app', offset: 2, runtime: 0 },
    { function: 'cudaMemcpy', file: null, module: '/app', offset: 3, runtime: 1 },
    { function: null, file: null, module: '/lib/libc.so.6', offset: 255, runtime: 0 },
  ],
  stack_frame: [
    ...[4, 3, 2, 1, 0].map((frame) => ({ stack: 7, frame })),
    ...[3, 1, 0].map((frame) => ({ stack: 9, frame })),
  ],
};
