// SPDX-License-Identifier: Apache-2.0
// The frame of a page over several traces: its head, contents, and what catches a section that fails.
import type { ComponentChildren } from 'preact';
import { Contents } from '../frame/contents';
import { Guard } from '../frame/guard';
import { Announcer } from '../parts/say';
import './diff.css';

export interface Part {
  id: string;
  title: string;
  body: ComponentChildren;
}

interface Props {
  title: string;
  facts: string;
  parts: Part[];
  toolVersion: string;
  reproduce: string | undefined;
}

export function SeveralPage({ title, facts, parts, toolVersion, reproduce }: Props) {
  return (
    <>
      <header class="masthead">
        <p class="brand">gmtrace</p>
        <h1>{title}</h1>
        <p class="dim">{facts}</p>
      </header>
      <Contents sections={parts} keys={false} />
      <main>
        {parts.map(({ id, title: name, body }) => (
          <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>{name}</h2>
            <Guard title={name}>{body}</Guard>
          </section>
        ))}
      </main>
      <footer class="dim">
        <p>gmtrace {toolVersion}</p>
        {reproduce && (
          <p>
            <code>{reproduce}</code>
          </p>
        )}
      </footer>
      <Announcer />
    </>
  );
}
