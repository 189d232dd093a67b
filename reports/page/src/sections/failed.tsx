// SPDX-License-Identifier: Apache-2.0
// Calls that failed, by function, place and error; and the first one after which the program was lost.
import type { SectionProps } from '../app';
import { count, ns } from '../format';
import { Table, type TableColumn } from '../parts/table';
import type { FailedCall, Report } from '../report';
import { go } from '../state';
import { restOf } from './failed/rest';

const COLUMNS: TableColumn<FailedCall>[] = [
  { key: 'place', title: 'Place', value: ({ where }) => where.label, show: ({ where }) => <code>{where.label}</code> },
  { key: 'function', title: 'Function', value: ({ where }) => where.api, show: ({ where }) => <code>{where.api ?? '–'}</code> },
  { key: 'words', title: 'What happened', value: (row) => row.words },
  {
    key: 'error',
    title: 'Error',
    value: (row) => row.runtime_error ?? row.error ?? String(row.result),
    show: (row) => (
      <code title={row.error ?? undefined}>
        {row.runtime_error ?? row.error ?? 'error'} ({row.result})
      </code>
    ),
  },
  { key: 'calls', title: 'Calls', numeric: true, value: (row) => row.calls, show: (row) => count(row.calls) },
  { key: 'at', title: 'First at', numeric: true, value: (row) => row.at_ns, show: (row) => ns(row.at_ns) },
];

export function Failed({ payload }: SectionProps) {
  const { report } = payload.head;
  const rows = report.failed_calls?.rows ?? [];
  const timed = rows.some(({ at_ns }) => at_ns !== null);
  return (
    <>
      {rows.length > 0 && (
        <Table id="w" caption="Failed calls" columns={timed ? COLUMNS : COLUMNS.filter(({ key }) => key !== 'at')} rows={rows} />
      )}
      {restOf(report).map((line) => (
        <p>{line}</p>
      ))}
    </>
  );
}

/** What the verdict begins with where the program failed. */
export function Alarm({ report }: { report: Report }) {
  const alarm = report.failed_calls?.alarm ?? null;
  if (alarm === null) return null;
  return (
    <p class="card alert alarm">
      {alarm}.{' '}
      <button type="button" class="link" onClick={() => go('failed')}>
        Failed calls
      </button>
    </p>
  );
}
