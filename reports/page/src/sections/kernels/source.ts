// SPDX-License-Identifier: Apache-2.0
// What each line of a kernel moved, out of the table source_line, and the text of its files.
import type { Payload } from '../../payload';

/** The accesses of one kind on one line; counts are of all launches that were counted. */
export interface LineCount {
  file: string | null;
  /** Without line information: that of the PTX. */
  line: number;
  kind: string;
  opcodes: string;
  /** "inlined at f (a.h:9), at a.cu:17", a text for each way; empty: it was not inlined. */
  inlined: string[];
  executed: number;
  requests: number;
  /** Sectors of device memory or passes through shared memory, per request; NaN: neither. */
  actual: number;
  ideal: number;
  /** Bytes of one launch beyond the ideal. */
  excess: number;
  /** Of the kernel's excess, 0..1. */
  share: number;
}

export interface SourceFile {
  file: string | null;
  /** null: the text is not in the trace. */
  text: string[] | null;
  share: number;
  counts: LineCount[];
}

export interface KernelSource {
  launches: number;
  /** Of one launch, in bytes. */
  excess: number;
  files: SourceFile[];
}

/** A line to show: with what was counted on it, or a neighbour of such a line; null: lines are left out. */
export type Shown = { line: number; text: string | null; counts: LineCount[] } | null;

const WORDS: Record<string, string> = {
  global_load: 'load',
  global_store: 'store',
  global_atomic: 'atomic',
  local_load: 'local load',
  local_store: 'local store',
  shared_load: 'shared load',
  shared_store: 'shared store',
  shared_atomic: 'shared atomic',
  constant_load: 'constant',
  async_copy: 'async copy',
  other: '',
};
export const wordOf = (kind: string) => WORDS[kind] ?? kind;

/** A file may have any name, also one that every object knows. */
function textOf({ head: { sources } }: Payload, file: string | null): string[] | null {
  return file !== null && sources !== undefined && Object.hasOwn(sources, file) ? sources[file].split('\n') : null;
}

/** Two modules can have kernels of one name: `classId` selects one. */
export function sourceOf(payload: Payload, kernel: string, classId?: number): KernelSource | null {
  const table = payload.table('source_line');
  const names = table.strings('kernel_name');
  const column = (name: string) => table.numbers(name);
  const [files, kinds, opcodes, inlined, classes] = ['file', 'access', 'opcodes', 'inlined', 'classes'].map((name) =>
    table.strings(name),
  );
  const isOther = (row: number) =>
    names[row] !== kernel || (classId !== undefined && !(classes[row]?.split(',').includes(String(classId)) ?? true));
  const [launches, line, executed, requests, excess] = ['launches', 'line', 'executed', 'requests', 'excess_bytes'].map(column);
  const [sectors, idealSectors, passes, idealPasses] = ['sectors', 'ideal_sectors', 'wavefronts', 'ideal_wavefronts'].map(column);
  const counts: LineCount[] = [];
  let counted = 1;
  for (let row = 0; row < table.rows; row++) {
    if (isOther(row)) continue;
    const shared = !Number.isNaN(passes[row]);
    counted = launches[row];
    counts.push({
      file: files[row],
      line: line[row],
      kind: kinds[row] ?? 'other',
      opcodes: opcodes[row] ?? '',
      inlined: inlined[row]?.split('; ') ?? [],
      executed: executed[row] / counted,
      requests: requests[row] / counted,
      actual: (shared ? passes : sectors)[row] / requests[row],
      ideal: (shared ? idealPasses : idealSectors)[row] / requests[row],
      excess: excess[row] / counted,
      share: 0,
    });
  }
  if (counts.length === 0) return null;
  const total = counts.reduce((sum, { excess }) => sum + (excess > 0 ? excess : 0), 0);
  const byFile = new Map<string | null, SourceFile>();
  for (const count of counts) {
    count.share = total > 0 && count.excess > 0 ? count.excess / total : 0;
    let file = byFile.get(count.file);
    if (file === undefined) {
      file = { file: count.file, text: textOf(payload, count.file), share: 0, counts: [] };
      byFile.set(count.file, file);
    }
    file.share += count.share;
    file.counts.push(count);
  }
  return { launches: counted, excess: total, files: [...byFile.values()].sort((a, b) => b.share - a.share) };
}

/** Arithmetic on a line that also has accesses says no more than these. */
function worthShowing(counts: LineCount[]): LineCount[] {
  const accesses = counts.filter(({ actual }) => !Number.isNaN(actual));
  return accesses.length > 0 ? accesses : counts.slice(0, 1);
}

/** How accesses came to a line that was inlined, each way once. */
export function waysOf(counts: LineCount[]): string[] {
  return [...new Set(counts.filter(({ actual }) => !Number.isNaN(actual)).flatMap(({ inlined }) => inlined))];
}

/** The lines that were counted, each with `around` neighbours. */
export function listing({ text, counts }: SourceFile, around = 3): Shown[] {
  const byLine = new Map<number, LineCount[]>();
  for (const count of counts) byLine.set(count.line, [...(byLine.get(count.line) ?? []), count]);
  const lines = new Set(byLine.keys());
  const last = text?.length ?? 0;
  for (const line of byLine.keys())
    for (let near = Math.max(1, line - around); near <= Math.min(line + around, last); near++) lines.add(near);
  const shown: Shown[] = [];
  let before: number | null = null;
  for (const line of [...lines].sort((a, b) => a - b)) {
    if (before !== null && line > before + 1 && text !== null) shown.push(null);
    shown.push({ line, text: text?.[line - 1] ?? null, counts: worthShowing(byLine.get(line) ?? []) });
    before = line;
  }
  return shown;
}
