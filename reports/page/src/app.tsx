// SPDX-License-Identifier: Apache-2.0
// The page from top to bottom: title, contents, and one section after the other.
import type { ComponentType } from 'preact';
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
import { go } from './state';
import { getTheme, setTheme, useTheme, type Theme } from './theme';

export interface SectionProps {
  payload: Payload;
}

/** A new section is a row here and a file in sections/. */
const SECTIONS: { id: string; title: string; body: ComponentType<SectionProps> }[] = [
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

const THEMES: Theme[] = ['system', 'light', 'dark'];

function Masthead({ payload }: SectionProps) {
  const { report } = payload.head;
  const theme = useTheme();
  const facts = [
    report.device.name ?? 'no GPU recorded',
    report.device.compute_capability && `compute ${report.device.compute_capability}`,
    report.device.driver_version && `driver ${report.device.driver_version}`,
    report.process.hostname,
    report.trace,
  ].filter(Boolean);
  return (
    <header class="masthead">
      <p class="brand">gmtrace</p>
      <h1>{report.process.command ?? report.trace}</h1>
      <p class="dim">{facts.join(' · ')}</p>
      {report.device.software && <p class="device">software device: exact counts, no times</p>}
      <nav aria-label="Sections">
        {SECTIONS.map(({ id, title }) => (
          <a
            href={`#${id}`}
            onClick={(event) => {
              event.preventDefault();
              go(id);
            }}
          >
            {title}
          </a>
        ))}
        <label class="theme">
          <span class="dim">Theme</span>
          <select
            value={getTheme()}
            onChange={(event) => setTheme(event.currentTarget.value as Theme)}
            data-theme-now={theme}
          >
            {THEMES.map((name) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </label>
      </nav>
    </header>
  );
}

export function App({ payload }: SectionProps) {
  return (
    <>
      <Masthead payload={payload} />
      <main>
        {SECTIONS.map(({ id, title, body: Body }) => (
          <section id={id} aria-labelledby={`${id}-title`}>
            <h2 id={`${id}-title`}>{title}</h2>
            <Body payload={payload} />
          </section>
        ))}
      </main>
    </>
  );
}
