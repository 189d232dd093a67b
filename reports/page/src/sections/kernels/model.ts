// SPDX-License-Identifier: Apache-2.0
// Kernels against what calibration says that this device can do.
import { known, ns } from '../../format';
import type { Payload } from '../../payload';
import { within, type Range } from '../../span';
import type { Finding, KernelRow } from '../../report';
import { counted } from '../../words';

export interface Roof {
  id: 'dram' | 'l2' | 'l1';
  title: string;
  /** Calibrated, in 32-byte sectors per second, the highest first; none: not calibrated. */
  lines: { title: string; rate: number }[];
  /** Sectors that a launch moves there; NaN: not measured. */
  sectors: (counters: Counters) => number;
  /** How long they take at the calibrated rates, in seconds; NaN: not known. */
  seconds: (counters: Counters) => number;
}

type Counters = Record<string, number>;

export interface Kernel {
  index: number;
  row: KernelRow;
  short: string;
  shape: string;
  /** ns of one launch, as the program runs untraced; NaN: no times. */
  each: number;
  findings: Finding[];
  /** Of the calibrated rate, 0..1; NaN: not known. */
  used: Record<'dram' | 'l2' | 'l1' | 'shared', number>;
}

type Rates = Record<string, { median?: number | null } | undefined>;

function rateOf(model: Record<string, unknown> | null, ...names: string[]): number {
  const rates = (model?.rates ?? {}) as Rates;
  const found = names.map((name) => rates[name]?.median).filter(known);
  return found.length > 0 ? Math.max(...found) : NaN;
}

/** The sum, not known where one of them is not. */
const sum = (counters: Record<string, number>, ...names: string[]) =>
  names.reduce((total, name) => total + (counters[name] ?? NaN), 0);

export function roofsOf(model: Record<string, unknown> | null): Roof[] {
  const dram = rateOf(model, 'dram_bytes_per_s') / 32;
  const l2 = rateOf(model, 'l2_sectors_per_s');
  const written = rateOf(model, 'write_sectors_per_s');
  // Whichever way of hitting L1 moved more sectors.
  const l1 = rateOf(model, 'l1_sectors_per_s', 'l1_strided_sectors_per_s');
  const inDram = (c: Counters) => sum(c, 'dram_read_bytes', 'dram_write_bytes') / 32;
  const inL1 = (c: Counters) =>
    sum(c, 'global_load_sectors', 'global_store_sectors') + (c.local_load_sectors ?? 0) + (c.local_store_sectors ?? 0);
  const lines = (...all: [string, number][]) =>
    all.filter(([, rate]) => known(rate)).map(([title, rate]) => ({ title, rate }));
  return [
    {
      id: 'dram',
      title: 'device memory',
      lines: lines(['device memory', dram]),
      sectors: inDram,
      seconds: (c) => inDram(c) / dram,
    },
    {
      id: 'l2',
      title: 'L2',
      lines: lines(['L2, reading', l2], ['L2, writing', written]),
      sectors: (c) => sum(c, 'l2_read_sectors', 'l2_write_sectors'),
      // L2 takes sectors in more slowly than it gives them; older models do not know how fast.
      seconds: (c) => sum(c, 'l2_read_sectors') / l2 + sum(c, 'l2_write_sectors') / (known(written) ? written : l2),
    },
    { id: 'l1', title: 'L1', lines: lines(['L1', l1]), sectors: inL1, seconds: (c) => inL1(c) / l1 },
  ];
}

/** "scale<float>(float*, int)" without its parameters and template arguments, for narrow places. */
export function shortName(name: string): string {
  let depth = 0;
  let text = '';
  for (let at = 0; at < name.length; at++) {
    const letter = name[at];
    if (name.startsWith('(anonymous namespace)', at)) {
      at += '(anonymous namespace)'.length - 1;
      if (name.startsWith('::', at + 1)) at += 2;
      continue;
    }
    if (letter === '(' && depth === 0 && text !== '' && !text.endsWith('operator')) break;
    if (letter === '<' && !/operator<?$/.test(text)) depth++;
    else if (letter === '>' && depth > 0) depth--;
    else if (depth === 0) text += letter;
  }
  // "void f" : the type that templates are demangled with
  const words = text.trim().split(' ');
  const last = words[words.length - 1];
  return (text.includes('operator') ? text.trim() : last) || name;
}

