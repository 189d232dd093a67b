// SPDX-License-Identifier: Apache-2.0
// The table twin of the canvas: the events that are shown, the longest first.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { bytes, count, NOTHING, ns } from '../../format';
import type { Stacks } from '../../parts/stacks';
import { Table, type TableColumn } from '../../parts/table';
import { placeText } from './axis';
import { apiOf, kindOf, nameOf, streamName, threadName, type Events } from './events';
import { kindTitle } from './looks';
import { longestWithin } from './sums';
import type { View } from './view';

const MOST = 1000;
const WAIT_MS = 250;

interface Props {
  events: Events;
  view: View;
  stacks: Stacks;
  onSelect: (row: number) => void;
}

function columnsOf(events: Events, stacks: Stacks): TableColumn<number>[] {
  const { head, byOrder } = events;
  const time = (key: string, title: string, values: ArrayLike<number>, length: boolean): TableColumn<number> => ({
    key,
    title,
    value: (row) => values[row],
    show: (row) =>
      length ? ns(values[row]) : Number.isNaN(values[row]) ? NOTHING : placeText(values[row], 1e6, false),
    numeric: true,
  });
  const times = byOrder
    ? [{ key: 'call', title: 'Call', value: (row: number) => row, show: (row: number) => count(row), numeric: true }]
    : [
        time('begin_ns', 'Called at', events.begin, false),
        time('host_ns', 'Call took', events.hostNs, true),
        time('device_begin_ns', 'Device began', events.deviceBegin, false),
        time('device_ns', 'Device took', events.deviceNs, true),
      ];
  return [
    { key: 'name', title: 'Event', value: (row) => nameOf(events, row) },
    { key: 'kind', title: 'Kind', value: (row) => kindTitle(kindOf(events, row)) },
    { key: 'function', title: 'Function', value: (row) => apiOf(events, row) },
    ...times,
    {
      key: 'bytes',
      title: 'Bytes',
      value: (row) => events.bytes[row],
      show: (row) => bytes(events.bytes[row]),
      numeric: true,
    },
    { key: 'thread', title: 'Thread', value: (row) => threadName(head, events.thread[row]) },
    {
      key: 'stream',
      title: 'Stream',
      value: (row) => (Number.isNaN(events.stream[row]) ? null : streamName(head, events.stream[row])),
    },
    { key: 'place', title: 'Where', value: (row) => stacks.site(events.stack[row]) },
  ];
}

export function EventList({ events, view, stacks, onSelect }: Props) {
  const [shown, setShown] = useState(() => longestWithin(events, view.from, view.to, MOST));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => setShown(longestWithin(events, view.from, view.to, MOST));
    const ends = view.onChange(() => {
      clearTimeout(timer);
      timer = setTimeout(again, WAIT_MS);
    });
    again();
    return () => {
      clearTimeout(timer);
      ends();
    };
  }, [events, view]);
  const columns = useMemo(() => columnsOf(events, stacks), [events, stacks]);
  const { rows, all } = shown;
  const which = events.byOrder ? 'first' : 'longest';
  return (
    <>
      <p class="dim" role="status">
        {all > rows.length
          ? `${count(all)} events are shown above; here are the ${which} ${count(rows.length)}.`
          : `${count(all)} events are shown above.`}
      </p>
      <Table
        id="t.events"
        caption="Events shown in the timeline"
        columns={columns}
        rows={rows}
        rowKey={(row) => String(row)}
        onRow={onSelect}
        limit={50}
      />
    </>
  );
}
