// SPDX-License-Identifier: Apache-2.0
// How blocks look: one of eight colours and a pattern. A look is one number, so that levels of detail can
// hold it: colour + 8 x pattern. Colour is never alone: patterns, labels and the legend say the same.

export const COLORS = 8;
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

export function kindLook(kind: string): number {
  return (KINDS[kind] ?? KINDS.other).look;
}

export function kindTitle(kind: string): string {
  return (KINDS[kind] ?? KINDS.other).title;
}

/** Stable from run to run: by the name alone (32-bit FNV-1a). Copies and memsets keep "level" to themselves. */
export function kernelLook(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return (hash % COLORS) + COLORS * (Math.floor(hash / COLORS) % 4);
}

export function colorOf(look: number): number {
  return (look % COLORS) + 1;
}

export function patternOf(look: number): Pattern {
  return PATTERNS[Math.floor(look / COLORS)] ?? 'none';
}
