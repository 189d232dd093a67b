// SPDX-License-Identifier: Apache-2.0
// Axes of uPlot in the colours of the theme, and points of several series on one list of x values.
import uPlot from 'uplot';
import { color } from '../theme';

const MOST_TICKS = 7;

/** Powers of a base, so far apart that their labels have room; for scales with distr: 3. */
export function powers(base: number): uPlot.Axis.Splits {
  return (_, __, min, max) => {
    const [first, last] = [
      Math.ceil(Math.log(min) / Math.log(base) - 1e-9),
      Math.floor(Math.log(max) / Math.log(base) + 1e-9),
    ];
    const step = Math.max(1, Math.ceil((last - first + 1) / MOST_TICKS));
    const ticks: number[] = [];
    for (let power = first; power <= last; power += step) ticks.push(base ** power);
    return ticks;
  };
}

/** Multiples of so many times a power of two, for bytes on a linear scale from 0. */
export function multiples(least: number): uPlot.Axis.Splits {
  return (_, __, min, max) => {
    let step = least;
    while (max / step > MOST_TICKS) step *= 2;
    const ticks: number[] = [];
    for (let tick = Math.ceil(min / step) * step; tick <= max; tick += step) ticks.push(tick);
    return ticks;
  };
}

/** "10 MB/s" for "10.0 MB/s". */
function short(text: string): string {
  return text.replace(/\.0+(?= |$)/, '');
}

export function axis(
  label: string,
  format: (value: number) => string,
  size: number,
  splits?: uPlot.Axis.Splits,
): uPlot.Axis {
  return {
    label,
    labelSize: 20,
    labelGap: 2,
    size,
    splits,
    filter: splits && ((_, ticks) => ticks),
    stroke: color('--dim'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : short(format(tick)))),
  };
}

export interface Point {
  x: number;
  y: number;
}

/** One x axis for series that have their points in different places; null where a series has none. */
export function align(series: Point[][]): uPlot.AlignedData {
  const xs = [...new Set(series.flatMap((points) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const rows = series.map((points) => {
    const at = new Map(points.map(({ x, y }) => [x, y]));
    return xs.map((x) => at.get(x) ?? null);
  });
  return [xs, ...rows];
}
