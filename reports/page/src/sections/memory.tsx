// SPDX-License-Identifier: Apache-2.0
// Memory: what was in use over time and by whom, at any moment, and what was held unused.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SectionProps } from '../app';
import { bytes, count, ns, share } from '../format';
import { Controls, Pick, usePick } from '../parts/controls';
import { Table, type TableColumn } from '../parts/table';
import { useRange } from '../range';
import { rangeText, touches } from '../span';
import { useChoice } from '../state';
import { Areas, Legend, type Clock } from './memory/areas';
import { Allocators } from './memory/allocators';
import { Live } from './memory/live';
import { allocationsOf, momentAt, placesOf, usageOf, usageWithin, type Allocations, type Place, type Usage } from './memory/model';
import { Whose } from './memory/whose';
import { idleOf, leaksOf, type IdleRow, type LeakRow } from './memory/waste';
import './memory/memory.css';

/** bytes x ns, as bytes x s */
function held(value: number): string {
  return value > 0 ? `${bytes(value / 1e9)}·s` : '0';
}

const LEAKS: (clock: Clock) => TableColumn<LeakRow>[] = (clock) => [
  { key: 'site', title: 'Call site', value: (row) => row.site },
  { key: 'kind', title: 'Kind', value: (row) => row.kind },
  { key: 'count', title: 'Allocations', value: (row) => row.count, show: (row) => count(row.count), numeric: true },
  { key: 'bytes', title: 'Size', value: (row) => row.bytes, show: (row) => bytes(row.bytes), numeric: true },
  { key: 'first', title: 'First at', value: (row) => row.begin, show: (row) => clock(row.begin), numeric: true },
];

const IDLE: TableColumn<IdleRow>[] = [
  { key: 'site', title: 'Call site', value: (row) => row.site },
  { key: 'kind', title: 'Kind', value: (row) => row.kind },
  { key: 'count', title: 'Allocations', value: (row) => row.count, show: (row) => count(row.count), numeric: true },
  { key: 'bytes', title: 'Size', value: (row) => row.bytes, show: (row) => bytes(row.bytes), numeric: true },
  {
    key: 'before',
    title: 'Before first use',
    value: (row) => row.before,
    show: (row) => held(row.before),
    numeric: true,
  },
  { key: 'after', title: 'After last use', value: (row) => row.after, show: (row) => held(row.after), numeric: true },
  {
    key: 'unseen',
    title: 'No use seen',
    value: (row) => row.unseen,
    show: (row) => held(row.unseen),
    numeric: true,
    help: 'of allocations that no copy, memset or launch argument named: used by other ways, or not at all',
  },
  { key: 'idle', title: 'Idle', value: (row) => row.idle, show: (row) => held(row.idle), numeric: true },
  {
    key: 'share',
    title: 'Share of its time',
    value: (row) => row.share,
    show: (row) => share(row.share),
    numeric: true,
  },
];

// The slider moves at once, the link a little later: browsers limit how often it may change.
function useMoment(usage: Usage): [number, (at: number) => void] {
  const [chosen, choose] = useChoice('m.at', '');
  const given = chosen === '' ? NaN : Number(chosen);
  const settled = Number.isFinite(given) ? given : usage.peak.at;
  const [at, setAt] = useState(settled);
  useEffect(() => setAt(settled), [settled]);
  useEffect(() => {
    if (at === settled) return;
    const timer = setTimeout(() => choose(at === usage.peak.at ? '' : String(at)), 250);
    return () => clearTimeout(timer);
  }, [at, settled]);
  return [at, setAt];
}

function Moment({ usage, clock, at, onAt }: { usage: Usage; clock: Clock; at: number; onAt: (at: number) => void }) {
  const index = momentAt(usage.moments, at);
  return (
    <>
      <div class="moment">
        <label for="m-moment">Moment</label>
        <input
          id="m-moment"
          type="range"
          min={0}
          max={usage.moments.length - 1}
          value={index}
          aria-valuetext={`${clock(at)}: ${bytes(usage.total[index])} in use`}
          onInput={(event) => onAt(usage.moments[Number(event.currentTarget.value)])}
        />
        <output for="m-moment">
          {clock(at)}: {bytes(usage.total[index])} in use
        </output>
        <button type="button" disabled={at === usage.peak.at} onClick={() => onAt(usage.peak.at)}>
          To the peak
        </button>
      </div>
      <Legend usage={usage} index={index} />
    </>
  );
}

