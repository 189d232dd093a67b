// SPDX-License-Identifier: Apache-2.0
// Which findings are shown and in which order: what the reader wishes, as it stands in the URL.
import type { Range } from '../../span';
import type { Finding } from '../../report';
import { category, SEVERITIES } from '../../words';

/** Empty: any. */
export interface Wish {
  sort: string;
  category: string;
  rule: string;
  severity: string;
  kernel: string;
  /** Of the program's own, as NVTX names them. */
  range: string;
  text: string;
  /** ns from the first CUDA call: only findings with calls or launches in that time. */
  from: string;
  to: string;
}

export type Claims = Record<string, [number, number][]>;

/** Keys of the URL: "f.rule". */
export const WISH_KEYS: (keyof Wish)[] = ['sort', 'category', 'rule', 'severity', 'kernel', 'range', 'text', 'from', 'to'];
export const SORTS: Record<string, string> = { saving: 'saving', severity: 'severity', place: 'place' };

/** What a filter by choice looks at. */
export const FACETS: {
  key: 'category' | 'rule' | 'severity' | 'kernel' | 'range';
  title: string;
  of: (f: Finding) => string;
}[] = [
  { key: 'category', title: 'Category', of: ({ rule }) => category(rule) },
  { key: 'rule', title: 'Rule', of: ({ rule }) => rule },
  { key: 'severity', title: 'Severity', of: ({ severity }) => severity },
  { key: 'kernel', title: 'Kernel', of: ({ where }) => where.kernel ?? '' },
  { key: 'range', title: 'Range', of: ({ range }) => range ?? '' },
];

function words({ rule, slug, title, headline, where, fix }: Finding): string {
  const frames = where.stack.map((frame) => `${frame.function} ${frame.file}`);
  return [rule, slug, title, headline, where.label, where.function, where.file, where.api, where.kernel, fix, ...frames]
    .filter(Boolean)
    .join(' ')
    .toLowerCase();
}

function touches(claims: [number, number][] | undefined, from: number, to: number): boolean {
  return (claims ?? []).some(([begin, end]) => begin <= to && end >= from);
}

function bound(text: string, open: number): number {
  const value = Number(text);
  return text === '' || Number.isNaN(value) ? open : value;
}

function wanted(finding: Finding, wish: Wish, claims: Claims, range: Range | null): boolean {
  if (range !== null && !touches(claims[finding.fingerprint], range[0], range[1])) return false;
  if (FACETS.some(({ key, of }) => wish[key] !== '' && of(finding) !== wish[key])) return false;
  if (wish.from !== '' || wish.to !== '') {
    if (!touches(claims[finding.fingerprint], bound(wish.from, -Infinity), bound(wish.to, Infinity))) return false;
  }
  const needles = wish.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (needles.length === 0) return true;
  const text = words(finding);
  return needles.every((needle) => text.includes(needle));
}

/** As the report ranks them, which it is sorted by: what equals here keeps that order. */
function byRank(): number {
  return 0;
}

function bySeverity(a: Finding, b: Finding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
}

/** By file and line; what has no file behind it, by its label. */
function byPlace(a: Finding, b: Finding): number {
  const [x, y] = [a.where, b.where];
  if ((x.file === null) !== (y.file === null)) return x.file === null ? 1 : -1;
  return (x.file ?? x.label).localeCompare(y.file ?? y.label) || (x.line ?? 0) - (y.line ?? 0);
}

const ORDERS: Record<string, (a: Finding, b: Finding) => number> = {
  saving: byRank,
  severity: bySeverity,
  place: byPlace,
};

export function choose(findings: Finding[], wish: Wish, claims: Claims, range: Range | null = null): Finding[] {
  return findings.filter((finding) => wanted(finding, wish, claims, range)).sort(ORDERS[wish.sort] ?? byRank);
}

/** Notes by their reason, in the order of the first of each. */
export function byReason(notes: Finding[]): [string, Finding[]][] {
  const groups = new Map<string, Finding[]>();
  for (const note of notes) {
    const why = note.note ?? '';
    groups.set(why, [...(groups.get(why) ?? []), note]);
  }
  return [...groups];
}

/** The values of a facet with how many findings have each, most frequent first; none where all are alike. */
export function valuesOf(findings: Finding[], of: (f: Finding) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const finding of findings) {
    const value = of(finding);
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

export function isFiltering(wish: Wish): boolean {
  return WISH_KEYS.some((key) => key !== 'sort' && wish[key] !== '');
}
