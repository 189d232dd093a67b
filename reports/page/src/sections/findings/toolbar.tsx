// SPDX-License-Identifier: Apache-2.0
// Order and filters of the findings.
import { useEffect, useState } from 'preact/hooks';
import type { Finding } from '../../report';
import { getChoice, onState, setChoices } from '../../state';
import { FACETS, isFiltering, SORTS, valuesOf, WISH_KEYS, type Wish } from './select';

function read(): Wish {
  const wish = Object.fromEntries(WISH_KEYS.map((key) => [key, getChoice(`f.${key}`) ?? ''])) as unknown as Wish;
  return { ...wish, sort: wish.sort in SORTS ? wish.sort : 'saving' };
}

export function setWish(changes: Partial<Wish>) {
  setChoices(
    Object.fromEntries(
      Object.entries(changes).map(([key, value]) => [
        `f.${key}`,
        value === '' || (key === 'sort' && value === 'saving') ? undefined : value,
      ]),
    ),
  );
}

export function clearFilters() {
  setWish(Object.fromEntries(WISH_KEYS.filter((key) => key !== 'sort').map((key) => [key, ''])));
}

export function useWish(): Wish {
  const [wish, setState] = useState(read);
  useEffect(() => {
    const again = () =>
      setState((old) => {
        const now = read();
        return WISH_KEYS.every((key) => old[key] === now[key]) ? old : now;
      });
    again();
    return onState(again);
  }, []);
  return wish;
}

function Choice({
  title,
  field,
  wish,
  options,
}: {
  title: string;
  field: keyof Wish;
  wish: Wish;
  options: [string, string][];
}) {
  return (
    <label class={field === 'sort' ? undefined : 'filters-more'}>
      <span class="dim">{title}</span>
      <select
        aria-label={title}
        value={wish[field]}
        onChange={(event) => setWish({ [field]: event.currentTarget.value })}
      >
        {options.map(([value, text]) => (
          <option value={value}>{text}</option>
        ))}
      </select>
    </label>
  );
}

const NS_PER_MS = 1e6;

function Bound({ label, field, wish }: { label: string; field: 'from' | 'to'; wish: Wish }) {
  const set = (text: string) => setWish({ [field]: text === '' ? '' : String(Math.round(Number(text) * NS_PER_MS)) });
  return (
    <input
      type="number"
      min="0"
      step="any"
      aria-label={label}
      placeholder={field}
      value={wish[field] === '' ? '' : Number(wish[field]) / NS_PER_MS}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}

interface Props {
  /** All of them: what can be chosen does not depend on what is. */
  findings: Finding[];
  wish: Wish;
  timed: boolean;
}

export function Toolbar({ findings, wish, timed }: Props) {
  const filtering = isFiltering(wish);
  const [folded, setFolded] = useState(!filtering); // in narrow windows only
  return (
    <div class={folded ? 'filters folded' : 'filters'} role="search" aria-label="Findings">
      <label class="filters-text">
        <span class="dim">Search</span>
        <input
          id="findings-text"
          type="search"
          value={wish.text}
          onInput={(event) => setWish({ text: event.currentTarget.value })}
        />
      </label>
      <Choice title="Sort by" field="sort" wish={wish} options={Object.entries(SORTS)} />
      <button type="button" class="filters-fold" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
        {folded ? 'More filters' : 'Fewer filters'}
      </button>
      {FACETS.map(({ key, title, of }) => {
        const values = valuesOf(findings, of);
        if (values.length < 2 && wish[key] === '') return null;
        const options = values.map(([value, count]): [string, string] => [value, `${value} (${count})`]);
        return <Choice key={key} title={title} field={key} wish={wish} options={[['', 'all'], ...options]} />;
      })}
      {timed && (
        <fieldset class="filters-more">
          <legend class="dim">Within (ms of the run)</legend>
          <Bound label="From, ms" field="from" wish={wish} />
          <Bound label="To, ms" field="to" wish={wish} />
        </fieldset>
      )}
      {filtering && (
        <button type="button" onClick={clearFilters}>
          Clear filters
        </button>
      )}
    </div>
  );
}
