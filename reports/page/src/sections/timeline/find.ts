// SPDX-License-Identifier: Apache-2.0
// Search: every word must be in one of an event's names. Names are few and events many, so that words are
// sought in the names, and rows only look up whether theirs matched.
import { kindOf, streamName, threadName, type Events } from './events';
import { kindTitle } from './looks';
import { lowerBound } from './sort';

interface Field {
  index: ArrayLike<number>;
  matched: boolean[];
}

function fieldsOf(events: Events, word: string): Field[] {
  const { names, report, threads, streams } = events.head;
  const matches = (text: string) => text.toLowerCase().includes(word);
  return [
    { index: events.api, matched: names.api.map(matches) },
    { index: events.kernel, matched: report.kernels.map(({ name }) => matches(name)) },
    { index: events.kind, matched: names.kind.map((kind) => matches(kind) || matches(kindTitle(kind))) },
    { index: events.thread, matched: threads.map((_, i) => matches(threadName(events.head, i))) },
    { index: events.stream, matched: streams.map((_, i) => matches(streamName(events.head, i))) },
  ];
}

/** Rows that match, ascending. Nothing for no words. */
export function find(events: Events, text: string): Uint32Array {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return new Uint32Array(0);
  const sought = words.map((word) => ({
    fields: fieldsOf(events, word).filter(({ matched }) => matched.includes(true)),
    // Only copies have a direction and a class of memory; other kinds hold any number there.
    copies: [
      {
        index: events.direction,
        matched: events.head.names.direction.map((name) => name.toLowerCase().includes(word)),
      },
      {
        index: events.hostClass,
        matched: events.head.names.host_class.map((name) => name.toLowerCase().includes(word)),
      },
    ],
  }));
  const found: number[] = [];
  for (let row = 0; row < events.rows; row++) {
    const hit = ({ index, matched }: Field) => matched[index[row]] === true;
    if (
      sought.every(({ fields, copies }) => fields.some(hit) || (kindOf(events, row) === 'transfer' && copies.some(hit)))
    )
      found.push(row);
  }
  return Uint32Array.from(found);
}

/** The hit after (or before) a row, round the end. -1: no hits. */
export function nextHit(hits: Uint32Array, row: number, step: 1 | -1): number {
  if (hits.length === 0) return -1;
  const at = lowerBound(hits, row, step > 0);
  const next = step > 0 ? at : at - 1;
  return hits[(next + hits.length) % hits.length];
}
