// SPDX-License-Identifier: Apache-2.0
// How blocks look: one of fourteen colours, eight for kinds of calls and six for kernels, and a pattern. A look is one number, so that levels of detail can
// hold it: colour + 8 x pattern. Colour is never alone: patterns, labels and the legend say the same.

const KINDS_COLORS = 8;
const KERNEL_COLORS = 6;
export const COLORS = KINDS_COLORS + KERNEL_COLORS;

/** The custom property of a colour, from 1. */
export function colorName(color: number): string {
  return color <= KINDS_COLORS ? `--c${color}` : `--k${color - KINDS_COLORS}`;
}
export const PATTERNS = ['none', 'rising', 'falling', 'dots', 'level', 'upright'] as const;
export type Pattern = (typeof PATTERNS)[number];

function look(color: number, pattern: Pattern): number {
  return color - 1 + COLORS * PATTERNS.indexOf(pattern);
}

/** Kinds of the table `call`: names.kind. */
const KINDS: Record<string, { look: number; title: string }> = {
  transfer: { look: look(1, 'level'), title: 'copy' },
  memset: { look: look(6, 'level'), title: 'memset' },
  launch: { look: look(3, 'none'), title: 'launch' },
  sync: { look: look(8, 'rising'), title: 'waiting' },
  allocate: { look: look(5, 'upright'), title: 'allocation' },
  free: { look: look(4, 'upright'), title: 'free' },
  other: { look: look(7, 'dots'), title: 'other call' },
  node: { look: look(3, 'none'), title: 'kernel of a graph' },
};

export const BUSY_LOOK = look(3, 'none');
export const OWN_LOOK = look(7, 'rising');

/**
 * Causes of idle time: names of report.time.parts. The bar of the time has the colours, and those of kernels and copies beside
 * them, without patterns: no two are equal, and none is that of copies (1) or kernels (3).
 */
const CAUSES: Record<string, number> = {
  idle_allocation: look(5, 'upright'),
  idle_page_locking: look(14, 'rising'),
  idle_module_loading: look(4, 'dots'),
  idle_copy_calls: look(6, 'level'),
  idle_launch_calls: look(10, 'none'),
  idle_synchronization: look(9, 'rising'),
  idle_other_calls: look(7, 'dots'),
  idle_start_up: look(11, 'falling'),
  idle_shutdown: look(12, 'falling'),
  idle_host_code: look(2, 'none'),
};

export function causeLook(name: string | undefined): number {
  return CAUSES[name ?? ''] ?? CAUSES.idle_other_calls;
}

export function kindLook(kind: string): number {
  return (KINDS[kind] ?? KINDS.other).look;
}

export function kindTitle(kind: string): string {
  return (KINDS[kind] ?? KINDS.other).title;
}

const KERNEL_PATTERNS = 4; // copies and memsets keep "level" to themselves, allocations "upright"

/**
 * Looks of kernels, by name, the longest first. The first six differ in their colours, which are never those of calls,
 * copies and memsets; the next six have a pattern beside, and so on. Stable from run to run where it can be: the colour goes by
 * the name (32-bit FNV-1a); where a longer kernel has it, the next one that is free.
 */
export function kernelLooks(names: string[]): Map<string, number> {
  const looks = new Map<string, number>();
  let taken = new Set<number>();
  for (const name of names) {
    if (looks.has(name)) continue;
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
    if (taken.size === KERNEL_COLORS) taken = new Set();
    let at = hash % KERNEL_COLORS;
    while (taken.has(at)) at = (at + 1) % KERNEL_COLORS;
    taken.add(at);
    const pattern = PATTERNS[Math.floor(looks.size / KERNEL_COLORS) % KERNEL_PATTERNS];
    looks.set(name, look(KINDS_COLORS + 1 + at, pattern));
  }
  return looks;
}

export function colorOf(look: number): number {
  return (look % COLORS) + 1;
}

export function patternOf(look: number): Pattern {
  return PATTERNS[Math.floor(look / COLORS)] ?? 'none';
}
