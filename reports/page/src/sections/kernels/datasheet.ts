// SPDX-License-Identifier: Apache-2.0
// What datasheets promise, for the few GPUs whose datasheets were read; nothing for others.

export interface Datasheet {
  /** Of the name as the driver gives it; all of them must occur. */
  words: string[];
  dram_bytes_per_s: number;
  /** Single precision, counting a fused multiply-add as two. */
  fp32_flops: number;
  /** Single-precision lanes of a multiprocessor; it issues for 128 lanes a cycle. */
  lanes: number;
  source: string;
}

const H200 = 'NVIDIA H200 Tensor Core GPU datasheet';
const H100 = 'NVIDIA H100 Tensor Core GPU datasheet';
const A100 = 'NVIDIA A100 Tensor Core GPU datasheet';

// The first row that fits counts, so narrower ones stand first.
const ROWS: Datasheet[] = [
  { words: ['H200', 'NVL'], dram_bytes_per_s: 4.8e12, fp32_flops: 60e12, lanes: 128, source: H200 },
  { words: ['H200'], dram_bytes_per_s: 4.8e12, fp32_flops: 67e12, lanes: 128, source: H200 },
  { words: ['H100', 'NVL'], dram_bytes_per_s: 3.9e12, fp32_flops: 60e12, lanes: 128, source: H100 },
  { words: ['H100', 'PCIe'], dram_bytes_per_s: 2.0e12, fp32_flops: 51e12, lanes: 128, source: H100 },
  { words: ['H100', '80GB HBM3'], dram_bytes_per_s: 3.35e12, fp32_flops: 67e12, lanes: 128, source: H100 },
  { words: ['A100', '80GB', 'PCIe'], dram_bytes_per_s: 1.935e12, fp32_flops: 19.5e12, lanes: 64, source: A100 },
  { words: ['A100', 'SXM', '80GB'], dram_bytes_per_s: 2.039e12, fp32_flops: 19.5e12, lanes: 64, source: A100 },
  { words: ['A100', '40GB'], dram_bytes_per_s: 1.555e12, fp32_flops: 19.5e12, lanes: 64, source: A100 },
];

/** null: no datasheet for such a GPU, or of a part of one (MIG). */
export function datasheetOf(name: string | null): Datasheet | null {
  if (name === null || /\bMIG\b/.test(name)) return null;
  return ROWS.find(({ words }) => words.every((word) => name.includes(word))) ?? null;
}

/** Warp instructions per second that all schedulers together can issue at the datasheet's clock. */
export function issueRate({ fp32_flops, lanes }: Datasheet): number {
  return (fp32_flops / 2 / 32) * (128 / lanes);
}
