// SPDX-License-Identifier: Apache-2.0
// What the device was idle for: the causes, and where the program was meanwhile.
import { useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { count, known, ns, smallShare } from '../format';
import { PlaceLink } from '../parts/place-link';
import { Table, type TableColumn } from '../parts/table';
import { useRange } from '../range';
import { rangeText } from '../span';
import type { CallPlace, TimePart } from '../report';
import { causesWithin, placeName } from './idle/model';

interface Row extends CallPlace {
  cause: string;
}

/** "host code" of "idle: host code" */
const causeOf = ({ title }: TimePart) => title.replace(/^idle: /, '');

export const isIdle = ({ name, ns: length }: TimePart) => name.startsWith('idle_') && known(length) && length > 0;

/** The places of all causes, most time first. */
export function placesOf(parts: TimePart[]): Row[] {
  return parts
    .filter(isIdle)
    .flatMap((part) => part.places.map((place) => ({ ...place, cause: causeOf(part) })))
    .sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0));
}

const causes = (recorded: number | null): TableColumn<TimePart>[] => [
  { key: 'cause', title: 'The host was in', value: causeOf },
  { key: 'ns', title: 'Idle', numeric: true, value: (row) => row.ns, show: (row) => ns(row.ns) },
  {
    key: 'share',
    title: 'Of the time',
    numeric: true,
    value: (row) => (row.ns ?? NaN) / (recorded ?? NaN),
    show: (row) => smallShare((row.ns ?? NaN) / (recorded ?? NaN)),
  },
  { key: 'times', title: 'Times', numeric: true, value: (row) => row.times, show: (row) => count(row.times) },
  { key: 'longest_ns', title: 'Longest', numeric: true, value: (row) => row.longest_ns, show: (row) => ns(row.longest_ns) },
  {
    key: 'most',
    title: 'Most of it at',
    value: ({ places }) => (places.length > 0 ? placeName(places[0]) : null),
  },
];

const PLACES: TableColumn<Row>[] = [
  {
    key: 'place',
    title: 'Place',
    value: placeName,
    show: (row) => (
      <PlaceLink file={row.file} line={row.line}>
        <code>{placeName(row)}</code>
      </PlaceLink>
    ),
  },
  { key: 'function', title: 'Function', value: (row) => row.function },
  { key: 'cause', title: 'The host was in', value: (row) => row.cause },
  { key: 'time_ns', title: 'Idle', numeric: true, value: (row) => row.time_ns, show: (row) => ns(row.time_ns) },
  { key: 'count', title: 'Times', numeric: true, value: (row) => row.count, show: (row) => count(row.count) },
  { key: 'longest_ns', title: 'Longest', numeric: true, value: (row) => row.longest_ns, show: (row) => ns(row.longest_ns) },
];

export function Idle({ payload }: SectionProps) {
  const { report } = payload.head;
  const range = useRange();
  const parts = useMemo(
    () => (range === null || !report.time ? (report.time?.parts ?? []) : causesWithin(payload, range)).filter(isIdle),
    [payload, range],
  );
  const places = useMemo(() => placesOf(parts), [parts]);
  if (!report.time)
    return (
      <p>
        {report.device.software
          ? 'The software device has no times, so it is not known when a device would be idle.'
          : 'When the device was idle is not known: the trace has no device times, or only those of some ranges.'}
      </p>
    );
  if (parts.length === 0) return <p>The device was never idle{range !== null && ` ${rangeText(range)}`}.</p>;
  const whole = range === null ? report.time.recorded_ns : range[1] - range[0];
  return (
    <>
      <p>
        {report.time.idle !== undefined && range === null && `${report.time.idle[0].toUpperCase()}${report.time.idle.slice(1)}. `}
        Nothing ran on the device in this time{range !== null && ` ${rangeText(range)}`}
        {range !== null && (report.time.devices?.length ?? 0) > 1 && ' (the sum of all devices)'}. The cause is what the thread was in that
        launched or copied next; host code is time in which it was in no call, at the innermost function that the calls before and
        after have in common.
      </p>
      <Table id="i.causes" caption="Causes of idle time" columns={causes(whole)} rows={parts} sort="-ns" />
      <h3>By place</h3>
      <Table id="i.places" caption="Idle time by place" columns={PLACES} rows={places} limit={20} />
    </>
  );
}
