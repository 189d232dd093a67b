// SPDX-License-Identifier: Apache-2.0
// Points over curves, on linear or logarithmic axes, thinned (density.ts). The pointer and the arrow
// keys go from mark to mark and say what it is; the marks can be had as a table.
import { useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { color } from '../theme';
import { logTicks, type Mark } from './density';
import { Plot } from './plot';
import { colorName, DASHES, trace } from './shapes';
import type { TableColumn } from './table';
import './scatter.css';

export interface Curve {
  label: string;
  /** Index of its colour and of its dash. */
  color: number;
  dash: number;
  points: [number, number][];
}

export interface AxisOf {
  title: string;
  log: boolean;
  /** Of the ticks of a logarithmic axis. */
  base?: number;
  show: (value: number) => string;
}

export interface ScatterProps {
  id: string;
  title: string;
  x: AxisOf;
  y: AxisOf;
  marks: Mark[];
  curves: Curve[];
  /** In the words of the trace: what the mark is. */
  describe: (mark: Mark) => string;
  columns: TableColumn<Mark>[];
  onMark?: (mark: Mark) => void;
  height?: number;
}

const KEYS = 'Arrow keys go from mark to mark.';
const KEYS_OPEN = 'Arrow keys go from mark to mark, Enter opens.';
const REACH = 24; // pixels around the pointer

// Many marks are smaller, so that they do not hide each other: [marks, radius of one, growth].
const SIZES: [number, number, number][] = [
  [300, 3.5, 0.7],
  [3000, 2.2, 0.35],
  [Infinity, 1.4, 0.15],
];

function radiusOf(mark: Mark, among: number): number {
  const [, least, growth] = SIZES.find(([marks]) => among <= marks) as [number, number, number];
  return mark.radius ?? Math.min(11, least + growth * Math.log2(mark.count));
}
const OUTLINED = 60; // of one group: outlines of more would hide them

function rangeOf(values: number[], log: boolean): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (log) return [low / 1.6, high * 1.6];
  const room = (high - Math.min(0, low)) * 0.06 || 1;
  return [low < 0 ? low - room : 0, high + room];
}

/** All x of all curves, and each curve's y where it has one there. */
export function align(curves: Curve[], xs: [number, number]): uPlot.AlignedData {
  const all = [...new Set([...curves.flatMap(({ points }) => points.map(([x]) => x)), ...xs])].sort((a, b) => a - b);
  const place = new Map(all.map((x, at) => [x, at]));
  const series = curves.map(({ points }) => {
    const values = new Array<number | null>(all.length).fill(null);
    for (const [x, y] of points) values[place.get(x) as number] = y;
    return values;
  });
  return [all, ...series] as uPlot.AlignedData;
}

type Stamps = Map<string, HTMLCanvasElement>;

// Each look is drawn once and stamped: paths of ten thousand polygons take seconds to fill.
function stampOf(stamps: Stamps, group: number, radius: number, outlined: boolean): HTMLCanvasElement {
  const key = `${group} ${radius} ${outlined}`;
  let stamp = stamps.get(key);
  if (stamp !== undefined) return stamp;
  stamp = document.createElement('canvas');
  stamp.width = stamp.height = 2 * Math.ceil(1.4 * radius + 2 * devicePixelRatio);
  const ctx = stamp.getContext('2d') as CanvasRenderingContext2D;
  const path = new Path2D();
  trace(path, group, stamp.width / 2, stamp.height / 2, radius);
  ctx.fillStyle = color(colorName(group));
  ctx.globalAlpha = 0.8;
  ctx.fill(path);
  ctx.globalAlpha = 1;
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeStyle = color('--card');
  if (outlined) ctx.stroke(path);
  stamps.set(key, stamp);
  return stamp;
}

export function drawMarks(plot: uPlot, marks: Mark[]) {
  const { ctx, bbox } = plot;
  const sizes = new Map<number, number>();
  for (const { group } of marks) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const stamps: Stamps = new Map();
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const mark of marks) {
    const radius = (Math.round(2 * radiusOf(mark, marks.length)) / 2) * devicePixelRatio;
    const stamp = stampOf(stamps, mark.group, radius, (sizes.get(mark.group) ?? 0) <= OUTLINED);
    const half = stamp.width / 2;
    ctx.drawImage(stamp, plot.valToPos(mark.x, 'x', true) - half, plot.valToPos(mark.y, 'y', true) - half);
  }
  ctx.restore();
}

function nearest(plot: uPlot, marks: Mark[], left: number, top: number): Mark | null {
  let best: Mark | null = null;
  let least = REACH * REACH;
  for (const mark of marks) {
    const dx = plot.valToPos(mark.x, 'x') - left;
    const dy = plot.valToPos(mark.y, 'y') - top;
    const distance = dx * dx + dy * dy;
    if (distance < least) [least, best] = [distance, mark];
  }
  return best;
}

