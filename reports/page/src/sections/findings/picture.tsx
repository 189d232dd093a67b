// SPDX-License-Identifier: Apache-2.0
// The plot of a finding, by what its rule is about; none where none would be informative.
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, count, decimal, percent, rate } from '../../format';
import { modelOf } from '../../model';
import { align, axis, multiples, powers, type Point } from '../../parts/axes';
import { Plot, type LegendItem } from '../../parts/plot';
import type { TableColumn } from '../../parts/table';
import type { Payload } from '../../payload';
import type { Finding } from '../../report';
import { color } from '../../theme';
import { category, direction } from '../../words';
import { copyPlot, type CopyPlot } from './plots/copies';
import { roofPlot, whatIf, type RoofPlot, type WhatIf } from './plots/occupancy';
import { ratios, type Ratios } from './plots/ratios';

/** Measured ones of this run, calibrated lines, and where the repair leads: alike in all plots. */
const LINES: LegendItem['mark'][] = ['line', 'dash', 'dot'];
const DASH: Partial<Record<LegendItem['mark'], number[]>> = { dash: [8, 5], dot: [2, 4] };

interface Drawn {
  legend: LegendItem;
  points: (Point & { n?: number })[];
  /** Drawn before them, but no value of its own. */
  lead?: Point;
  paths?: uPlot.Series.PathBuilder;
}

function series({ legend: { color: name, mark }, paths }: Drawn): uPlot.Series {
  const paint = color(name);
  if (mark === 'point' || mark === 'ring')
    return {
      paths: () => null,
      stroke: paint,
      points: {
        show: true,
        size: 11,
        width: 2.5,
        stroke: paint,
        fill: mark === 'point' ? paint : color('--card'),
      },
    };
  return {
    stroke: paint,
    width: 2,
    dash: DASH[mark],
    spanGaps: true,
    points: { show: false },
    ...(paths && { paths }),
  };
}

interface Row {
  series: string;
  x: number;
  y: number;
  n: number | null;
}

interface Axis {
  title: string;
  /** Of the CSV column. */
  key: string;
  show: (value: number) => string;
  scale?: uPlot.Scale;
  splits?: uPlot.Axis.Splits;
}

interface Frame {
  id: string;
  title: string;
  drawn: Drawn[];
  x: Axis;
  y: Axis;
}

/** Several series in one small plot, with a key, and all values as a table. */
function SeriesPlot({ id, title, drawn, x, y }: Frame) {
  const data = useMemo(() => align(drawn.map(({ points, lead }) => (lead ? [lead, ...points] : points))), [drawn]);
  const rows: Row[] = drawn.flatMap(({ legend, points }) =>
    points.map((point) => ({ series: legend.text, x: point.x, y: point.y, n: point.n ?? null })),
  );
  const columns: TableColumn<Row>[] = [
    { key: 'series', title: 'What', value: (row) => row.series },
    { key: x.key, title: x.title, numeric: true, value: (row) => row.x, show: (row) => x.show(row.x) },
    { key: y.key, title: y.title, numeric: true, value: (row) => row.y, show: (row) => y.show(row.y) },
  ];
  if (rows.some(({ n }) => n !== null))
    columns.push({ key: 'n', title: 'Copies', numeric: true, value: (row) => row.n, show: (row) => count(row.n) });
  const options = () => ({
    scales: { x: { time: false, ...x.scale }, y: { ...y.scale } },
    axes: [axis(x.title, x.show, 32, x.splits), axis(y.title, y.show, 76, y.splits)],
    series: [{}, ...drawn.map(series)],
    cursor: { show: false },
  });
  return (
    <Plot
      id={id}
      title={title}
      height={230}
      options={options}
      data={data}
      columns={columns}
      rows={rows}
      legend={drawn.map(({ legend }) => legend)}
    />
  );
}

function Copies({ id, plot }: { id: string; plot: CopyPlot }) {
  const drawn = useMemo(() => {
    const list: Drawn[] = plot.curves.map(({ name, points }, index) => ({
      legend: { text: `${name}, calibrated`, color: '--c1', mark: LINES[index] },
      points,
    }));
    list.push({ legend: { text: 'copies of this finding', color: '--c2', mark: 'point' }, points: plot.copies });
    if (plot.after !== null)
      list.push({ legend: { text: 'after the repair', color: '--c3', mark: 'ring' }, points: [plot.after] });
    return list;
  }, [plot]);
  const log = { distr: 3 } as const;
  return (
    <SeriesPlot
      id={id}
      title={`Its copies (${direction(plot.direction)}) on the calibrated curves`}
      drawn={drawn}
      x={{ title: 'size of a copy', key: 'bytes', show: bytes, scale: log, splits: powers(4) }}
      y={{ title: 'bandwidth', key: 'bytes_per_s', show: rate, scale: log, splits: powers(10) }}
    />
  );
}

