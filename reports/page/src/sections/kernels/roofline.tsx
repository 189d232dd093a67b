// SPDX-License-Identifier: Apache-2.0
// The instruction roofline (Ding and Williams, "An Instruction Roofline Model for GPUs", 2019): warp
// instructions per second against warp instructions per sector, under calibrated roofs.
import { useMemo } from 'preact/hooks';
import { count, decimal, known, ns, rate as perSecondBytes, share } from '../../format';
import { Controls, Pick, usePick } from '../../parts/controls';
import type { Mark } from '../../parts/density';
import { Scatter, type Curve } from '../../parts/scatter';
import { LineIcon, ShapeIcon, DASHES } from '../../parts/shapes';
import type { TableColumn } from '../../parts/table';
import { datasheetOf, issueRate, type Datasheet } from './datasheet';
import { roofLine, roofPoints, type Kernel, type Roof, type RoofPoint } from './model';

const LEVELS = [
  ['dram', 'device memory'],
  ['l2', 'L2'],
  ['l1', 'L1'],
] as const;
const perSecond = (value: number) => `${count(value / 1e9)} G/s`;
const SHAPES = 7; // kernels with a shape of their own

function columnsOf(points: RoofPoint[]): TableColumn<Mark>[] {
  const of = (mark: Mark) => points[mark.at];
  return [
    {
      key: 'kernel',
      title: 'Kernel',
      value: (mark) => of(mark).kernel.row.name,
      show: (mark) => of(mark).kernel.short,
    },
    { key: 'shape', title: 'Launched as', value: (mark) => of(mark).kernel.shape },
    {
      key: 'intensity',
      title: 'Instructions per sector',
      value: (mark) => mark.x,
      show: (mark) => decimal(mark.x),
      numeric: true,
    },
    {
      key: 'rate',
      title: 'Instructions',
      value: (mark) => mark.y,
      show: (mark) => perSecond(mark.y),
      numeric: true,
    },
    {
      key: 'share',
      title: 'Of the calibrated roof',
      value: (mark) => of(mark).share,
      show: (mark) => share(of(mark).share),
      numeric: true,
    },
    {
      key: 'time',
      title: 'Device time',
      value: (mark) => of(mark).kernel.row.device_ns,
      show: (mark) => ns(of(mark).kernel.row.device_ns),
      numeric: true,
    },
  ];
}

interface Line extends Curve {
  says: string;
}

interface Slope {
  label: string;
  rate: number;
  color: number;
  dash: number;
}

// Calibrated roofs solid, datasheet ones dashed.
function slopesOf(roof: Roof, sheet: Datasheet | null): Slope[] {
  const slopes = roof.lines.map(({ title, rate }, i) => ({
    label: `${title}, calibrated`,
    rate,
    color: 7 - 2 * i,
    dash: 0,
  }));
  if (roof.id === 'dram' && sheet !== null)
    slopes.push({ label: `${roof.title}, datasheet`, rate: sheet.dram_bytes_per_s / 32, color: 7, dash: 1 });
  return slopes;
}

function linesOf(roof: Roof, sheet: Datasheet | null, points: RoofPoint[]): Line[] {
  const issue = sheet === null ? NaN : issueRate(sheet);
  const slopes = slopesOf(roof, sheet);
  const ridges = slopes.map(({ rate }) => issue / rate).filter(known);
  const around = [...points.map(({ intensity }) => intensity), ...ridges];
  const from = Math.min(...around) / 4;
  const to = Math.max(...around) * 4;
  const lines: Line[] = slopes.map(({ rate, ...line }) => ({
    ...line,
    says: perSecondBytes(32 * rate),
    points: roofLine(rate, issue, from, to),
  }));
  if (known(issue)) {
    const flat = Math.min(...ridges, to);
    lines.push({
      label: 'issue, datasheet',
      says: `${perSecond(issue)} warp instructions`,
      color: 6,
      dash: 2,
      points: [
        [Math.min(flat, to), issue],
        [to, issue],
      ],
    });
  }
  return lines.filter((line) => line.points.length > 0);
}

