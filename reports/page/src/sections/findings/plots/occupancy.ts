// SPDX-License-Identifier: Apache-2.0
// Occupancy of a finding's kernel: what if it were launched otherwise, and what the calibrated
// curves say that more warps bring.
import { bytes, known } from '../../../format';
import { OCCUPANCY_CURVES, type Model } from '../../../model';
import type { Point } from '../../../parts/axes';
import type { Finding, KernelRow } from '../../../report';

type What = 'block' | 'registers' | 'shared';

export interface WhatIf {
  what: What;
  title: string;
  axis: string;
  /** Of an x value. */
  show: (value: number) => string;
  /** y: resident warps in percent. Steps: a value holds for all smaller ones down to the next. */
  points: Point[];
  now: Point | null;
}

const WHAT: Record<What, { title: string; axis: string; show: (value: number) => string }> = {
  block: { title: 'Resident warps by block size', axis: 'threads per block', show: String },
  registers: { title: 'Resident warps by registers', axis: 'registers per thread', show: String },
  shared: { title: 'Resident warps by shared memory', axis: 'shared memory per block', show: bytes },
};

function value(finding: Finding, name: string): number {
  return finding.evidence[name]?.value ?? NaN;
}

const threadsOf = (kernel: KernelRow) => kernel.block.reduce((product, size) => product * size, 1);

/** The launch shape that the finding is about: by its block size, else the longest of that name. */
export function kernelOf(kernels: KernelRow[], finding: Finding): KernelRow | null {
  const named = kernels.filter(({ name }) => name === finding.where.kernel);
  const threads = value(finding, 'threads_per_block');
  return named.find((kernel) => threadsOf(kernel) === threads) ?? named[0] ?? null;
}

/** What the rule says to change; GM501: what limits the launch. */
function whatOf(finding: Finding, kernel: KernelRow): What | null {
  switch (finding.rule) {
    case 'GM404':
      return 'shared';
    case 'GM503':
    case 'GM511':
      return 'registers';
    case 'GM502':
    case 'GM505':
      return 'block';
    case 'GM501': {
      const limiter = kernel.occupancy?.limiter;
      return limiter === 'registers' || limiter === 'shared' ? limiter : 'block';
    }
    default:
      return null;
  }
}

function nowOf(what: What, finding: Finding, kernel: KernelRow): number {
  switch (what) {
    case 'block':
      return threadsOf(kernel);
    case 'registers':
      return kernel.registers ?? value(finding, 'registers');
    case 'shared': {
      const { static_shared_bytes: fixed, dynamic_shared_bytes: dynamic } = kernel;
      return known(fixed) && known(dynamic) ? fixed + dynamic : value(finding, 'shared_bytes_per_block');
    }
  }
}

export function whatIf(kernels: KernelRow[], finding: Finding): WhatIf | null {
  const kernel = kernelOf(kernels, finding);
  const occupancy = kernel?.occupancy;
  if (kernel === null || !occupancy || !known(occupancy.most_warps)) return null;
  const what = whatOf(finding, kernel);
  if (what === null) return null;
  const steps = {
    block: occupancy.by_block_size,
    registers: occupancy.by_registers,
    shared: occupancy.by_shared_bytes,
  }[what];
  const warps = (threads: number) => Math.ceil(threads / 32);
  const most = occupancy.most_warps;
  const points = Object.entries(steps ?? {})
    .map(([key, blocks]) => {
      const x = Number(key);
      return { x, y: (100 * blocks * warps(what === 'block' ? x : threadsOf(kernel))) / most };
    })
    .sort((a, b) => a.x - b.x);
  if (points.length < 2) return null;
  const x = nowOf(what, finding, kernel);
  const y = 100 * (occupancy.theoretical ?? NaN);
  return { what, ...WHAT[what], points, now: known(x) && known(y) ? { x, y } : null };
}

export interface RoofPlot {
  /** x: occupancy in percent; y: bytes per second. */
  curves: { name: string; points: Point[] }[];
  now: Point;
  after: Point | null;
}

/** The launch on the calibrated curves of bandwidth over occupancy. */
export function roofPlot(model: Model | null, finding: Finding): RoofPlot | null {
  const [x, y] = ['achieved_occupancy', 'traffic'].map((name) => value(finding, name));
  if (!known(x) || !known(y) || !(y > 0)) return null;
  const curves = OCCUPANCY_CURVES.map(([key, name]) => ({
    name,
    points: (model?.[key] ?? []).flatMap(({ occupancy, bandwidth_bytes_per_s: rate }) =>
      known(rate) ? [{ x: 100 * occupancy, y: rate }] : [],
    ),
  })).filter(({ points }) => points.length > 1);
  if (curves.length === 0) return null;
  const after = { x: value(finding, 'occupancy_after_fix'), y: value(finding, 'calibrated_after_fix') };
  return { curves, now: { x, y }, after: known(after.x) && known(after.y) ? after : null };
}
