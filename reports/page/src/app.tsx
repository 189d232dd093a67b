// SPDX-License-Identifier: Apache-2.0
// The page from top to bottom: title, contents, and one section after the other.
import type { ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Contents } from './frame/contents';
import { Guard } from './frame/guard';
import { Keys } from './frame/keys';
import { Masthead } from './frame/masthead';
import { setEditor } from './parts/place-link';
import { Announcer } from './parts/say';
import type { Payload } from './payload';
import { setTimed } from './range';
import { About } from './sections/about';
import { Api } from './sections/api';
import { Calls } from './sections/calls';
import { Checks } from './sections/checks';
import { Failed } from './sections/failed';
import { Findings } from './sections/findings';
import { Idle } from './sections/idle';
import { Kernels } from './sections/kernels';
import { Memory } from './sections/memory';
import { Ranges } from './sections/ranges';
import { Timeline } from './sections/timeline';
import { timesMeanNothing } from './sections/timeline/events';
import { Transfers } from './sections/transfers';
import { Verdict } from './sections/verdict';
import { parseHash } from './state';
import { isPrinting, useTheme } from './theme';

export interface SectionProps {
  payload: Payload;
}

export interface SectionRow {
  id: string;
  title: string;
  body: ComponentType<SectionProps>;
  /** Where it says nothing of others; in every page where absent. */
  where?: (payload: Payload) => boolean;
}

/** A new section is a row here and a file in sections/. */
const SECTIONS: SectionRow[] = [
  { id: 'verdict', title: 'Verdict', body: Verdict },
  { id: 'findings', title: 'Findings', body: Findings },
  { id: 'failed', title: 'Failed calls', body: Failed, where: ({ head }) => head.report.failed_calls !== undefined },
  { id: 'timeline', title: 'Timeline', body: Timeline },
  { id: 'idle', title: 'Idle time', body: Idle },
  { id: 'memory', title: 'Memory', body: Memory },
  { id: 'transfers', title: 'Transfers', body: Transfers },
  { id: 'kernels', title: 'Kernels', body: Kernels },
  { id: 'api', title: 'CUDA calls', body: Api },
  { id: 'calls', title: 'Call sites', body: Calls },
  { id: 'ranges', title: 'Ranges', body: Ranges, where: ({ head }) => (head.report.range_tree?.length ?? 0) > 0 },
  { id: 'checks', title: 'Checks', body: Checks },
  { id: 'about', title: 'About', body: About },
];

const FIRST = 2; // sections that the page opens with; the others follow one by one

/**
 * How many sections are there. A million calls take seconds to be laid out in all of them: what is read
 * first shall not wait for that. On paper there are all.
 */
function useArrived(all: number): number {
  const [arrived, setArrived] = useState(FIRST);
  useTheme(); // renders again before it is printed
  useEffect(() => {
    if (arrived === all) return;
    // The browser draws, and hears the reader, in between.
    const timer = setTimeout(() => setArrived(arrived + 1), 0);
    return () => clearTimeout(timer);
  }, [arrived, all]);
  return isPrinting() ? all : arrived;
}

/** The browser looks for an element with the whole fragment as its id: the first word is meant. */
function useFragment(complete: boolean) {
  const moved = useRef(false);
  useEffect(() => {
    const move = () => void (moved.current = true);
    const signs = ['wheel', 'pointerdown', 'keydown'];
    for (const sign of signs) addEventListener(sign, move, { passive: true, capture: true });
    return () => signs.forEach((sign) => removeEventListener(sign, move, { capture: true }));
  }, []);
  useEffect(() => {
    const jump = () => {
      const { section, choices } = parseHash(location.hash);
      // A link to one finding: the finding brings itself into sight.
      if (section === 'findings' && choices.f !== undefined) return;
      if (SECTIONS.some(({ id }) => id === section)) document.getElementById(section)?.scrollIntoView();
    };
    // At once, and again when what comes before has its height, unless the reader has gone elsewhere.
    const frame = requestAnimationFrame(() => requestAnimationFrame(() => moved.current || jump()));
    addEventListener('hashchange', jump);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('hashchange', jump);
    };
  }, [complete]);
}

export function App({ payload }: SectionProps) {
  setEditor(payload.head.editor_url);
  setTimed(!timesMeanNothing(payload.head));
  const sections = useMemo(() => SECTIONS.filter(({ where }) => where === undefined || where(payload)), [payload]);
  const arrived = useArrived(sections.length);
  const complete = arrived === sections.length;
  useFragment(complete);
  useEffect(() => {
    if (complete) document.documentElement.dataset.ready = 'yes';
  }, [complete]);
  // The same elements each time, so that one that arrives renders no other again.
  const bodies = useMemo(
    () =>
      sections.map(({ title, body: Body }) => (
        <Guard title={title}>
          <Body payload={payload} />
        </Guard>
      )),
    [sections, payload],
  );
  return (
    <>
      <a
        class="skip"
        href="#findings"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('findings')?.focus();
        }}
      >
        Skip to the findings
      </a>
      <Masthead payload={payload} />
      <Contents sections={sections} />
      <main>
        {sections.map(({ id, title }, i) => (
          <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>{title}</h2>
            {i < arrived ? bodies[i] : <p class="later dim">…</p>}
          </section>
        ))}
      </main>
      <Keys sections={sections} />
      <Announcer />
    </>
  );
}
