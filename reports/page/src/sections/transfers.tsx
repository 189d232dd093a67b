// SPDX-License-Identifier: Apache-2.0
// Transfers: each copy against what this device can do, and where the copies come from.
import { useCallback, useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { bytes, count, known, ns, rate, share } from '../format';
import { Keys, useOff } from '../parts/controls';
import { Table, type TableColumn } from '../parts/table';
import { useRange } from '../range';
import type { TransferRow } from '../report';
import { columnsWithout } from './transfers/columns';
import {
  calibrated,
  copiesOf,
  curveOf,
  nameOf,
  rowsOf,
  sitesOf,
  timeAt,
  type Calibrated,
  type Copies,
  type SiteRow,
} from './transfers/model';
import { TransferPlot } from './transfers/plot';

const speed = (size: number, time: number | null) => (known(time) && time > 0 ? (1e9 * size) / time : NaN);

function bucketColumns(copies: Copies, curves: Calibrated[]): TableColumn<TransferRow>[] {
  // Blocking and asynchronous copies of one class share a row: the faster curve is compared with.
  const ideal = (row: TransferRow) => {
    const modes = copies.groups.find((group) => nameOf(group) === nameOf(row))?.modes ?? [];
    const times = [...modes].map((blocking) => curveOf(curves, row, blocking)).filter((curve) => curve !== null);
    const best = Math.min(...times.map((curve) => timeAt(curve, row.bytes / row.count)));
    return known(row.time_ns) && row.time_ns > 0 && Number.isFinite(best) ? (best * row.count) / row.time_ns : NaN;
  };
  const top = (row: TransferRow) => row.up_to_bytes ?? Infinity;
  return [
    { key: 'direction', title: 'Direction', value: (row) => row.direction },
    { key: 'host_class', title: 'Host memory', value: (row) => row.host_class },
    {
      key: 'up_to_bytes',
      title: 'Size up to',
      value: top,
      show: (row) => (known(row.up_to_bytes) ? bytes(row.up_to_bytes) : 'any'),
      numeric: true,
    },
    { key: 'count', title: 'Copies', value: (row) => row.count, show: (row) => count(row.count), numeric: true },
    { key: 'bytes', title: 'Bytes', value: (row) => row.bytes, show: (row) => bytes(row.bytes), numeric: true },
    { key: 'time', title: 'Time', value: (row) => row.time_ns, show: (row) => ns(row.time_ns), numeric: true },
    {
      key: 'rate',
      title: 'Bandwidth',
      value: (row) => speed(row.bytes, row.time_ns),
      show: (row) => rate(speed(row.bytes, row.time_ns)),
      numeric: true,
    },
    {
      key: 'share',
      title: 'Of the calibrated',
      value: ideal,
      show: (row) => share(ideal(row)),
      numeric: true,
      help: 'calibrated time of as many copies of the mean size / measured time',
    },
  ];
}

const fraction = (row: SiteRow) => (row.time > 0 ? row.expected / row.time : NaN);
const SITES: TableColumn<SiteRow>[] = [
  { key: 'site', title: 'Call site', value: (row) => row.site },
  { key: 'direction', title: 'Direction', value: (row) => row.direction },
  { key: 'host_class', title: 'Host memory', value: (row) => row.host_class },
  { key: 'mode', title: 'Mode', value: (row) => (row.blocking ? 'blocking' : 'asynchronous') },
  { key: 'count', title: 'Copies', value: (row) => row.count, show: (row) => count(row.count), numeric: true },
  { key: 'bytes', title: 'Bytes', value: (row) => row.bytes, show: (row) => bytes(row.bytes), numeric: true },
  { key: 'time', title: 'Time', value: (row) => row.time, show: (row) => ns(row.time), numeric: true },
  {
    key: 'rate',
    title: 'Bandwidth',
    value: (row) => speed(row.bytes, row.time),
    show: (row) => rate(speed(row.bytes, row.time)),
    numeric: true,
  },
  {
    key: 'share',
    title: 'Of the calibrated',
    value: fraction,
    show: (row) => share(fraction(row)),
    numeric: true,
    help: 'calibrated time of copies of these sizes / measured time: 100 % is as fast as this kind of copy gets',
  },
];

function Filters({ copies, off, toggle }: { copies: Copies; off: Set<string>; toggle: (name: string) => void }) {
  const entries = (of: 'direction' | 'host_class') =>
    [...new Set(copies.groups.map((group) => group[of]))].map((name) => ({
      name,
      label: name,
      on: !off.has(name),
    }));
  const [directions, classes] = [entries('direction'), entries('host_class')];
  const both = directions.length > 1 && classes.length > 1; // else the kinds of copies say it all
  const kinds = copies.groups.map((group, shape) => ({ group, shape }));
  return (
    <>
      {both && <Keys label="Direction" entries={directions} toggle={toggle} />}
      {both && <Keys label="Memory" entries={classes} toggle={toggle} />}
      <Keys
        label="Copies"
        entries={kinds.map(({ group, shape }) => ({
          name: nameOf(group),
          label: nameOf(group),
          on: !off.has(nameOf(group)),
          shape,
        }))}
        toggle={toggle}
      />
    </>
  );
}

export function Transfers({ payload }: SectionProps) {
  const { report, model, detail } = payload.head;
  const range = useRange();
  const copies = useMemo(() => copiesOf(payload, range), [payload, range]);
  const all = useMemo(() => (range === null ? report.transfers : rowsOf(copies)), [report, copies, range]);
  const curves = useMemo(() => calibrated(model), [model]);
  const [off, toggle] = useOff('x.off');
  const names = [...off].sort().join();
  const kept = useCallback(
    (group: number) => {
      const { direction, host_class } = copies.groups[group];
      return ![direction, host_class, nameOf(copies.groups[group])].some((name) => off.has(name));
    },
    [copies, names],
  );
  const sites = useMemo(() => sitesOf(payload, copies, curves, kept), [payload, copies, curves, kept]);
  const rows = all.filter(
    (row) => !off.has(row.direction) && !off.has(row.host_class) && !off.has(nameOf(row)),
  );
  const buckets = useMemo(
    () => columnsWithout(bucketColumns(copies, curves), report, report.verdict.modelled === true),
    [report, copies, curves],
  );
  if (copies.rows === 0 && all.length === 0)
    return <p>{range === null ? 'The program copied nothing.' : 'No copy begins in the selected time.'}</p>;
  return (
    <>
      <Filters copies={copies} off={off} toggle={toggle} />
      {report.device.software ? (
        <p>
          {report.verdict.modelled === true
            ? 'This trace is of the software device: no times are measured; those below are modelled by size.'
            : 'This trace is of the software device: copies have sizes, but no times and no bandwidths.'}
        </p>
      ) : (
        <TransferPlot payload={payload} copies={copies} curves={curves} kept={kept} />
      )}
      {detail !== null && (
        <p class="dim">
          This trace is so large that copies next to each other were merged: such a mark shows their mean.
        </p>
      )}
      <h3>By call site</h3>
      <Table id="x.sites" caption="Copies by call site" columns={columnsWithout(SITES, report, false)} rows={sites} limit={20} />
      <h3>By direction, host memory and size</h3>
      <Table
        id="x.sizes"
        caption="Copies by direction, host memory and size"
        columns={buckets}
        rows={rows}
        limit={20}
      />
    </>
  );
}
