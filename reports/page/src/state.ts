// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen, kept in the URL's fragment so that a link shows the same view:
// #findings&f.rule=GM101&t.from=12. The first word without "=" is the section.
import { useCallback, useEffect, useState } from 'preact/hooks';

export type Choices = Record<string, string>;

export function parseHash(hash: string): { section: string; choices: Choices } {
  const choices: Choices = {};
  let section = '';
  for (const part of hash.replace(/^#/, '').split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    try {
      if (equals < 0) section = decodeURIComponent(part);
      else choices[decodeURIComponent(part.slice(0, equals))] = decodeURIComponent(part.slice(equals + 1));
    } catch {
      /* a mangled link: that choice is left out */
    }
  }
  return { section, choices };
}

export function formatHash(section: string, choices: Choices): string {
  const parts = Object.keys(choices)
    .sort()
    .map((key) => `${encodeURIComponent(key)}=${encodeURIComponent(choices[key])}`);
  if (section !== '') parts.unshift(encodeURIComponent(section));
  return parts.length > 0 ? `#${parts.join('&')}` : '#';
}

const listeners = new Set<() => void>();

function current() {
  return parseHash(location.hash);
}

function write(section: string, choices: Choices, jump: boolean) {
  const hash = formatHash(section, choices);
  // Only a jump is an entry in the history: "back" returns from it. A key stroke is none.
  if (jump && hash !== location.hash) history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
  for (const listener of [...listeners]) listener();
}

addEventListener('hashchange', () => {
  for (const listener of [...listeners]) listener();
});

/** Calls back after every change of the fragment; returns what ends that. */
export function onState(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function getChoice(key: string): string | undefined {
  return current().choices[key];
}

/** Sets or, with undefined, forgets choices, all at once; jump: "back" returns to how it was. */
export function setChoices(changes: Record<string, string | undefined>, section?: string, jump = false) {
  const now = current();
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete now.choices[key];
    else now.choices[key] = value;
  }
  write(section ?? now.section, now.choices, jump);
}

/** A choice and its setter; the fragment does not hold it while it is the fallback. */
export function useChoice(key: string, fallback: string): [string, (value: string) => void] {
  const [value, setValue] = useState(getChoice(key) ?? fallback);
  useEffect(() => onState(() => setValue(getChoice(key) ?? fallback)), [key, fallback]);
  const set = useCallback(
    (next: string) => setChoices({ [key]: next === fallback ? undefined : next }),
    [key, fallback],
  );
  return [value, set];
}

/** Goes to a section, keeping all choices and making some. */
export function go(section: string, changes: Record<string, string | undefined> = {}) {
  setChoices(changes, section, true);
  const element = document.getElementById(section);
  element?.scrollIntoView();
  element?.focus({ preventScroll: true }); // the next Tab goes on from there
}
