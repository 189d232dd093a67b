// SPDX-License-Identifier: Apache-2.0
// The device model in readable tables: rates, times, copies by size, occupancy, reference kernels.
import { useMemo } from 'preact/hooks';
import { bytes, count, decimal, known, ns, rate, share } from '../../format';
import { OCCUPANCY_CURVES, type Model, type OccupancyPoint } from '../../model';
import { Table, type TableColumn } from '../../parts/table';
import type { Report } from '../../report';
import { callsBySize, copiesBySize, copyCurves, fixedCosts, rates, variants, waysOfCopying } from './figures';
import type { CopyCurve, Figure, SizeFigure, VariantRow, WayFigure } from './figures';
import { Facts } from './facts';

type Show = (value: number | null) => string;

function number<Row>(
  key: string,
  title: string,
  value: (row: Row) => number | null,
  show: Show,
  help?: string,
): TableColumn<Row> {
  return { key, title, numeric: true, value, show: (row) => show(value(row)), help };
}

const SHOW: Record<Figure['unit'], Show> = {
  ns,
  bytes_per_s: rate,
  count_per_s: (value) => rate(value).replace('B/s', '/s'),
};
const SPREAD = '90th minus 10th percentile of the samples';

const FIGURES: TableColumn<Figure>[] = [
  { key: 'name', title: 'What', value: ({ name }) => name },
  {
    key: 'value',
    title: 'Median',
    numeric: true,
    value: ({ value }) => value,
    show: ({ value, unit }) => SHOW[unit](value),
  },
  {
    key: 'spread',
    title: 'Spread',
    numeric: true,
    help: SPREAD,
    value: ({ spread }) => spread,
    show: ({ spread, unit }) => SHOW[unit](spread),
  },
  number('n', 'Samples', ({ n }) => n, count),
];

const CURVES: TableColumn<CopyCurve>[] = [
  { key: 'name', title: 'Copy', value: ({ name }) => name },
  number(
    'latency_ns',
    'Time of the smallest',
    (row) => row.latency_ns,
    ns,
    'The part that does not grow with the size',
  ),
  number('bandwidth', 'Bandwidth of large ones', (row) => row.bandwidth, rate),
  number('peak', 'Best seen', (row) => row.peak, rate),
  number(
    'half_bytes',
    'Half of it from',
    (row) => row.half_bytes,
    bytes,
    'The least size that reaches half of the bandwidth',
  ),
  number('error', 'Largest error of the fit', (row) => row.error, share),
];

const SIZES: TableColumn<SizeFigure>[] = [
  { key: 'name', title: 'What', value: ({ name }) => name },
  number('bytes', 'Size', (row) => row.bytes, bytes),
  number('median_ns', 'Median', (row) => row.median_ns, ns),
  number('spread_ns', 'Spread', (row) => row.spread_ns, ns, SPREAD),
  number('n', 'Samples', (row) => row.n, count),
  number(
    'bytes_per_s',
    'Bandwidth',
    (row) => (known(row.median_ns) && row.median_ns > 0 ? (row.bytes / row.median_ns) * 1e9 : null),
    rate,
  ),
];

const WAYS: TableColumn<WayFigure>[] = [
  { key: 'name', title: 'Copies', value: ({ name }) => name },
  { key: 'shape', title: 'What', value: ({ shape }) => shape },
  { key: 'way', title: 'How', value: ({ way }) => way },
  number('median_ns', 'Median', (row) => row.median_ns, ns),
  number('spread_ns', 'Spread', (row) => row.spread_ns, ns, SPREAD),
  number('n', 'Samples', (row) => row.n, count),
];

const OCCUPANCY: TableColumn<OccupancyPoint & { name: string }>[] = [
  { key: 'name', title: 'Loads', value: ({ name }) => name },
  number('occupancy', 'Resident warps', (row) => row.occupancy, share),
  number('warps', 'Warps per multiprocessor', (row) => row.warps_per_sm, count),
  number('bytes_per_s', 'Bandwidth', (row) => row.bandwidth_bytes_per_s, rate),
  number('spread', 'Spread', (row) => row.spread, rate, SPREAD),
  number('n', 'Samples', (row) => row.n, count),
];