function marksOf(points: RoofPoint[]): Mark[] {
  const top = [...points]
    .sort((a, b) => (b.kernel.row.device_ns ?? 0) - (a.kernel.row.device_ns ?? 0))
    .slice(0, SHAPES);
  return points
    .map((point, at) => {
      const rank = top.indexOf(point);
      return { x: point.intensity, y: point.rate, group: rank < 0 ? SHAPES : rank, count: 1, at, radius: 7 };
    })
    .sort((a, b) => a.x - b.x);
}

interface Props {
  kernels: Kernel[];
  roofs: Roof[];
  device: string | null;
  open: (kernel: Kernel) => void;
}

export function Roofline({ kernels, roofs, device, open }: Props) {
  const [level] = usePick('k.roof', LEVELS);
  const roof = roofs.find(({ id }) => id === level) ?? roofs[0];
  const points = useMemo(() => roofPoints(kernels, roof), [kernels, roof]);
  const marks = useMemo(() => marksOf(points), [points]);
  const sheet = useMemo(() => datasheetOf(device), [device]);
  const lines = useMemo(() => linesOf(roof, sheet, points), [roof, sheet, points]);
  const columns = useMemo(() => columnsOf(points), [points]);
  if (kernels.every((kernel) => !(kernel.each > 0))) return <p>A roofline needs times, and this trace has none.</p>;
  const describe = (mark: Mark) => {
    const { kernel, intensity, rate, share: part } = points[mark.at];
    const work = `${decimal(intensity)} warp instructions per sector, ${perSecond(rate)}`;
    return `${kernel.short}, ${kernel.shape}: ${work}; ${share(part)} of the calibrated rate of ${roof.title}`;
  };
  return (
    <>
      <Controls>
        <Pick id="k.roof" label="Sectors at" options={LEVELS} />
      </Controls>
      {points.length === 0 ? (
        <p>
          No kernel was measured with the counters that this roofline needs (instructions and sectors at {roof.title}).
        </p>
      ) : (
        <>
          <Scatter
            id="k.roofline"
            title={`Roofline: warp instructions a second against instructions per sector at ${roof.title}`}
            x={{
              title: 'warp instructions per 32-byte sector',
              log: true,
              show: (value) => String(value < 1 ? Number(value.toPrecision(2)) : count(value)),
            }}
            y={{ title: 'warp instructions', log: true, show: perSecond }}
            marks={marks}
            curves={lines}
            describe={describe}
            columns={columns}
            onMark={(mark) => open(points[mark.at].kernel)}
          />
          <ul class="roof-lines" aria-label="Kernels in the roofline">
            {[...marks]
              .sort((a, b) => a.group - b.group)
              .slice(0, SHAPES + 1)
              .map((mark) => (
                <li>
                  <ShapeIcon index={mark.group} />{' '}
                  {mark.group < SHAPES ? (
                    <button type="button" onClick={() => open(points[mark.at].kernel)}>
                      {points[mark.at].kernel.short}
                    </button>
                  ) : (
                    `${count(points.length - SHAPES)} others`
                  )}
                </li>
              ))}
          </ul>
          <ul class="roof-lines" aria-label="Roofs">
            {lines.map((line) => (
              <li>
                <LineIcon color={line.color} dash={DASHES[line.dash]} /> {line.label}: {line.says}
              </li>
            ))}
          </ul>
          <p class="dim">
            Nsight Compute draws floating-point operations per byte; here it is warp instructions per 32-byte sector, in which
            integer work and unneeded sectors count, too. {points.length} of {kernels.length} kernels have the counters. A kernel near a slope is held by that memory;
            one near the flat roof by issuing instructions; one far below both by latency, or by too few warps.
            {sheet !== null &&
              ` Datasheet: ${sheet.source}; issue at the clock that its single-precision rate implies.`}
            {roof.lines.length === 0 && ' There is no calibrated rate of this level: gmtrace calibrate measures it.'}
          </p>
        </>
      )}
    </>
  );
}
