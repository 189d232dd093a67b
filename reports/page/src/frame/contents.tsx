// SPDX-License-Identifier: Apache-2.0
// The contents, which stay in sight: links to the sections, the theme, and a link to this view.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SectionRow } from '../app';
import { copyText } from '../parts/csv';
import { say } from '../parts/say';
import { clearRange, useRange } from '../range';
import { rangeText } from '../span';
import { formatHash, go, parseHash } from '../state';
import { getTheme, setTheme, useTheme, type Theme } from '../theme';
import { openKeys } from './keys';

const THEMES: Theme[] = ['system', 'light', 'dark'];

/** The section that crosses a line a third down the window. */
function useCurrent(ids: string): string {
  const [current, setCurrent] = useState('');
  useEffect(() => {
    const watch = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) if (entry.isIntersecting) setCurrent(entry.target.id);
      },
      { rootMargin: '-33% 0px -66% 0px' },
    );
    for (const id of ids.split(' ')) {
      const element = document.getElementById(id);
      if (element !== null) watch.observe(element);
    }
    return () => watch.disconnect();
  }, [ids]);
  return current;
}

async function copyLink(section: string) {
  const { choices } = parseHash(location.hash);
  const link = location.href.replace(/#.*$/s, '') + formatHash(section, choices);
  say((await copyText(link)) ? 'Copied the link to this view' : 'The browser does not let this page copy');
}

function ThemeChoice() {
  useTheme();
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select value={getTheme()} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        {THEMES.map((name) => (
          <option value={name}>{name === 'system' ? 'system theme' : name}</option>
        ))}
      </select>
    </label>
  );
}

/** What the sections are limited to, while a time is selected in the timeline. */
function RangeChip() {
  const range = useRange();
  if (range === null) return null;
  return (
    <button type="button" class="range-chip" onClick={clearRange} title="Show the whole run again">
      Only {rangeText(range)} ×
    </button>
  );
}

/** keys: there is a list of keys to open. */
export function Contents({ sections, keys = true }: { sections: Pick<SectionRow, 'id' | 'title'>[]; keys?: boolean }) {
  const current = useCurrent(sections.map(({ id }) => id).join(' '));
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // Where the list itself scrolls (narrow windows), the current link stays in sight.
    const link = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (link && list.current) list.current.scrollLeft = link.offsetLeft - list.current.clientWidth / 3;
  }, [current]);
  return (
    <nav class="contents" aria-label="Sections">
      <ul ref={list}>
        {sections.map(({ id, title }) => (
          <li>
            <a
              href={`#${id}`}
              aria-current={id === current ? 'true' : undefined}
              onClick={(event) => {
                event.preventDefault();
                go(id);
              }}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
      <div class="contents-tools">
        <RangeChip />
        <button type="button" onClick={() => copyLink(current)} aria-label="Copy link to this view">
          Copy link
        </button>
        {keys && (
          <button type="button" onClick={openKeys} aria-label="? Keys" aria-haspopup="dialog">
            ?
          </button>
        )}
        <ThemeChoice />
      </div>
    </nav>
  );
}