const VARIANTS: TableColumn<VariantRow>[] = [
  { key: 'family', title: 'Family', value: ({ family }) => family },
  { key: 'variant', title: 'Kernel', value: ({ variant }) => variant },
  { key: 'quality', title: 'Quality', value: ({ quality }) => quality },
  { key: 'rule', title: 'Rule', value: ({ rule }) => rule, show: ({ rule }) => rule ?? '' },
  number('median_ns', 'Median', (row) => row.median_ns, ns),
  number('spread_ns', 'Spread', (row) => row.spread_ns, ns, SPREAD),
  number('n', 'Samples', (row) => row.n, count),
  number('relative_time', 'Times the good one', (row) => row.relative_time, decimal),
];

interface FoldProps<Row> {
  id: string;
  title: string;
  columns: TableColumn<Row>[];
  rows: Row[];
  open?: boolean;
}

function FoldedTable<Row>({ id, title, columns, rows, open }: FoldProps<Row>) {
  if (rows.length === 0) return null;
  return (
    <details open={open}>
      <summary>{title}</summary>
      <Table id={id} caption={title} columns={columns} rows={rows} limit={40} />
    </details>
  );
}

const PROVENANCE: Record<string, string> = {
  'this board': 'measured on this device',
  'another board': 'measured on another device of the same name',
  shipped: 'of a GPU of the same name, shipped with gmtrace',
  'another GPU': 'of another GPU: prices are rough',
};

export function ModelTables({ model, report }: { model: Model | null; report: Report }) {
  const { device_model: head } = report;
  const occupancy = useMemo(
    () => OCCUPANCY_CURVES.flatMap(([key, name]) => (model?.[key] ?? []).map((point) => ({ ...point, name }))),
    [model],
  );
  const tables = useMemo(
    () =>
      model && {
        rates: rates(model),
        costs: fixedCosts(model),
        curves: copyCurves(model),
        copies: copiesBySize(model),
        ways: waysOfCopying(model),
        calls: callsBySize(model),
        variants: variants(model),
      },
    [model],
  );
  if (head.match === null && model === null)
    return (
      <p>
        There was no device model: findings have no calibrated prices. <code>gmtrace calibrate</code> measures this
        machine's GPU in a minute.
      </p>
    );
  const size = model?.settings?.working_set_bytes;
  return (
    <>
      <Facts
        facts={[
          ['Whose figures', PROVENANCE[head.match ?? ''] ?? '–'],
          ['Device', head.device],
          ['Measured', head.created],
          ['From', head.origin],
          ['Made by', model?.command],
          [
            'Extent',
            model === null
              ? null
              : `${model.quick ? 'quick' : 'full'}${typeof size === 'number' ? `, working set ${bytes(size)}` : ''}`,
          ],
          ['Noise', head.noisy ? 'noisy: the device was probably shared or throttled' : 'quiet'],
          ...(model?.notes ?? []).map((note): [string, string] => ['Note', note]),
        ]}
      />
      {tables && (
        <>
          <FoldedTable id="m.rates" title="Sustained rates" columns={FIGURES} rows={tables.rates} open />
          <FoldedTable
            id="m.curves"
            title="Copies: parameters of their curves"
            columns={CURVES}
            rows={tables.curves}
            open
          />
          <FoldedTable id="m.costs" title="Latencies and costs of calls" columns={FIGURES} rows={tables.costs} />
          <FoldedTable id="m.copies" title="Copies by size" columns={SIZES} rows={tables.copies} />
          <FoldedTable id="m.ways" title="Many copies against one" columns={WAYS} rows={tables.ways} />
          <FoldedTable id="m.calls" title="Allocating and page-locking by size" columns={SIZES} rows={tables.calls} />
          <FoldedTable id="m.occupancy" title="Bandwidth by occupancy" columns={OCCUPANCY} rows={occupancy} />
          <FoldedTable id="m.variants" title="Reference kernels" columns={VARIANTS} rows={tables.variants} />
        </>
      )}
    </>
  );
}
