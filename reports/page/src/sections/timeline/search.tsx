// SPDX-License-Identifier: Apache-2.0
// The search box: as one types, hits are counted and marked; Enter goes to the next, Shift+Enter back.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useChoice } from '../../state';
import type { Events } from './events';
import { find, nextHit } from './find';

interface Props {
  events: Events;
  selected: number;
  onHits: (hits: Uint32Array) => void;
  onGo: (row: number) => void;
}

const WAIT_MS = 150;

export function Search({ events, selected, onHits, onGo }: Props) {
  const [text, setText] = useChoice('t.q', '');
  const [sought, setSought] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSought(text), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const hits = useMemo(() => find(events, sought), [events, sought]);
  useEffect(() => onHits(hits), [hits]);
  const walk = (step: 1 | -1) => {
    // Enter right after the last letter: the search has not waited for it yet.
    const now = sought === text ? hits : find(events, text);
    setSought(text);
    const row = nextHit(now, selected, step);
    if (row >= 0) onGo(row);
  };
  const at = hits.indexOf(selected);
  const said =
    sought.trim() === ''
      ? ''
      : at >= 0
        ? `${(at + 1).toLocaleString('en-US')} of ${hits.length.toLocaleString('en-US')}`
        : `${hits.length.toLocaleString('en-US')} found`;
  return (
    <search class="t-search">
      <input
        type="search"
        placeholder="Find call, kernel, h2d …"
        aria-label="Find events in the timeline"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          walk(event.shiftKey ? -1 : 1);
        }}
      />
      <button type="button" aria-label="Previous hit" disabled={hits.length === 0} onClick={() => walk(-1)}>
        ↑
      </button>
      <button type="button" aria-label="Next hit" disabled={hits.length === 0} onClick={() => walk(1)}>
        ↓
      </button>
      <span class="dim" role="status">
        {said}
      </span>
    </search>
  );
}
