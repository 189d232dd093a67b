// SPDX-License-Identifier: Apache-2.0
// A payload of any size that looks like a training loop: threads that copy, launch, wait, allocate and free on
// streams of one or two devices, with queues as a device has them. The same seed gives the same bytes.
// As a program: node test/synthetic.mjs CALLS page.html [software]
import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { intoPage, pack } from './pack.mjs';

export const NAMES = {
  api: [
    'cuMemcpyHtoDAsync_v2',
    'cuMemcpyDtoHAsync_v2',
    'cuLaunchKernel',
    'cuStreamSynchronize',
    'cuMemAlloc_v2',
    'cuMemFree_v2',
    'cuMemsetD8Async',
    'cuFuncGetAttribute',
  ],
  kind: ['transfer', 'memset', 'launch', 'sync', 'allocate', 'free', 'other', 'node'],
  direction: ['h2d', 'd2h', 'd2d', 'h2h', 'peer', 'unknown'],
  host_class: ['unknown', 'pageable', 'pinned', 'managed', 'device', 'array'],
  allocation: ['device', 'async', 'pinned'],
};

const KERNELS = [
  'void gemm_tiled<float, 128, 64>(float const*, float const*, float*, int)',
  'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)',
  'softmax_forward(float*, int)',
  'layer_norm_kernel(float const*, float*, int)',
  '(anonymous namespace)::reduce<(int)512>(double*)',
  'adam_step(float*, float*, float*, int)',
];

// mulberry32: small, and the same everywhere.
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function kernelRow(name, launches) {
  return {
    name,
    grid: [1024, 1, 1],
    block: [256, 1, 1],
    launches,
    measured_launches: 0,
    device_ns: null,
    share_of_wall: null,
    load_efficiency_percent: null,
    store_efficiency_percent: null,
    shared_ways: null,
    achieved_occupancy: null,
    theoretical_occupancy: null,
    local_share: null,
    dram_bytes_per_s: null,
  };
}

const SAVING = { low_ns: null, best_ns: null, high_ns: null, share_of_wall: null };

export function report(changes = {}) {
  return {
    tool_version: '0',
    trace: 'synthetic.db',
    process: { command: 'train --synthetic', exe: '/usr/bin/train', hostname: 'host', end_reason: 'exit' },
    device: { name: 'Synthetic GPU', uuid: null, compute_capability: '9.0', driver_version: null, software: false },
    verdict: {
      wall_ns: 0,
      gpu_busy_ns: null,
      copy_ns: null,
      kernel_ns: null,
      peak_device_bytes: null,
      allocations: 0,
      transfers: 0,
      launches: 0,
      measured_launches: 0,
      kernel_classes: 0,
      measured_classes: 0,
      combined_saving: SAVING,
    },
    findings: [],
    notes: [],
    transfers: [],
    kernels: [],
    races: [],
    rules: [],
    could_not_check: [],
    device_model: { provenance: 'none', match: null, origin: null, device: null, created: null, noisy: false },
    ...changes,
  };
}

export function head(changes = {}) {
  return {
    format: 'gmtrace-page',
    version: 1,
    report: report(),
    origin_ns: 0,
    realtime_ns: null,
    names: NAMES,
    threads: [],
    streams: [],
    devices: [],
    model: null,
    claims: {},
    detail: null,
    reproduce: 'gmanalyze synthetic.db',
    ...changes,
  };
}

function finding(fingerprint, headline) {
  return {
    rule: 'GM101',
    slug: 'small-transfers',
    title: 'Small transfers',
    severity: 'medium',
    fingerprint,
    headline,
    where: {
      label: 'train.cu:88',
      function: 'step',
      file: 'train.cu',
      line: 88,
      module: 'train',
      api: 'cudaMemcpyAsync',
      kernel: null,
      stack: [],
    },
    evidence: {},
    sql: null,
    cost_ns: 1e6,
    excess_bytes: null,
    saving: SAVING,
    method: 'synthetic',
    confidence: 'heuristic',
    effort: 'small',
    fix: 'none: this report is synthetic',
    sketch: null,
  };
}

