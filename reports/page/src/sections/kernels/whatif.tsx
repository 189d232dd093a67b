// SPDX-License-Identifier: Apache-2.0
// What occupancy would be with another block size, fewer registers or less shared memory.
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { count, known, share } from '../../format';
import { Plot } from '../../parts/plot';
import { drawMarks } from '../../parts/scatter';
import type { TableColumn } from '../../parts/table';
import type { KernelRow } from '../../report';
import { color } from '../../theme';
import { curvesOf, type Curve, type Step } from './occupancy';

const BINARY = Array.from({ length: 40 }, (_, power) => 2 ** power);

const COLUMNS: (curve: Curve) => TableColumn<Step>[] = (curve) => [
  {
    key: curve.id,
    title: curve.upTo ? `${curve.axis}, up to` : curve.axis,
    value: (step) => step.value,
    show: (step) => curve.show(step.value),
    numeric: true,
  },
  { key: 'blocks', title: 'Resident blocks', value: (step) => step.blocks, numeric: true },
  {
    key: 'occupancy',
    title: 'Occupancy',
    value: (step) => step.occupancy,
    show: (step) => share(step.occupancy),
    numeric: true,
  },
];

function WhatIf({ curve, launched }: { curve: Curve; launched: number }) {
  const data = useMemo<uPlot.AlignedData>(() => {
    const first = curve.upTo ? [{ ...curve.steps[0], value: 0 }] : [];
    const all = [...first, ...curve.steps];
    return [all.map(({ value }) => value), all.map(({ occupancy }) => 100 * occupancy)];
  }, [curve]);
  const last = curve.steps[curve.steps.length - 1].value;
  const options = () => {
    const ink = { stroke: color('--dim'), grid: { stroke: color('--line') }, ticks: { stroke: color('--line') } };
    const stepped = curve.upTo ? uPlot.paths.stepped?.({ align: -1 }) : undefined;
    const mark = { x: curve.now, y: 100 * launched, group: 1, count: 1, at: 0, radius: 7 };
    return {
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: [0, Math.max(last, curve.now || 0) * 1.04] as [number, number] },
        y: { range: [0, 108] as [number, number] },
      },
      axes: [
        {
          ...ink,
          label: curve.axis,
          labelSize: 22,
          size: 44,
          space: 70,
          ...(curve.id === 'shared' && { incrs: BINARY }),
          values: (_: uPlot, ticks: number[]) => ticks.map(curve.show),
        },
        { ...ink, size: 52, values: (_: uPlot, ticks: number[]) => ticks.map((tick) => `${tick} %`) },
      ],
      series: [
        {},
        {
          stroke: color('--c1'),
          width: 2,
          ...(stepped && { paths: stepped }),
          points: { show: !curve.upTo, size: 5 },
        },
      ],
      hooks: { draw: [(plot: uPlot) => (known(mark.x) && known(mark.y) ? drawMarks(plot, [mark]) : undefined)] },
    };
  };
  const now = known(curve.now) ? `; the square is the launch: ${curve.show(curve.now)}, ${share(launched)}` : '';
  return (
    <Plot
      id={`k.${curve.id}`}
      title={`Occupancy ${curve.title}${now}`}
      height={210}
      options={options}
      data={data}
      columns={COLUMNS(curve)}
      rows={curve.steps}
    />
  );
}

const LIMITS: Record<string, string> = {
  warps: 'the warps that a multiprocessor can hold',
  registers: 'registers',
  shared: 'shared memory',
  blocks: 'the blocks that a multiprocessor can hold',
  barriers: 'named barriers',
};

export function OccupancyPanel({ row }: { row: KernelRow }) {
  const occupancy = row.occupancy;
  const curves = useMemo(() => (occupancy ? curvesOf(row, occupancy) : []), [row, occupancy]);
  if (!occupancy) return <p>The occupancy of this kernel is not known.</p>;
  if (occupancy.unknown !== undefined) return <p>Occupancy could not be computed: {occupancy.unknown}.</p>;
  const { limiter, blocks_per_multiprocessor: blocks, warps_per_multiprocessor: warps, most_warps: most } = occupancy;
  return (
    <>
      <p>
        {count(blocks)} blocks, {count(warps)} of {count(most)} warps of a multiprocessor can be resident:{' '}
        {share(occupancy.theoretical)}.{' '}
        {limiter
          ? `Limited by ${LIMITS[limiter] ?? limiter}; without that it would be ${share(occupancy.without_limiter)}.`
          : 'Nothing limits it.'}{' '}
        {known(row.achieved_occupancy) && `Achieved: ${share(row.achieved_occupancy)}.`}{' '}
        {known(occupancy.best_block_size) && `Highest with blocks of ${occupancy.best_block_size} threads.`}
      </p>
      <div class="what-if">
        {curves.map((curve) => (
          <WhatIf key={curve.id} curve={curve} launched={occupancy.theoretical ?? NaN} />
        ))}
      </div>
    </>
  );
}
