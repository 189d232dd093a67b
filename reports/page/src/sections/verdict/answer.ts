// SPDX-License-Identifier: Apache-2.0
// What to change first, in words, as reports/model/answer.c says it.
import { bytes, decimal, known, ns } from '../../format';
import type { Finding, Report, Saving } from '../../report';
import { modelledFor } from '../../words';

const FIRST = 3;
const SEEN_IN_A_FACTOR = 0.01;
const FIRST_MIN_SHARE = 0.001;

/** What is named first: at most three, without the last ones that save next to nothing. */
export function firstOf({ findings }: Report): Finding[] {
  const worth = ({ saving: { share_of_wall }, saved_peak_bytes, tried }: Finding): boolean =>
    tried?.state === 'proven' || (known(saved_peak_bytes) && saved_peak_bytes > 0) || !known(share_of_wall) || share_of_wall >= FIRST_MIN_SHARE;
  return findings.slice(0, findings.slice(0, FIRST).map(worth).lastIndexOf(true) + 1);
}

const EFFORTS: Record<Finding['effort'], string> = { small: '1-2 lines', medium: 'some lines', large: 'restructuring' };

/** "1.73 s → 1.26 s, 1.37 ×"; less than 1 % as "5.31 ms of 1.73 s"; "" where it has no price. */
export function times({ verdict: { wall_ns } }: Report, saving: Saving): string {
  return timesOf(wall_ns, saving.best_ns);
}

function timesOf(wall_ns: number | null, best_ns: number | null): string {
  if (!known(best_ns) || best_ns <= 0 || !known(wall_ns) || wall_ns <= 0) return '';
  const left = wall_ns - best_ns;
  if (best_ns < SEEN_IN_A_FACTOR * wall_ns || left <= 0) return `${ns(best_ns)} of ${ns(wall_ns)}`;
  return `${ns(wall_ns)} → ${ns(left)}, ${decimal(wall_ns / left)} ×`;
}

/** The same of a finding, with what it has in place of a price. */
export function gain(report: Report, { saving, saved_peak_bytes, at_most_ns, excess_bytes, tried }: Finding): string {
  if (tried?.state === 'proven') return timesOf(report.tried?.run_ns ?? null, tried.gain?.best_ns ?? null);
  const text = times(report, saving);
  if (text !== '') return text;
  const forDevice = modelledFor(report);
  if (forDevice !== null && known(saving.best_ns) && saving.best_ns > 0) return `about ${ns(saving.best_ns)} on ${forDevice}`;
  if (known(saved_peak_bytes) && saved_peak_bytes > 0) return `${bytes(saved_peak_bytes)} less at the peak`;
  if (known(at_most_ns) && at_most_ns > 0) return `at most ${ns(at_most_ns)}${report.verdict.modelled === true ? ', modelled' : ''}`;
  return known(excess_bytes) && excess_bytes > 0 ? `${bytes(excess_bytes)} unnecessary` : '';
}

/** "120 to 221 ms": the unit once where it is that of both. */
function interval(low_ns: number | null, high_ns: number | null): string {
  const [low, high] = [ns(low_ns), ns(high_ns)];
  const unit = / .*$/.exec(high)?.[0] ?? '';
  return `${unit !== '' && low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}

/** "saves 120 to 221 ms, modelled" */
export function certainty(report: Report, { saving: { low_ns, best_ns, high_ns }, confidence, guess, tried }: Finding): string {
  if (tried?.state === 'proven' && tried.gain !== null) {
    const others = tried.findings - 1;
    const beside = others > 0 ? `, with ${others} other${others === 1 ? '' : 's'}` : '';
    return `${tried.name} proven to gain ${interval(tried.gain.low_ns, tried.gain.high_ns)}${beside}`;
  }
  if (!known(best_ns) || best_ns <= 0) return '';
  const between = interval(low_ns, high_ns);
  if (report.verdict.modelled === true)
    return `${between}, modelled from exact counts${guess === true ? ', a guess' : ''}`;
  const elsewhere = confidence === 'calibrated' && report.device_model.match === 'another board';
  return `saves ${between}, ${confidence}${elsewhere ? ' on another device' : ''}${guess === true ? ', a guess' : ''}`;
}

export function effort({ effort: name }: Finding): string {
  return EFFORTS[name] ?? name;
}

/** "Do first: 1.73 s → 1.38 s, 1.25 ×; all 11 findings: 1.73 s → 1.26 s, 1.38 ×" */
export function heading(report: Report): string {
  const { combined_saving, first_saving } = report.verdict;
  const all = times(report, combined_saving);
  if (all === '') return 'Do first';
  const some = first_saving === undefined ? '' : times(report, first_saving);
  if (report.findings.length <= firstOf(report).length || some === '' || some === all) return `Do first: ${all}`;
  return `Do first: ${some}; all ${report.findings.length} findings: ${all}`;
}

/** Why a place that is named first has no better name, and what helps; null: all are named. */
export function placesNote(report: Report): string | null {
  return firstOf(report).find(({ where }) => where.note !== undefined)?.where.note ?? null;
}