/** One call after the other by the hosts' clocks; what each does on its stream starts when the stream is free. */
class Run {
  constructor(calls, { threads, streams, devices, seed }) {
    Object.assign(this, { threads, streams, devices, next: random(seed) });
    this.columns = Object.fromEntries(
      [
        'kind',
        'api',
        'thread',
        'stream',
        'begin',
        'host_ns',
        'device_start',
        'device_ns',
        'bytes',
        'stack',
        'direction',
        'host_class',
        'blocking',
        'kernel',
        'allocation',
        'id',
      ].map((name) => [name, new Array(calls)]),
    );
    this.clock = new Float64Array(threads);
    this.free = new Float64Array(streams);
    this.live = Array.from({ length: threads }, () => []);
    this.allocations = [];
    this.last = 0;
  }

  call(row, thread, stream, begin) {
    const { next } = this;
    const pick = next();
    const base = {
      thread,
      stream: null,
      begin,
      device_start: null,
      device_ns: null,
      bytes: null,
      stack: Math.floor(next() * 3),
      direction: 0,
      host_class: 0,
      blocking: 0,
      kernel: null,
      allocation: null,
      id: row + 1,
    };
    const queued = (length, latency) => {
      const start = Math.max(begin + latency, this.free[stream]);
      const device_ns = Math.round(length);
      this.free[stream] = start + device_ns;
      return { stream, device_start: start - begin, device_ns };
    };
    if (pick < 0.55) {
      const kernel = Math.floor(next() ** 2 * KERNELS.length);
      const length = 1500 + next() ** 3 * 20000 * (kernel + 1);
      return { ...base, kind: 2, api: 2, host_ns: 1800 + next() * 2500, kernel, ...queued(length, 4000) };
    }
    if (pick < 0.75) {
      const up = next() < 0.6;
      const bytes = Math.floor(2 ** (6 + next() * 18));
      const blocking = next() < 0.2 ? 1 : 0;
      const work = queued(1200 + bytes / 24, 3000);
      const host_ns = blocking ? work.device_start + work.device_ns + 1500 : 1500 + next() * 2000;
      return {
        ...base,
        kind: 0,
        api: up ? 0 : 1,
        host_ns,
        bytes,
        direction: up ? 0 : 1,
        host_class: blocking ? 1 : 2,
        blocking,
        ...work,
      };
    }
    if (pick < 0.8) return { ...base, kind: 1, api: 6, host_ns: 1600, bytes: 65536, ...queued(1400, 3500) };
    if (pick < 0.86)
      return { ...base, kind: 3, api: 3, stream, host_ns: Math.max(900, this.free[stream] - begin + 800), blocking: 1 };
    if (pick < 0.92) return { ...base, kind: 6, api: 7, host_ns: 300 };
    return { ...base, ...this.memory(thread, stream, begin) };
  }

  memory(thread, stream, begin) {
    const live = this.live[thread];
    if (live.length > 40 || (live.length > 0 && this.next() < 0.47)) {
      const allocation = live.splice(Math.floor(this.next() * live.length), 1)[0];
      this.allocations[allocation].freed = begin - this.allocations[allocation].begin;
      return { kind: 5, api: 5, host_ns: 2500, bytes: this.allocations[allocation].bytes, allocation, blocking: 1 };
    }
    const bytes = Math.floor(2 ** (16 + this.next() * 12));
    const device = stream % this.devices;
    this.allocations.push({ kind: 0, bytes, begin, freed: null, device });
    live.push(this.allocations.length - 1);
    return { kind: 4, api: 4, host_ns: 3500, bytes, allocation: this.allocations.length - 1 };
  }

  fill(calls) {
    for (let row = 0; row < calls; row++) {
      let thread = 0;
      for (let t = 1; t < this.threads; t++) if (this.clock[t] < this.clock[thread]) thread = t;
      const perThread = Math.max(1, Math.floor(this.streams / this.threads));
      const stream = (thread * perThread + Math.floor(this.next() * perThread)) % this.streams;
      const gap = this.next() < 0.002 ? 400000 * this.next() : 500 + this.next() * 3000;
      const begin = Math.floor(this.clock[thread] + gap);
      const made = this.call(row, thread, stream, begin);
      made.host_ns = Math.round(made.host_ns);
      this.clock[thread] = begin + made.host_ns;
      for (const [name, values] of Object.entries(this.columns)) values[row] = made[name];
    }
    this.last = Math.max(...this.clock, ...this.free);
  }
}

