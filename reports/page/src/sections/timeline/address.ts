// SPDX-License-Identifier: Apache-2.0
// The timeline's part of the URL: what is shown (t.from, t.to), the range (t.range), and how claims of a
// finding become a stretch.
import type { Head } from '../../payload';
import type { Finding } from '../../report';
import { getChoice, onState, setChoices } from '../../state';
import { place, type Events } from './events';
import type { View } from './view';

const WAIT_MS = 300;

function number(text: string | undefined): number {
  return text === undefined || text === '' ? NaN : Number(text);
}

/** Two ascending numbers out of "from,to"; null: it is none. */
export function parseRange(text: string): [number, number] | null {
  const [from, to, more] = text.split(',').map(number);
  return more === undefined && from < to && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

export function formatRange([from, to]: [number, number]): string {
  return `${Math.round(from * 10) / 10},${Math.round(to * 10) / 10}`;
}

/** Keeps the view and the URL equal; the URL follows when the view has come to rest. */
export function bindAddress(view: View): () => void {
  let written = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = () => `${getChoice('t.from') ?? ''},${getChoice('t.to') ?? ''}`;
  const follow = () => {
    const now = read();
    if (now === written) return;
    written = now;
    const range = parseRange(now);
    if (range !== null) view.set(range[0], range[1]);
    else if (now === ',') view.set(view.low, view.high);
  };
  const write = () => {
    const [from, to] = formatRange([view.from, view.to]).split(',');
    const changes = view.isAll() ? { 't.from': undefined, 't.to': undefined } : { 't.from': from, 't.to': to };
    written = view.isAll() ? ',' : `${from},${to}`;
    if (read() !== written) setChoices(changes);
  };
  written = ',';
  follow();
  const ends = [
    view.onChange(() => {
      clearTimeout(timer);
      timer = setTimeout(write, WAIT_MS);
    }),
    onState(follow),
  ];
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}

export function findingOf(head: Head, fingerprint: string): Finding | undefined {
  return [...head.report.findings, ...head.report.notes].find((finding) => finding.fingerprint === fingerprint);
}

/** The claims of a finding on the x axis, by begin; none for a finding without, or no finding. */
export function placeClaims(events: Events, fingerprint: string): [number, number][] {
  const claims = Object.hasOwn(events.head.claims, fingerprint) ? events.head.claims[fingerprint] : [];
  return claims
    .map(([from, to]): [number, number] => [place(events, from), place(events, to)])
    .sort(([a], [b]) => a - b);
}

/** From the first claim's begin to the last one's end. */
export function hull(claims: [number, number][]): [number, number] | null {
  if (claims.length === 0) return null;
  let [from, to] = claims[0];
  for (const [begin, end] of claims) {
    from = Math.min(from, begin);
    to = Math.max(to, end);
  }
  return [from, to];
}
