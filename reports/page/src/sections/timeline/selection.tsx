// SPDX-License-Identifier: Apache-2.0
// What is selected: all about one event, or the sums of a stretch.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { bytes, count, NOTHING, ns, rate, share } from '../../format';
import { Stack } from '../../parts/stack';
import { Table, type TableColumn } from '../../parts/table';
import type { Frame } from '../../report';
import { go } from '../../state';
import { lengthText, placeText } from './axis';
import {
  apiOf,
  bandwidth,
  countOf,
  DEVICE_KINDS,
  kernelName,
  kindOf,
  nameOf,
  NODE,
  streamName,
  threadName,
  type Events,
} from './events';
import { kindTitle } from './looks';
import type { Model } from './model';
import { busyWithin, sumRange, type Sum } from './sums';

/** Title and value of all that is known; what the trace has no times for is left to the sentence above. */
function facts(events: Events, row: number): [string, ComponentChildren][] {
  const { head, byOrder } = events;
  const kind = kindOf(events, row);
  const time = (at: number) => (byOrder || Number.isNaN(at) ? NOTHING : placeText(at, 1000, false));
  const length = (value: number) => (byOrder ? NOTHING : ns(value));
  const device = DEVICE_KINDS.includes(kind);
  const called = kind !== NODE;
  const merged = countOf(events, row);
  const found: [string, ComponentChildren][] = [
    ['Kind', merged > 1 ? `${kindTitle(kind)}, ${count(merged)} calls merged into one block` : kindTitle(kind)],
    ['Function', apiOf(events, row)],
    ['Thread', threadName(head, events.thread[row])],
  ];
  if (called)
    found.push(
      ['Called at', byOrder ? placeText(row, 1, true) : time(events.begin[row])],
      ['Call took', length(events.hostNs[row])],
    );
  if (device) {
    found.push(
      ['Stream', streamName(head, events.stream[row])],
      ['Device began', time(events.deviceBegin[row])],
      ['Device took', length(events.deviceNs[row])],
    );
    if (called)
      found.push(['From call to device', length(byOrder ? NaN : events.deviceBegin[row] - events.begin[row])]);
  }
  if (!Number.isNaN(events.bytes[row])) found.push(['Bytes', bytes(events.bytes[row])]);
  if (kind === 'transfer') {
    found.push(
      ['Bandwidth', rate(bandwidth(events, row))],
      ['Host memory', head.names.host_class[events.hostClass[row]] ?? NOTHING],
      ['Waits for the copy', ['no', 'yes'][events.blocking[row]] ?? NOTHING],
    );
  }
  if (!Number.isNaN(events.id[row])) found.push(['Row of the trace', String(events.id[row])]);
  return found;
}

interface EventProps {
  model: Model;
  row: number;
  frames: Frame[];
  onShow: () => void;
  onOther: () => void;
  onClose: () => void;
}

export function EventPanel({ model, row, frames, onShow, onOther, onClose }: EventProps) {
  const { events } = model;
  const kernel = kernelName(events, row);
  return (
    <aside class="card t-panel" aria-label="Selected event">
      <div class="t-panel-head">
        <h3>{nameOf(events, row)}</h3>
        <button type="button" onClick={onClose} aria-label="Close the selected event">
          ×
        </button>
      </div>
      <dl>
        {facts(events, row).map(([title, value]) => (
          <div>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="t-buttons">
        <button type="button" onClick={onShow}>
          Zoom to it (F)
        </button>
        {!events.byOrder && !Number.isNaN(events.deviceBegin[row]) && (
          <button type="button" onClick={onOther}>
            To the other end of its line (O)
          </button>
        )}
        {kernel !== null && (
          <button type="button" onClick={() => go('kernels', { 'k.open': String(events.kernel[row]) })}>
            Kernel’s page
          </button>
        )}
      </p>
      {frames.length > 0 ? <Stack frames={frames} /> : <p class="dim">No stack was recorded for this call.</p>}
    </aside>
  );
}

const SUMS: TableColumn<Sum>[] = [
  { key: 'what', title: 'What', value: (sum) => sum.what },
  { key: 'calls', title: 'Calls', value: (sum) => sum.calls, show: (sum) => count(sum.calls), numeric: true },
  {
    key: 'host_ns',
    title: 'In calls',
    value: (sum) => sum.hostNs,
    show: (sum) => ns(sum.hostNs),
    numeric: true,
    help: 'Time of these calls within the range, all threads added',
  },
  {
    key: 'works',
    title: 'On the device',
    value: (sum) => sum.works,
    show: (sum) => count(sum.works),
    numeric: true,
    help: 'Kernels, copies and memsets that ran within the range, whenever they were called',
  },
  {
    key: 'device_ns',
    title: 'Device time',
    value: (sum) => sum.deviceNs,
    show: (sum) => ns(sum.deviceNs),
    numeric: true,
    help: 'Their time within the range, all streams added: what ran side by side counts twice',
  },
  { key: 'bytes', title: 'Bytes', value: (sum) => sum.bytes, show: (sum) => bytes(sum.bytes), numeric: true },
];

interface RangeProps {
  model: Model;
  range: [number, number];
  onShow: () => void;
  onClose: () => void;
}

export function RangePanel({ model, range: [from, to], onShow, onClose }: RangeProps) {
  const { events, busy, busyAtLeast } = model;
  const sums = useMemo(() => sumRange(events, from, to), [events, from, to]);
  const text = (at: number) => placeText(at, to - from, events.byOrder);
  return (
    <aside class="card t-panel" aria-label="Selected range">
      <div class="t-panel-head">
        <h3>{lengthText(to - from, events.byOrder)}</h3>
        <button type="button" onClick={onClose} aria-label="Close the selected range">
          ×
        </button>
      </div>
      <p class="dim">
        {text(from)} to {text(to)}
      </p>
      {[...busy].map(([device, intervals]) => (
        <p>
          GPU {busy.size > 1 ? device : ''} busy {busyAtLeast && 'at least '}
          {share(busyWithin(intervals, from, to) / (to - from))} (
          {ns(busyWithin(intervals, from, to))})
        </p>
      ))}
      <Table id="t.sums" caption="Sums of the selected range" columns={SUMS} rows={sums} />
      <p class="t-buttons">
        <button type="button" onClick={onShow}>
          Zoom to it (F)
        </button>
      </p>
    </aside>
  );
}