/** { head, tables } of a payload; `pack` makes bytes of them. */
export function synthetic(calls, options = {}) {
  const { threads = 3, streams = 6, devices = 1, seed = 1, software = false } = options;
  const run = new Run(calls, { threads, streams, devices, seed });
  run.fill(calls);
  const order = Uint32Array.from({ length: calls }, (_, i) => i).sort(
    (a, b) => run.columns.begin[a] - run.columns.begin[b],
  );
  const column = (name) => Array.from(order, (row) => run.columns[name][row]);
  const launches = new Array(KERNELS.length).fill(0);
  for (const kernel of run.columns.kernel) if (kernel !== null && kernel !== undefined) launches[kernel]++;
  const base = report();
  const device = {
    name: 'Synthetic GPU',
    uuid: null,
    compute_capability: '9.0',
    driver_version: null,
    sm_count: 132,
    memory_bytes: 2 ** 37,
    l2_bytes: 2 ** 25,
  };
  const fingerprint = '0123456789abcdef';
  const claims = [0.2, 0.4, 0.41].map((at) => [Math.floor(run.last * at), Math.floor(run.last * (at + 0.004))]);
  return {
    head: head({
      report: report({
        kernels: KERNELS.map((name, i) => kernelRow(name, launches[i])),
        findings: [finding(fingerprint, `${calls} calls of a program that does not exist`)],
        device: { ...base.device, software },
        verdict: {
          ...base.verdict,
          wall_ns: software ? null : Math.ceil(run.last),
          launches: launches.reduce((a, b) => a + b, 0),
        },
      }),
      threads: Array.from({ length: threads }, (_, i) => ({
        tid: 4000 + i,
        name: i === 0 ? 'train' : i === 1 ? 'loader' : null,
      })),
      streams: Array.from({ length: streams }, (_, i) => ({
        label: i === 0 ? 'default' : `stream ${i}`,
        device: i % devices,
        priority: null,
      })),
      devices: Array.from({ length: devices }, () => device),
      claims: { [fingerprint]: software ? [] : claims },
    }),
    tables: {
      call: {
        kind: ['u8', column('kind')],
        api: ['varint', column('api')],
        thread: ['varint', column('thread')],
        stream: ['varint', column('stream')],
        begin: ['delta', column('begin')],
        host_ns: ['varint', column('host_ns')],
        device_start: ['varint', software ? Array.from(order, () => null) : column('device_start')],
        device_ns: ['varint', software ? Array.from(order, () => null) : column('device_ns')],
        bytes: ['varint', column('bytes')],
        stack: ['varint', column('stack')],
        direction: ['u8', column('direction')],
        host_class: ['u8', column('host_class')],
        blocking: ['u8', column('blocking')],
        kernel: ['varint', column('kernel')],
        allocation: ['varint', column('allocation')],
        id: ['varint', column('id')],
      },
      allocation: Object.fromEntries(
        [
          ['kind', 'u8'],
          ['bytes', 'varint'],
          ['begin', 'delta'],
          ['freed', 'varint'],
          ['device', 'varint'],
        ].map(([name, encoding]) => [name, [encoding, run.allocations.map((row) => row[name])]]),
      ),
      stack_frame: { stack: ['varint', [0, 0, 0, 1, 1, 2, 2]], frame: ['varint', [3, 0, 2, 1, 2, 3, 1]] },
      frame: {
        function: ['string', ['step(float*, int)', 'load_batch', 'main', 'cudaMemcpyAsync']],
        file: ['string', ['/src/train.cu', '/src/loader.cu', '/src/main.cu', null]],
        module: ['string', ['train', 'train', 'train', 'libcudart.so.13']],
        line: ['varint', [88, 17, 230, null]],
        offset: ['varint', [0x1234, 0x2345, 0x3456, 0x7000]],
        runtime: ['u8', [0, 0, 0, 1]],
      },
    },
  };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [calls, target, software] = argv.slice(2);
  const template = readFileSync(new URL('../built/page.html', import.meta.url), 'utf8');
  const made = synthetic(Number(calls), { software: software === 'software' });
  const page = intoPage(template, pack(made.head, made.tables), 'synthetic');
  writeFileSync(target, page);
  console.log(`${target}: ${page.length} bytes`);
}
