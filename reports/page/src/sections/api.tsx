// SPDX-License-Identifier: Apache-2.0
// The API summary: calls of the driver and their time, by function and by place.
import { useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { count, ns, share } from '../format';
import { Table, type TableColumn } from '../parts/table';
import { useRange } from '../range';
import { rangeText } from '../span';
import { functionsOf, sitesOf, type ApiRow, type SiteRow } from './api/model';

function columnsOf(total: number): TableColumn<ApiRow>[] {
  return [
    { key: 'name', title: 'Function', value: (row) => row.name, show: (row) => <code>{row.name}</code> },
    { key: 'runtime', title: 'Called by the runtime\u2019s', value: (row) => row.runtime },
    { key: 'calls', title: 'Calls', numeric: true, value: (row) => row.calls, show: (row) => count(row.calls) },
    { key: 'time', title: 'Time', numeric: true, value: (row) => row.time, show: (row) => ns(row.time) },
    { key: 'share', title: 'Share', numeric: true, value: (row) => row.time / total, show: (row) => share(row.time / total) },
    { key: 'mean', title: 'Mean', numeric: true, value: (row) => row.time / row.calls, show: (row) => ns(row.time / row.calls) },
    { key: 'longest', title: 'Longest', numeric: true, value: (row) => row.longest, show: (row) => ns(row.longest) },
    { key: 'most', title: 'Most of it at', value: (row) => row.most },
  ];
}

const SITES: TableColumn<SiteRow>[] = [
  { key: 'site', title: 'Place', value: (row) => row.site, show: (row) => <code>{row.site}</code> },
  { key: 'name', title: 'Function', value: (row) => row.name, show: (row) => <code>{row.name}</code> },
  { key: 'calls', title: 'Calls', numeric: true, value: (row) => row.calls, show: (row) => count(row.calls) },
  { key: 'time', title: 'Time', numeric: true, value: (row) => row.time, show: (row) => ns(row.time) },
  { key: 'longest', title: 'Longest', numeric: true, value: (row) => row.longest, show: (row) => ns(row.longest) },
];

export function Api({ payload }: SectionProps) {
  const range = useRange();
  const functions = useMemo(() => functionsOf(payload, range), [payload, range]);
  const sites = useMemo(() => sitesOf(payload, range), [payload, range]);
  const total = functions.reduce((sum, { time }) => sum + (time || 0), 0);
  const columns = useMemo(() => columnsOf(total), [total]);
  if (functions.length === 0)
    return <p>{range === null ? 'The program called nothing that is recorded.' : 'No call begins in the selected time.'}</p>;
  const sort = payload.head.report.device.software ? '-calls' : '-time';
  return (
    <>
      <p>
        Calls of the driver{range !== null && ` that begin ${rangeText(range)}`}. Their time is what the host spent in them,
        with what they waited, all threads added.
      </p>
      <Table id="a" caption="Calls by function" columns={columns} rows={functions} sort={sort} limit={20} />
      <h3>By place</h3>
      <Table id="a.sites" caption="Calls by place" columns={SITES} rows={sites} sort={sort} limit={20} />
    </>
  );
}
