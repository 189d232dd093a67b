// SPDX-License-Identifier: Apache-2.0
// Memory in use over time as stacked areas, with the peak and the moment that the reader looks at.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, share } from '../../format';
import { Plot } from '../../parts/plot';
import type { TableColumn } from '../../parts/table';
import { color } from '../../theme';
import type { Usage } from './model';

export type Clock = (at: number) => string;

interface Props {
  title: string;
  usage: Usage;
  clock: Clock;
  at: number;
  onAt: (at: number) => void;
}

interface Row {
  at: number;
  total: number;
  parts: number[];
}

const BINARY = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Stacked from below: the first area lies at the bottom and is drawn last, over the others. */
function stack({ moments, areas }: Usage): uPlot.AlignedData {
  const sums: Float64Array[] = [];
  areas.forEach(({ values }, i) => sums.push(i === 0 ? values : values.map((value, at) => value + sums[i - 1][at])));
  return [moments, ...sums.reverse()];
}

function seriesOf({ areas }: Usage): uPlot.Series[] {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return areas
    .map(({ label }, i) => ({
      label,
      paths: stepped,
      points: { show: false },
      stroke: color('--card'),
      width: 1,
      fill: color(areas[i].site === null ? '--c8' : `--c${i + 1}`),
    }))
    .reverse();
}

/** Where an area's number has most room: the middle of the largest part in which nothing changes. */
function roomOf({ moments, areas }: Usage, index: number) {
  const below = (at: number) => areas.slice(0, index).reduce((sum, { values }) => sum + values[at], 0);
  const { values } = areas[index];
  let best = { middle: 0, bottom: 0, top: 0 };
  let largest = 0;
  for (let from = 0; from + 1 < moments.length;) {
    const bottom = below(from);
    let to = from + 1;
    while (to + 1 < moments.length && values[to] === values[from] && below(to) === bottom) to++;
    const size = values[from] * (moments[to] - moments[from]);
    if (size > largest) {
      largest = size;
      best = { middle: (moments[from] + moments[to]) / 2, bottom, top: bottom + values[from] };
    }
    from = to;
  }
  return best;
}

// The number that the legend has: colours are not all there is.
function drawNumbers(plot: uPlot, usage: Usage) {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  usage.areas.forEach((_, i) => {
    const room = roomOf(usage, i);
    const top = plot.valToPos(room.top, 'y', true);
    const bottom = plot.valToPos(room.bottom, 'y', true);
    if (bottom - top < 14 * ratio) return;
    const x = plot.valToPos(room.middle, 'x', true);
    ctx.fillStyle = color('--card');
    ctx.beginPath();
    ctx.arc(x, (top + bottom) / 2, 8 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = color('--ink');
    ctx.fillText(String(i + 1), x, (top + bottom) / 2);
  });
}

function drawLine(plot: uPlot, at: number, dash: number[], text: string) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const x = plot.valToPos(at, 'x', true);
  if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
  ctx.strokeStyle = color('--ink');
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash(dash.map((length) => length * ratio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  if (text === '') return;
  const right = x > bbox.left + bbox.width * 0.7;
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = right ? 'right' : 'left';
  ctx.textBaseline = 'top';
  ctx.fillStyle = color('--ink');
  ctx.fillText(text, x + (right ? -6 : 6) * ratio, bbox.top + 4 * ratio);
}

function columnsOf({ areas }: Usage, clock: Clock): TableColumn<Row>[] {
  return [
    { key: 'at', title: 'From', value: (row) => row.at, show: (row) => clock(row.at), numeric: true },
    { key: 'total', title: 'In use', value: (row) => row.total, show: (row) => bytes(row.total), numeric: true },
    ...areas.map(({ label }, i): TableColumn<Row> => ({
      key: `area_${i + 1}`,
      title: `${i + 1} ${label}`,
      value: (row) => row.parts[i],
      show: (row) => bytes(row.parts[i]),
      numeric: true,
    })),
  ];
}

function optionsOf(usage: Usage, clock: Clock, at: () => number, onAt: (at: number) => void) {
  const ink = { stroke: color('--dim'), grid: { stroke: color('--line') }, ticks: { stroke: color('--line') } };
  const most = Math.max(1, usage.peak.bytes) * 1.12; // room for the name of the peak
  return {
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: [0, most] as [number, number] } },
    axes: [
      { ...ink, space: 90, values: (_: uPlot, ticks: number[]) => ticks.map(clock) },
      { ...ink, size: 74, incrs: BINARY, values: (_: uPlot, ticks: number[]) => ticks.map(bytes) },
    ],
    series: [{}, ...seriesOf(usage)],
    hooks: {
      ready: [
        (plot: uPlot) =>
          plot.over.addEventListener('click', (event) => onAt(Math.round(plot.posToVal(event.offsetX, 'x')))),
      ],
      draw: [
        (plot: uPlot) => {
          drawNumbers(plot, usage);
          drawLine(plot, usage.peak.at, [2, 3], `peak ${bytes(usage.peak.bytes)}`);
          drawLine(plot, at(), [], '');
        },
      ],
    },
  };
}

export function Areas({ title, usage, clock, at, onAt }: Props) {
  const plot = useRef<uPlot | null>(null);
  const now = useRef({ at, onAt });
  now.current = { at, onAt };
  const data = useMemo(() => stack(usage), [usage]);
  const rows = useMemo(
    () =>
      Array.from(usage.moments, (moment, i) => ({
        at: moment,
        total: usage.total[i],
        parts: usage.areas.map(({ values }) => values[i]),
      })),
    [usage],
  );
  useEffect(() => plot.current?.redraw(false), [at]);
  const options = () => {
    const made = optionsOf(
      usage,
      clock,
      () => now.current.at,
      (next) => now.current.onAt(next),
    );
    made.hooks.ready.push((ready) => {
      plot.current = ready;
      ready.over.style.cursor = 'crosshair';
    });
    return made;
  };
  return <Plot id="m.plot" title={title} options={options} data={data} columns={columnsOf(usage, clock)} rows={rows} />;
}

/** The areas' names and what each holds at a moment. */
export function Legend({ usage, index }: { usage: Usage; index: number }) {
  return (
    <ol class="area-legend">
      {usage.areas.map(({ label, values, site }, i) => (
        <li>
          <span class="swatch" data-color={site === null ? 8 : i + 1} aria-hidden="true">
            {i + 1}
          </span>
          <span class="name" title={label}>
            {label}
          </span>
          <span class="number">
            {bytes(values[index])}{' '}
            <span class="dim">{usage.total[index] > 0 ? share(values[index] / usage.total[index]) : ''}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
