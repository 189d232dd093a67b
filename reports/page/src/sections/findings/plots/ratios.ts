// SPDX-License-Identifier: Apache-2.0
// What accesses took against the least that they could take: sectors, passes, words.
import type { Finding } from '../../../report';

export interface Ratio {
  label: string;
  value: number;
  ideal: number;
}
export interface Ratios {
  title: string;
  rows: Ratio[];
}

/** Below that the bars look alike. */
const WORTH = 1.02;

type Read = (name: string) => number;

/** Sectors of a request, and the fewest that its bytes could lie in. */
function sectors(read: Read, kind: 'load' | 'store'): Ratio {
  const all = read(`${kind}_sectors`);
  const value = read(`${kind}_sectors_per_request`);
  return { label: `${kind}s`, value, ideal: (value * read(`${kind}_ideal_sectors`)) / all };
}

const PICTURES: { of: RegExp; title: string; rows: (read: Read) => Ratio[] }[] = [
  {
    of: /^GM3(0[1-59]|10)$/,
    title: 'Sectors per request, and the fewest possible',
    rows: (read) => [sectors(read, 'load'), sectors(read, 'store')],
  },
  {
    of: /^GM307$/,
    title: 'Different words per load of constants; one is served at once',
    rows: (read) => [{ label: 'loads', value: read('words_per_load'), ideal: 1 }],
  },
  {
    of: /^GM308$/,
    title: 'How often each byte is read; once is enough where it is kept',
    rows: (read) => [{ label: 'reads', value: read('reads_of_each_byte'), ideal: 1 }],
  },
  {
    of: /^GM4/,
    title: 'Wavefronts (passes) through shared memory, as multiples of the ideal',
    rows: (read) => [
      { label: 'loads', value: read('load_ways'), ideal: 1 },
      { label: 'stores', value: read('store_ways'), ideal: 1 },
      { label: 'all', value: read('wavefronts') / read('ideal_wavefronts'), ideal: 1 },
    ],
  },
];

/** null: the rule is about something else, or its numbers are not known. */
export function ratios(finding: Finding): Ratios | null {
  const picture = PICTURES.find(({ of }) => of.test(finding.rule));
  if (picture === undefined) return null;
  const rows = picture
    .rows((name) => finding.evidence[name]?.value ?? NaN)
    .filter(({ value, ideal }) => value > 0 && ideal > 0);
  return rows.some(({ value, ideal }) => value > WORTH * ideal) ? { title: picture.title, rows } : null;
}
