// SPDX-License-Identifier: Apache-2.0
// Keys that work all over the page, and the short list of them that `?` opens.
import { useEffect, useRef } from 'preact/hooks';
import type { SectionRow } from '../app';
import { go } from '../state';

const DIALOG = 'keys';

export function openKeys() {
  (document.getElementById(DIALOG) as HTMLDialogElement | null)?.showModal();
}

/** Moves the focus to the next finding, or with -1 to the one before. */
function step(by: number) {
  const heads = [...document.querySelectorAll<HTMLElement>('#findings [data-finding] h3 button')];
  if (heads.length === 0) return;
  const at = heads.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (by > 0 ? 0 : heads.length - 1) : Math.max(0, Math.min(heads.length - 1, at + by));
  heads[next].focus();
  heads[next].scrollIntoView({ block: 'nearest' });
}

interface Key {
  key: string;
  /** As it is shown, where that differs. */
  shown?: string;
  text: string;
  act?: () => void;
}

const KEYS: Key[] = [
  { key: '?', text: 'this list', act: openKeys },
  { key: 'n', text: 'next finding', act: () => step(1) },
  { key: 'p', text: 'previous finding', act: () => step(-1) },
  {
    key: '/',
    text: 'search the findings',
    act: () => {
      go('findings');
      document.getElementById('findings-text')?.focus();
    },
  },
  { key: '', shown: '1 … 9', text: 'go to that section' },
  { key: '', shown: 'Enter', text: 'open or close what has the focus' },
  {
    key: '',
    shown: 'W A S D',
    text: 'zoom and move in the timeline, while it has the focus (more keys are listed below it)',
  },
  { key: '', shown: 'Esc', text: 'leave a text field, or close this list' },
];

/** True where keys are text, or belong to a canvas or a list of choices. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  return (
    event.defaultPrevented ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target?.closest('input, select, textarea, canvas, dialog, [role=application], [data-keys]') != null
  );
}

export function Keys({ sections }: { sections: SectionRow[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && event.target instanceof HTMLInputElement) {
        event.preventDefault(); // what was typed stays, and the next key is the page's
        event.target.blur();
        return;
      }
      if (isTaken(event)) return;
      const section = /^[1-9]$/.test(event.key) ? sections[Number(event.key) - 1] : undefined;
      const act = section ? () => go(section.id) : KEYS.find(({ key }) => key === event.key)?.act;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [sections]);
  return (
    <dialog id={DIALOG} ref={dialog} aria-labelledby="keys-title" class="keys">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(({ key, shown, text }) => (
          <div>
            <dt>
              <kbd>{shown ?? key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
