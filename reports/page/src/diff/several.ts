// SPDX-License-Identifier: Apache-2.0
// What a page over several traces carries in its head: docs/json.md, "The JSON of several traces".
import { bytes, count, NOTHING, ns, share, known } from '../format';
import type { Saving, Severity } from '../report';
import type { Tried } from '../tried';

export type Unit = 'count' | 'bytes' | 'ns';
export type Verdict = 'same' | 'faster' | 'slower' | 'less' | 'more' | 'unclear';
export type State = 'new' | 'worse' | 'better' | 'fixed' | 'same' | 'not checked';

export interface TraceHead {
  trace: string | null;
  command: string | null;
  hostname: string | null;
  /** Of the job; null: none. */
  rank: string | null;
  device: string | null;
  driver_version: string | null;
  software: boolean;
}
export interface Figure {
  name: string;
  label: string;
  unit: Unit;
  gated: boolean;
}
export interface Side {
  severity: Severity;
  fingerprint: string;
  headline: string | null;
  where: {
    label: string | null;
    function: string | null;
    file: string | null;
    line: number | null;
    kernel: string | null;
  };
  saving: Saving;
  excess_bytes: number | null;
  /** Only in A, where a fix for it was tried. */
  tried?: Tried;
}
export interface FigureChange extends Figure {
  a: number | null;
  b: number | null;
  change: number | null;
  noise: number | null;
  verdict: Verdict;
}
export interface FindingChange {
  state: State;
  why: string;
  rule: string;
  slug: string;
  title: string;
  /** By so much B is shorter, where nothing changed but this and what the same fix is for; null: not known. */
  got_ns?: number | null;
  a: Side | null;
  b: Side | null;
}
/** What became of what was predicted. */
export interface Result {
  /** All of it, to share. */
  sentence: string;
  note: string | null;
  /** null: nothing that was fixed has a price. */
  predicted: { low_ns: number | null; best_ns: number | null; high_ns: number | null };
  /** By so much B is shorter; null: no times. */
  got_ns: number | null;
  noise_ns: number | null;
  fixed: number;
  left: number;
  new: number;
}
export interface PartSum {
  count: number | null;
  bytes: number | null;
  time_ns: number | null;
}
/** A kernel, a kind of copies, or a place that holds memory; null: not in that trace. */
export interface PartChange {
  name: string;
  a: PartSum | null;
  b: PartSum | null;
}
export interface Diff {
  tool_version: string;
  result: Result;
  kernels: PartChange[];
  copies: PartChange[];
  memory: PartChange[];
  a: TraceHead;
  b: TraceHead;
  warning: string | null;
  figures: FigureChange[];
  findings: FindingChange[];
}
export interface RankFigure extends Figure {
  min: number | null;
  median: number | null;
  max: number | null;
  /** One per trace. */
  values: (number | null)[];
  /** Indices of traces. */
  odd: number[];
}
export interface RankFinding {
  rule: string;
  slug: string;
  title: string;
  largest: Side;
  /** Indices of those that have it. */
  traces: number[];
  min_ns: number | null;
  median_ns: number | null;
  max_ns: number | null;
}
export interface Ranks {
  tool_version: string;
  traces: TraceHead[];
  odd: number | null;
  figures: RankFigure[];
  findings: RankFinding[];
}

const FORMATS: Record<Unit, (value: number | null) => string> = { count, bytes, ns };

export function formatUnit(value: number | null, unit: Unit): string {
  return FORMATS[unit](value);
}

/** "+4.9 %", "12 times as much", "none before": as reports/model/figures.c says it. */
export function changeText({ a, b, change }: { a: number | null; b: number | null; change: number | null }): string {
  if (!known(change)) return a === 0 && known(b) && b > 0 ? 'none before' : NOTHING;
  if (change === 0) return '0 %';
  if (change > 9) return `${count(Math.round(change + 1))} times as much`;
  return `${change >= 0 ? '+' : '-'}${share(Math.abs(change))}`;
}

/** What a finding costs: the saving, or where it has no price the unnecessary traffic. */
export function costText(side: Side): string {
  if (!known(side.saving.best_ns) && known(side.excess_bytes)) return `${bytes(side.excess_bytes)} unnecessary`;
  return known(side.saving.best_ns) ? `saves ${ns(side.saving.best_ns)}` : 'not priced';
}

/** The ends of paths, as long as is needed to distinguish them. */
export function shortNames(paths: (string | null)[]): string[] {
  const parts = paths.map((path) => (path ?? NOTHING).split('/'));
  for (let n = 1; n < 32; n++) {
    const names = parts.map((words) => words.slice(-n).join('/'));
    if (new Set(names).size === new Set(paths).size) return names;
  }
  return paths.map((path) => path ?? NOTHING);
}

/** The mark that stands beside a word, so that colour is never alone. */
export const VERDICT_MARKS: Record<Verdict, string> = {
  same: '=',
  faster: '↓',
  less: '↓',
  slower: '↑',
  more: '↑',
  unclear: '?',
};
export const STATES: { state: State; mark: string; text: string }[] = [
  { state: 'new', mark: '+', text: 'in B only' },
  { state: 'worse', mark: '↑', text: 'in both, costs more in B' },
  { state: 'better', mark: '↓', text: 'in both, costs less in B' },
  { state: 'fixed', mark: '✓', text: 'in A only' },
  { state: 'same', mark: '=', text: 'in both, no measurable difference' },
  { state: 'not checked', mark: '?', text: 'its rule could not check the other trace' },
];

/** A change that is exact, and that nobody would act on. */
export function isSlight({ change }: { change: number | null }): boolean {
  return known(change) && Math.abs(change) < 0.01;
}
