// SPDX-License-Identifier: Apache-2.0
// Loads modules of src/ into tests; and small reports: what a test does not name is as in an empty run.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** path: below src/, as in load('sections/verdict/summary.ts'). */
export async function load(path) {
  const entry = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundled = await build({ entryPoints: [entry], bundle: true, write: false, format: 'esm' });
  return import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString('base64')}`);
}

export function makeFinding(changes = {}) {
  return {
    rule: 'GM102',
    slug: 'pageable-transfer',
    title: 'Copies of pageable host memory',
    severity: 'high',
    fingerprint: '0123456789abcdef',
    headline: '32 copies',
    evidence: {},
    sql: null,
    cost_ns: 2e6,
    excess_bytes: null,
    method: '',
    confidence: 'calibrated',
    effort: 'small',
    fix: '',
    sketch: null,
    ...changes,
    where: {
      label: 'main.cu:1',
      function: null,
      file: null,
      line: null,
      module: null,
      api: null,
      kernel: null,
      stack: [],
      ...changes.where,
    },
    saving: { low_ns: 1e6, best_ns: 1e6, high_ns: 1e6, share_of_wall: 0.1, ...changes.saving },
  };
}

export function makeReport(changes = {}) {
  return {
    trace: 'trace.db',
    findings: [],
    notes: [],
    transfers: [],
    kernels: [],
    races: [],
    rules: [],
    could_not_check: [],
    ...changes,
    process: { command: 'app', exe: 'app', hostname: 'h', end_reason: 'exit', ...changes.process },
    device: {
      name: 'GPU',
      uuid: null,
      compute_capability: null,
      driver_version: null,
      software: false,
      ...changes.device,
    },
    verdict: {
      wall_ns: 1e9,
      gpu_busy_ns: 0.25e9,
      copy_ns: null,
      kernel_ns: null,
      peak_device_bytes: null,
      allocations: null,
      transfers: 0,
      launches: 0,
      measured_launches: 0,
      kernel_classes: 0,
      measured_classes: 0,
      combined_saving: { low_ns: null, best_ns: null, high_ns: null, share_of_wall: null },
      ...changes.verdict,
    },
    device_model: {
      provenance: 'calibrated',
      match: 'this board',
      origin: null,
      device: 'GPU',
      created: null,
      noisy: false,
      ...changes.device_model,
    },
  };
}
