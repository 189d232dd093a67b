// SPDX-License-Identifier: Apache-2.0
// What the recording found when it checked itself: against CUPTI, and by which ways the driver was reached.
import { count, NOTHING } from '../../format';
import { Table, type TableColumn } from '../../parts/table';
import type { Coverage, CoverageEntry, CoverageRecords } from '../../report';
import { Facts } from '../about/facts';
import { agreement, lookupPathsOf, exampleOf, runtimesOf } from './words';

const number = (value: number | null) => (value === null ? NOTHING : count(value));

const RECORDS: TableColumn<CoverageRecords>[] = [
  { key: 'what', title: 'Device work', value: ({ what }) => what },
  {
    key: 'expected',
    title: 'Recorded',
    numeric: true,
    value: ({ expected }) => expected,
    show: ({ expected }) => number(expected),
    help: 'What the recorded calls must have made: each copy of a batch, each node of a launched graph',
  },
  {
    key: 'seen',
    title: 'Of these reported by CUPTI',
    numeric: true,
    value: ({ seen }) => seen,
    show: ({ seen }) => number(seen),
  },
  {
    key: 'extra',
    title: 'Without a call',
    numeric: true,
    value: ({ extra }) => extra,
    show: ({ extra }) => number(extra),
  },
  { key: 'example', title: 'For example', value: exampleOf },
  { key: 'detail', title: 'Details', value: ({ detail }) => detail },
];

const ENTRIES: TableColumn<CoverageEntry>[] = [
  { key: 'name', title: 'Function', value: ({ name }) => name, show: ({ name }) => <code>{name}</code> },
  { key: 'class', title: 'What it does', value: (entry) => entry.class },
  {
    key: 'calls',
    title: 'Calls',
    numeric: true,
    value: ({ calls }) => calls,
    show: ({ calls }) => number(calls),
    help: 'None of them is in the trace; – where they cannot be counted',
  },
  {
    key: 'requests',
    title: 'Asked for',
    numeric: true,
    value: ({ requests }) => requests,
    show: ({ requests }) => number(requests),
  },
  { key: 'by', title: 'By', value: ({ by }) => by },
];

export function CoverageReport({ coverage }: { coverage: Coverage | undefined }) {
  if (coverage === undefined) return null;
  return (
    <>
      <h3>Whether the recording saw everything</h3>
      <p>{agreement(coverage)}</p>
      <Facts
        facts={[
          ['Ways to the driver', lookupPathsOf(coverage)],
          ['CUDA runtime', runtimesOf(coverage)],
        ]}
      />
      {coverage.records.length > 0 && (
        <Table
          id="c.records"
          caption="Recorded work and device records"
          columns={RECORDS}
          rows={coverage.records}
          rowKey={({ what }) => what}
        />
      )}
      {coverage.entry_points.length > 0 && (
        <Table
          id="c.entries"
          caption="Driver functions without a hook"
          columns={ENTRIES}
          rows={coverage.entry_points}
          rowKey={({ name }) => name}
        />
      )}
    </>
  );
}
