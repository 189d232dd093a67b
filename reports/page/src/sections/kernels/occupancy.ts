// SPDX-License-Identifier: Apache-2.0
// The what-if curves of occupancy, out of the report.
import { bytes, count } from '../../format';
import type { KernelRow, Occupancy } from '../../report';

export interface Step {
  value: number;
  blocks: number;
  occupancy: number;
}
export interface Curve {
  id: string;
  title: string;
  axis: string;
  show: (value: number) => string;
  steps: Step[];
  /** As launched; NaN: not known. */
  now: number;
  /** Steps hold up to their value (registers, shared memory), or are points of their own (block sizes). */
  upTo: boolean;
}

const product = (sizes: number[]) => sizes.reduce((a, b) => a * b, 1);

/** The curves that the report has. */
export function curvesOf(row: KernelRow, occupancy: Occupancy): Curve[] {
  const threads = product(row.block);
  const most = occupancy.most_warps ?? NaN;
  const steps = (map: Record<string, number> | undefined, size: (value: number) => number) =>
    Object.entries(map ?? {})
      .map(([key, blocks]) => ({
        value: Number(key),
        blocks,
        occupancy: (blocks * Math.ceil(size(Number(key)) / 32)) / most,
      }))
      .sort((a, b) => a.value - b.value);
  const shared = (row.static_shared_bytes ?? NaN) + (row.dynamic_shared_bytes ?? NaN);
  const all: Curve[] = [
    {
      id: 'block',
      title: 'by block size',
      axis: 'threads of a block',
      show: count,
      steps: steps(occupancy.by_block_size, (value) => value),
      now: threads,
      upTo: false,
    },
    {
      id: 'registers',
      title: 'by registers',
      axis: 'registers per thread',
      show: count,
      steps: steps(occupancy.by_registers, () => threads),
      now: row.registers ?? NaN,
      upTo: true,
    },
    {
      id: 'shared',
      title: 'by shared memory',
      axis: 'shared memory of a block',
      show: bytes,
      steps: steps(occupancy.by_shared_bytes, () => threads),
      now: shared,
      upTo: true,
    },
  ];
  return all.filter((curve) => curve.steps.length > 0);
}