function Steps({ id, plot }: { id: string; plot: WhatIf }) {
  const drawn = useMemo(() => {
    // A number of registers or bytes is the largest with so many blocks: the step lies before it.
    const paths = plot.what === 'block' ? undefined : uPlot.paths.stepped?.({ align: -1 });
    const lead = paths && { x: 0, y: plot.points[0].y };
    const list: Drawn[] = [
      { legend: { text: 'what if', color: '--c1', mark: 'line' }, points: plot.points, lead, paths },
    ];
    if (plot.now !== null)
      list.push({
        legend: { text: `as launched: ${plot.show(plot.now.x)}`, color: '--c2', mark: 'point' },
        points: [plot.now],
      });
    return list;
  }, [plot]);
  return (
    <SeriesPlot
      id={id}
      title={plot.title}
      drawn={drawn}
      x={{
        title: plot.axis,
        key: plot.what,
        show: plot.show,
        scale: { range: (_, __, max) => [0, max] },
        splits: multiples(plot.what === 'shared' ? 1024 : 32),
      }}
      y={{ title: 'resident warps', key: 'percent', show: percent, scale: { range: [0, 105] } }}
    />
  );
}

function Roofs({ id, plot }: { id: string; plot: RoofPlot }) {
  const drawn = useMemo(() => {
    const list: Drawn[] = plot.curves.map(({ name, points }, index) => ({
      legend: { text: `${name}, calibrated`, color: '--c1', mark: LINES[index] },
      points,
    }));
    list.push({ legend: { text: 'this kernel', color: '--c2', mark: 'point' }, points: [plot.now] });
    if (plot.after !== null)
      list.push({ legend: { text: 'after the repair', color: '--c3', mark: 'ring' }, points: [plot.after] });
    return list;
  }, [plot]);
  return (
    <SeriesPlot
      id={id}
      title="Bandwidth of device memory by occupancy"
      drawn={drawn}
      x={{ title: 'resident warps', key: 'percent', show: percent, scale: { range: [0, 105] } }}
      y={{
        title: 'bandwidth',
        key: 'bytes_per_s',
        show: rate,
        scale: { range: (_, __, max) => [0, max * 1.05] },
      }}
    />
  );
}

function Bars({ plot: { title, rows } }: { plot: Ratios }) {
  const most = Math.max(...rows.map(({ value, ideal }) => Math.max(value, ideal)));
  const width = (of: number) => Math.max(0.5, (100 * of) / most);
  return (
    <table class="ratios">
      <caption>{title}</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Access</th>
          <th scope="col">Bar</th>
          <th scope="col">Value</th>
          <th scope="col">Ideal</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ label, value, ideal }) => (
          <tr>
            <th scope="row">{label}</th>
            <td class="ratios-bar">
              <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
                <rect class="ratios-back" width="100" height="14" />
                <rect class="ratios-value" width={width(value)} height="8" />
                <rect class="ratios-ideal" y="9" width={width(ideal)} height="5" />
              </svg>
            </td>
            <td class="number">{decimal(value, 1)}</td>
            <td class="number">ideal {decimal(ideal, 1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Picture({ payload, finding }: { payload: Payload; finding: Finding }) {
  const id = `p.${finding.fingerprint}`;
  const plots = useMemo(() => {
    const model = modelOf(payload.head);
    return {
      copies: category(finding.rule) === 'transfers' ? copyPlot(payload, model, finding) : null,
      bars: ratios(finding),
      roofs: roofPlot(model, finding),
      steps: whatIf(payload.head.report.kernels, finding),
    };
  }, [payload, finding]);
  return (
    <>
      {plots.copies && <Copies id={id} plot={plots.copies} />}
      {plots.bars && <Bars plot={plots.bars} />}
      {plots.roofs && <Roofs id={`${id}.r`} plot={plots.roofs} />}
      {plots.steps && <Steps id={`${id}.w`} plot={plots.steps} />}
    </>
  );
}
