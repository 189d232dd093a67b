// SPDX-License-Identifier: Apache-2.0
// Which columns tables of copies have where no times were measured.
import type { TableColumn } from '../../parts/table';
import type { Report } from '../../report';

/** Of a trace without measured times: sizes alone, or also what is modelled, which the calibration is the model of. */
export function columnsWithout<Row>(columns: TableColumn<Row>[], report: Report, modelled: boolean): TableColumn<Row>[] {
  if (!report.device.software) return columns;
  const some = columns.filter(({ key }) => key !== 'share' && (modelled || (key !== 'time' && key !== 'rate')));
  return some.map((column) =>
    column.key === 'time' || column.key === 'rate' ? { ...column, title: `${column.title}, modelled` } : column,
  );
}