export function kernelsOf(payload: Payload): Kernel[] {
  const { report, model } = payload.head;
  const roofs = roofsOf(model);
  const shared = rateOf(model, 'shared_wavefronts_per_s');
  const findings = new Map<string, Finding[]>();
  for (const finding of [...report.findings, ...report.notes]) {
    const name = finding.where.kernel;
    if (name === null || name === undefined) continue;
    const list = findings.get(name);
    if (list === undefined) findings.set(name, [finding]);
    else list.push(finding);
  }
  return report.kernels.map((row, index) => {
    const counters = row.counters ?? {};
    const each =
      known(row.device_ns) && row.launches > 0 && !report.device.software ? row.device_ns / row.launches : NaN;
    const part = (seconds: number) => (1e9 * seconds) / each;
    const [dram, l2, l1] = roofs.map((roof) => part(roof.seconds(counters)));
    const wavefronts = sum(counters, 'shared_load_wavefronts', 'shared_store_wavefronts');
    return {
      index,
      row,
      short: row.title ?? shortName(row.name),
      shape: `${row.grid.join('×')} blocks of ${row.block.join('×')}`,
      each,
      findings: findings.get(row.name) ?? [],
      used: { dram, l2, l1, shared: part(wavefronts / shared) },
    };
  });
}

export interface RoofPoint {
  kernel: Kernel;
  /** Warp instructions per sector moved. */
  intensity: number;
  /** Warp instructions per second. */
  rate: number;
  /** Sectors per second / the calibrated rate. */
  share: number;
}

/** Where kernels lie in the instruction roofline of one level; those without its counters or time are left out. */
export function roofPoints(kernels: Kernel[], roof: Roof): RoofPoint[] {
  return kernels.flatMap((kernel) => {
    const counters = kernel.row.counters ?? {};
    const sectors = roof.sectors(counters);
    const instructions = counters.instructions ?? NaN;
    if (!(sectors > 0 && instructions > 0 && kernel.each > 0)) return [];
    const rate = (1e9 * instructions) / kernel.each;
    return [{ kernel, intensity: instructions / sectors, rate, share: kernel.used[roof.id] }];
  });
}

/** A roof over a range: the slope of a memory level up to the flat one of the issue rate. */
export function roofLine(sectorRate: number, issue: number, from: number, to: number): [number, number][] {
  const ridge = issue / sectorRate;
  const end = ridge > 0 ? Math.min(to, ridge) : to;
  return end > from
    ? [
        [from, from * sectorRate],
        [end, end * sectorRate],
      ]
    : [];
}

/** Kernels that run in the range, with how often and how long they do there; counters stay those of the whole run. */
export function kernelsWithin(payload: Payload, kernels: Kernel[], range: Range | null): Kernel[] {
  if (range === null) return kernels;
  const call = payload.table('call');
  const [kernel, begin, start, device, count] = ['kernel', 'begin', 'device_start', 'device_ns', 'count'].map((name) =>
    call.numbers(name),
  );
  const launches = new Float64Array(kernels.length);
  const time = new Float64Array(kernels.length);
  for (let row = 0; row < call.rows; row++) {
    const index = kernel[row];
    if (!(index >= 0 && index < kernels.length)) continue;
    const ran = begin[row] + start[row];
    // A launch that was counted has no time on the device: its call says when it was.
    if (!within(range, Number.isNaN(ran) ? begin[row] : ran)) continue;
    launches[index] += count[row] || 1;
    time[index] += Number.isNaN(device[row]) ? (kernels[index].each || 0) * (count[row] || 1) : device[row];
  }
  return kernels
    .filter(({ index }) => launches[index] > 0)
    .map((old) => {
      const device_ns = payload.head.report.device.software ? null : time[old.index];
      const share_of_wall = device_ns === null ? null : device_ns / (range[1] - range[0]);
      return { ...old, row: { ...old.row, launches: launches[old.index], device_ns, share_of_wall } };
    });
}

/** Of all launches: also of those without a device time. */
export function sumText({ device_ns, estimated_launches, device_ns_error: error }: KernelRow): string {
  if (!estimated_launches) return ns(device_ns);
  const within = known(error) ? `, right within ${ns(error)} (95 %)` : '';
  return `≈${ns(device_ns)}, with this kernel's mean for ${counted(estimated_launches, 'launch', 'launches')} without a device time${within}`;
}