function axis(of: AxisOf, size: number): uPlot.Axis {
  const line = { stroke: color('--line') };
  return {
    stroke: color('--dim'),
    grid: line,
    ticks: line,
    label: of.title,
    labelSize: 22,
    size,
    values: (_, ticks) => ticks.map(of.show),
    ...(of.log && {
      splits: (plot: uPlot, index: number, min: number, max: number) =>
        logTicks(min, max, of.base ?? 10, Math.max(2, Math.floor(index === 0 ? plot.width / 90 : plot.height / 34))),
      filter: (_: uPlot, ticks: number[]) => ticks,
    }),
  };
}

function optionsOf({ x, y, marks, curves }: ScatterProps, xs: [number, number], ys: [number, number]) {
  return {
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    scales: {
      x: { time: false, distr: (x.log ? 3 : 1) as uPlot.Scale.Distr, range: xs },
      y: { distr: (y.log ? 3 : 1) as uPlot.Scale.Distr, range: ys },
    },
    axes: [axis(x, 46), axis(y, 84)],
    series: [
      {},
      ...curves.map((curve): uPlot.Series => ({
        label: curve.label,
        stroke: color(colorName(curve.color)),
        width: 2,
        dash: DASHES[curve.dash % DASHES.length],
        spanGaps: true,
        points: { show: false },
      })),
    ],
    hooks: { drawAxes: [(plot: uPlot) => drawMarks(plot, marks)], ready: [] as ((plot: uPlot) => void)[] },
  };
}

// What follows the pointer and the keys inside one uPlot.
function makeRing(plot: uPlot) {
  const ring = document.createElement('div');
  ring.className = 'scatter-ring';
  ring.hidden = true;
  plot.over.append(ring);
  return (mark: Mark | null) => {
    ring.hidden = mark === null;
    if (mark === null) return;
    ring.style.left = `${plot.valToPos(mark.x, 'x')}px`;
    ring.style.top = `${plot.valToPos(mark.y, 'y')}px`;
  };
}

/** The mark that an arrow key leads to: by x, or by y. */
export function walk(marks: Mark[], from: Mark | null, key: string): Mark | null {
  if (marks.length === 0) return null;
  const upright = key === 'ArrowUp' || key === 'ArrowDown';
  const order = upright ? [...marks].sort((a, b) => a.y - b.y || a.x - b.x) : marks;
  if (from === null) return order[0];
  const at = order.indexOf(from) + (key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1);
  return order[Math.max(0, Math.min(order.length - 1, at))];
}

export function Scatter(props: ScatterProps) {
  const { id, title, x, y, marks, curves, describe, columns, onMark, height = 340 } = props;
  const [active, setActive] = useState<Mark | null>(null);
  const ring = useRef<(mark: Mark | null) => void>(() => undefined);
  const press = useRef(onMark);
  press.current = onMark;
  const xs = useMemo(
    () => rangeOf([...marks.map((m) => m.x), ...curves.flatMap((c) => c.points.map(([v]) => v))], x.log),
    [marks, curves, x.log],
  );
  const ys = useMemo(
    () => rangeOf([...marks.map((m) => m.y), ...curves.flatMap((c) => c.points.map(([, v]) => v))], y.log),
    [marks, curves, y.log],
  );
  const data = useMemo(() => align(curves, xs), [marks, curves, xs]);
  const show = (mark: Mark | null) => {
    setActive(mark);
    ring.current(mark);
  };
  const options = () => {
    const made = optionsOf(props, xs, ys);
    made.hooks.ready.push((plot) => {
      ring.current = makeRing(plot);
      plot.over.addEventListener('mousemove', (event) => show(nearest(plot, marks, event.offsetX, event.offsetY)));
      plot.over.addEventListener('click', (event) => {
        const mark = nearest(plot, marks, event.offsetX, event.offsetY);
        if (mark !== null) press.current?.(mark);
      });
    });
    return made;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter' && active !== null) onMark?.(active);
    else if (event.key.startsWith('Arrow')) show(walk(marks, active, event.key));
    else return;
    event.preventDefault();
  };
  const current = active !== null && marks.includes(active) ? active : null;
  return (
    <>
      <div
        class="scatter"
        tabIndex={0}
        role="group"
        aria-label={`${title}: ${marks.length} marks. ${onMark ? KEYS_OPEN : KEYS}`}
        onKeyDown={onKey}
      >
        <Plot id={id} title={title} height={height} options={options} data={data} columns={columns} rows={marks} />
      </div>
      <p class="scatter-details" aria-live="polite">
        {current === null ? (
          <span class="dim">Point at a mark, or focus the plot and use the arrow keys.</span>
        ) : (
          describe(current)
        )}
      </p>
    </>
  );
}
