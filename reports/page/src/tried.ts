// SPDX-License-Identifier: Apache-2.0
// What came of fixes that gmtrace try applied, in words, as reports/model/tried.c says it.
import { bytes, count, decimal, known, ns, share } from './format';

export interface Tried {
  name: string;
  state: 'proven' | 'tried' | 'no-gain' | 'differs';
  why: string;
  difference: string | null;
  /** Of the whole program; null: not timed. */
  gain: { low_ns: number; best_ns: number; high_ns: number; share_of_run: number; coverage: number; pairs: number } | null;
  predicted: { low_ns: number | null; best_ns: number | null; high_ns: number | null; share_of_run: number | null };
  points: number | null;
  /** And notes that the fix is for, all together. */
  findings: number;
  fixes: { fix: string; calls: number; bytes: number; left_bytes: number; refused: { reason: string; calls: number; bytes: number }[] }[];
}
export interface TriedResults {
  file: string;
  run_ns: number | null;
  compared: { calls: number; bytes: number; unchecked_calls: number; unchecked_bytes: number };
  sets: Tried[];
}

/** "270 ms (14.2 %), between 260 and 280 ms with 97 % in 8 pairs of runs" */
export function gained({ gain }: Tried): string {
  if (gain === null) return 'not timed';
  const { best_ns, low_ns, high_ns, share_of_run, coverage, pairs } = gain;
  return `${ns(best_ns)} (${share(share_of_run)} of the run), ${ns(low_ns)} to ${ns(high_ns)} with ${share(coverage)} in ${pairs} pairs of runs`;
}

/** "proven: results are equal, and the gain is no accident; for this and 1 other together" */
export function judged({ state, why, difference, findings }: Tried): string {
  const others = findings < 2 ? '' : `; for this and ${findings - 1} other${findings === 2 ? '' : 's'} together`;
  return `${state}: ${why}${difference === null ? '' : ` (${difference})`}${others}`;
}

/** "predicted 15.5 % of the run, 1.3 points more"; "": one of them is not known */
export function offBy({ points, predicted }: Tried): string {
  if (!known(points)) return '';
  return `predicted ${share(predicted.share_of_run)} of the run: ${decimal(Math.abs(points), 1)} points ${points < 0 ? 'less' : 'more'} than tried`;
}

const amount = (calls: number, size: number) => `${count(calls)} call${calls === 1 ? '' : 's'}${size > 0 ? `, ${bytes(size)}` : ''}`;

/** What each fix was applied to, and what it refused and why: one line each. */
export function applied({ fixes }: Tried): string[] {
  return fixes.flatMap(({ fix, calls, bytes: size, left_bytes, refused }) => [
    `${fix}: applied to ${amount(calls, size)}${left_bytes > 0 ? ` (${bytes(left_bytes)} of it left to the driver)` : ''}`,
    ...refused.map((one) => `${fix}: not applied to ${amount(one.calls, one.bytes)}: ${one.reason}`),
  ]);
}

/** "48 copies to the host, 2.00 GiB; unchecked: 1 of 49, 4.00 KiB" */
export function compared({ compared: of }: TriedResults): string {
  const all = of.calls + of.unchecked_calls;
  const rest = of.unchecked_calls > 0 ? `; unchecked: ${count(of.unchecked_calls)} of ${count(all)}, ${bytes(of.unchecked_bytes)}` : '';
  return `${count(of.calls)} ${of.calls === 1 ? 'copy' : 'copies'} to the host, ${bytes(of.bytes)}${rest}`;
}
