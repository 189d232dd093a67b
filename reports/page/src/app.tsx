// SPDX-License-Identifier: Apache-2.0
// The page from top to bottom: title, contents, and one section after the other.
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Contents } from './frame/contents';
import { Guard } from './frame/guard';
import { Keys } from './frame/keys';
import { Masthead } from './frame/masthead';
import { Announcer } from './parts/say';
import type { Payload } from './payload';
import { About } from './sections/about';
import { Calls } from './sections/calls';
import { Checks } from './sections/checks';
import { Findings } from './sections/findings';
import { Kernels } from './sections/kernels';
import { Memory } from './sections/memory';
import { Timeline } from './sections/timeline';
import { Transfers } from './sections/transfers';
import { Verdict } from './sections/verdict';
import { parseHash } from './state';

export interface SectionProps {
  payload: Payload;
}

export interface SectionRow {
  id: string;
  title: string;
  body: ComponentType<SectionProps>;
}

/** A new section is a row here and a file in sections/. */
const SECTIONS: SectionRow[] = [
  { id: 'verdict', title: 'Verdict', body: Verdict },
  { id: 'findings', title: 'Findings', body: Findings },
  { id: 'timeline', title: 'Timeline', body: Timeline },
  { id: 'memory', title: 'Memory', body: Memory },
  { id: 'transfers', title: 'Transfers', body: Transfers },
  { id: 'kernels', title: 'Kernels', body: Kernels },
  { id: 'calls', title: 'Call sites', body: Calls },
  { id: 'checks', title: 'Checks', body: Checks },
  { id: 'about', title: 'About', body: About },
];

/** The browser looks for an element with the whole fragment as its id: the first word is meant. */
function useFragment() {
  useEffect(() => {
    const jump = () => {
      const { section, choices } = parseHash(location.hash);
      // A link to one finding: the finding brings itself into sight.
      if (section === 'findings' && choices.f !== undefined) return;
      if (SECTIONS.some(({ id }) => id === section)) document.getElementById(section)?.scrollIntoView();
    };
    // Once the plots above have their height.
    const frame = requestAnimationFrame(() => requestAnimationFrame(jump));
    addEventListener('hashchange', jump);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('hashchange', jump);
    };
  }, []);
}

export function App({ payload }: SectionProps) {
  useFragment();
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
      <Contents sections={SECTIONS} />
      <main>
        {SECTIONS.map(({ id, title, body: Body }) => (
          <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>{title}</h2>
            <Guard title={title}>
              <Body payload={payload} />
            </Guard>
          </section>
        ))}
      </main>
      <Keys sections={SECTIONS} />
      <Announcer />
    </>
  );
}