interface WasteProps {
  all: Allocations;
  place: Place;
  clock: Clock;
  unseen: string | null;
}

function Waste({ all, place, clock, unseen }: WasteProps) {
  const leaks = useMemo(() => leaksOf(all, place), [all, place]);
  const idle = useMemo(() => idleOf(all, place), [all, place]);
  const leaked = leaks.reduce((sum, row) => sum + row.bytes, 0);
  return (
    <>
      <h3>Never freed</h3>
      {leaks.length === 0 ? (
        <p>Every allocation was freed before the end.</p>
      ) : (
        <>
          <p>{bytes(leaked)} were still allocated when the trace ended.</p>
          <Table id="m.leaks" caption="Never freed" columns={LEAKS(clock)} rows={leaks} limit={20} />
        </>
      )}
      <h3>Allocated but idle</h3>
      {unseen !== null ? (
        <p>How long memory was idle is not known: {unseen}.</p>
      ) : !all.timed ? (
        <p>How long memory was idle needs times, which a trace of the software device does not have.</p>
      ) : idle.length === 0 ? (
        <p>Nothing was allocated while idle.</p>
      ) : (
        <>
          <p class="dim">
            Size × time before the first and after the last use by a copy, a memset or a kernel's argument. 1 GiB·s is 1
            GiB for a second.
          </p>
          <Table id="m.idle" caption="Allocated but idle" columns={IDLE} rows={idle} limit={20} />
        </>
      )}
    </>
  );
}

function InPlace({ all, place: every, unseen }: { all: Allocations; place: Place; unseen: string | null }) {
  const selected = useRange();
  const range = all.timed ? selected : null;
  const place = useMemo(
    () => ({ ...every, rows: every.rows.filter((row) => touches(range, all.begin[row], all.freed[row])) }),
    [all, every, range],
  );
  const whole = useMemo(() => usageOf(all, every), [all, every]);
  const usage = useMemo(() => usageWithin(whole, range), [whole, range]);
  const [at, setAt] = useMoment(usage);
  const clock = useMemo<Clock>(() => (all.timed ? ns : (event) => `event ${Math.round(event)}`), [all.timed]);
  return (
    <>
      <p>
        Peak {range !== null && `${rangeText(range)} `}
        {bytes(usage.peak.bytes)} at {clock(usage.peak.at)}; {count(place.rows.length)} allocations.
        {!all.timed && ' The software device has no times: moments are counted in allocations and frees.'}
        {usage.changes > usage.moments.length &&
          ' Of each thousandth of the time its highest and its last state are drawn.'}
        {unseen !== null && ` Not all uses of memory were seen: ${unseen}.`}
      </p>
      <Areas title={`Memory in use: ${place.title}`} usage={usage} clock={clock} at={at} onAt={setAt} />
      <Moment usage={usage} clock={clock} at={at} onAt={setAt} />
      <Live all={all} place={place} at={at} clock={clock} />
      <Waste all={all} place={place} clock={clock} unseen={unseen} />
    </>
  );
}

export function Memory({ payload }: SectionProps) {
  const places = useMemo(() => placesOf(payload), [payload]);
  const options = places.map(({ id, title }) => [id, title] as const);
  const [where] = usePick('m.where', options);
  const place = places.find(({ id }) => id === where);
  const { memory } = payload.head.report;
  const whose = (
    <>
      <Allocators heaps={memory?.heaps} />
      <Whose snapshot={memory?.snapshot} />
    </>
  );
  if (place === undefined)
    return (
      <>
        <p>The program allocated no device memory and no page-locked memory.</p>
        {whose}
      </>
    );
  return (
    <>
      {places.length > 1 && (
        <Controls>
          <Pick id="m.where" label="Where" options={options} />
        </Controls>
      )}
      <InPlace
        key={place.id}
        all={allocationsOf(payload)}
        place={place}
        unseen={payload.head.uses_unseen ?? null}
      />
      {whose}
    </>
  );
}
