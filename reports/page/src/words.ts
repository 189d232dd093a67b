// SPDX-License-Identifier: Apache-2.0
// What the report's short names mean, in words for people.
import type { Finding, Report, RuleRow, Severity } from './report';

const DIRECTIONS: Record<string, string> = {
  h2d: 'host → device',
  d2h: 'device → host',
  d2d: 'device → device',
  h2h: 'host → host',
  peer: 'device → other device',
};

/** "NVIDIA H200": what times are modelled for; null: they are not modelled. */
export function modelledFor({ verdict, device_model }: Report): string | null {
  return verdict.modelled === true ? (device_model.device ?? 'the model\u2019s device') : null;
}

export function direction(name: string): string {
  return DIRECTIONS[name] ?? name;
}

/** Of what exec put in its place nothing is known. */
export function hasFailed({ end_reason, exit_code, exit_signal }: Report['process']): boolean {
  return end_reason !== 'exec' && ((exit_code ?? 0) !== 0 || (exit_signal ?? 0) !== 0);
}

/** "exit status 1", "ended by signal 11", "exit"; null: not known. */
export function endOf(process: Report['process']): string | null {
  if (!hasFailed(process)) return process.end_reason;
  return (process.exit_signal ?? 0) !== 0
    ? `ended by signal ${process.exit_signal}`
    : `exit status ${process.exit_code}`;
}

const CLASSES: Record<string, string> = { '-': '', pinned: 'page-locked', unknown: 'of unknown kind' };

export function hostClass(name: string): string {
  return CLASSES[name] ?? name;
}

/** A mark beside the word, so that the colour is never alone. */
export const SEVERITY_MARK: Record<Severity, string> = { high: '▲', medium: '◆', low: '●', note: '○' };
export const SEVERITIES: Severity[] = ['high', 'medium', 'low', 'note'];

export const OUTCOME_MARK: Record<RuleRow['outcome'], string> = {
  fail: '▲',
  pass: '✓',
  'not applicable': '–',
  'could not check': '?',
};

const CATEGORIES: [string, string][] = [
  ['1', 'transfers'],
  ['2', 'allocations'],
  ['3', 'memory accesses of kernels'],
  ['4', 'shared memory'],
  ['5', 'launches and occupancy'],
];

/** Of a rule, by the hundreds of its id: "GM102" is about transfers. */
export function category(rule: string): string {
  return CATEGORIES.find(([digit]) => rule.startsWith(`GM${digit}`))?.[1] ?? 'other';
}

/** How sure the saving is. */
export function confidence(report: Report, of: Finding['confidence']): string {
  switch (of) {
    case 'proven':
      return 'proven: a fix was tried on the program, results are equal, and it gains';
    case 'measured':
      return 'measured: from times of this run';
    case 'calibrated':
      return report.device_model.match === 'another board'
        ? 'calibrated on another device of this GPU: priced with the times of reference kernels and copies there'
        : 'calibrated: priced with the times of reference kernels and copies on this device';
    case 'modelled':
      return 'modelled: priced with a model of the resources, or with the device model of another GPU';
    default:
      return 'heuristic: a threshold was crossed; there is no price';
  }
}

const EFFORTS: Record<string, string> = {
  small: 'small: a line or two in one place',
  medium: 'medium: a function is rewritten',
  large: 'large: data layout or structure changes',
};

export function effort(name: string): string {
  return EFFORTS[name] ?? name;
}

/** "1 copy", "2 copies". */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}
