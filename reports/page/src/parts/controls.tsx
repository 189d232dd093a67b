// SPDX-License-Identifier: Apache-2.0
// Choices above a plot or a table; what is chosen stands in the URL.
import type { ComponentChildren } from 'preact';
import { useChoice } from '../state';
import { DASHES, LineIcon, ShapeIcon } from './shapes';
import './controls.css';

export function Controls({ children }: { children: ComponentChildren }) {
  return <div class="controls">{children}</div>;
}

interface PickProps {
  /** In the URL. */
  id: string;
  label: string;
  /** [value, text]; the first is the fallback. */
  options: readonly (readonly [string, string])[];
}

/** One of a few. A value that is none of them is the first. */
export function usePick(id: string, options: PickProps['options']): [string, (value: string) => void] {
  const fallback = options[0]?.[0] ?? '';
  const [value, set] = useChoice(id, fallback);
  return [options.some(([name]) => name === value) ? value : fallback, set];
}

export function Pick({ id, label, options }: PickProps) {
  const [value, set] = usePick(id, options);
  return (
    <label>
      <span class="dim">{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option value={name}>{text}</option>
        ))}
      </select>
    </label>
  );
}

export function useFlag(id: string): [boolean, (on: boolean) => void] {
  const [value, set] = useChoice(id, '');
  return [value === '1', (on) => set(on ? '1' : '')];
}

export function Flag({ id, label }: { id: string; label: string }) {
  const [on, set] = useFlag(id);
  return (
    <label>
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

/** Names that were switched off, as a set and what switches one. */
export function useOff(id: string): [Set<string>, (name: string) => void] {
  const [text, set] = useChoice(id, '');
  const off = new Set(text === '' ? [] : text.split('.'));
  const toggle = (name: string) => {
    if (!off.delete(name)) off.add(name);
    set([...off].sort().join('.'));
  };
  return [off, toggle];
}

interface KeysProps {
  label: string;
  entries: { name: string; label: string; on: boolean; shape?: number; color?: number; dash?: number }[];
  toggle: (name: string) => void;
}

/** A legend whose entries switch what they name. */
export function Keys({ label, entries, toggle }: KeysProps) {
  return (
    <div class="chips" role="group" aria-label={label}>
      <span class="dim">{label}</span>
      {entries.map((entry) => (
        <button type="button" aria-pressed={entry.on} onClick={() => toggle(entry.name)}>
          {entry.shape !== undefined && <ShapeIcon index={entry.shape} />}
          {entry.color !== undefined && (
            <LineIcon color={entry.color} dash={DASHES[(entry.dash ?? 0) % DASHES.length]} />
          )}
          {entry.label}
        </button>
      ))}
    </div>
  );
}
