// SPDX-License-Identifier: Apache-2.0
// Kernels: a table whose cells are shaded by their numbers, the roofline, and a page for each kernel.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { count, decimal, known, ns, percent, share } from '../format';
import { Table, type TableColumn } from '../parts/table';
import { useRange } from '../range';
import { go, useChoice } from '../state';
import { modelledFor } from '../words';
import { kernelsOf, kernelsWithin, roofsOf, type Kernel } from './kernels/model';
import { KernelPanel } from './kernels/panel';
import { Roofline } from './kernels/roofline';
import './kernels/kernels.css';

interface Heat {
  key: string;
  title: string;
  value: (kernel: Kernel) => number | null | undefined;
  show: (value: number | null | undefined) => string;
  /** 0: no shade, 1: full; of what is known. */
  heat?: (value: number) => number;
  /** Shaded because more is worse, or because it is a large part. */
  tone?: 'bad' | 'busy';
  help?: string;
}

const times = (value: number | null | undefined) => (known(value) ? `${decimal(value, 1)}×` : '–');
const lack = (value: number) => 1 - value;

const HEATS: Heat[] = [
  { key: 'device_ns', title: 'Time', value: ({ row }) => row.device_ns, show: ns },
  {
    key: 'share',
    title: 'Share',
    value: ({ row }) => row.share_of_wall,
    show: share,
    heat: (v) => v,
    tone: 'busy',
  },
  { key: 'launches', title: 'Launches', value: ({ row }) => row.launches, show: count },
  { key: 'each_ns', title: 'Each', value: ({ each }) => each, show: ns },
  {
    key: 'load_efficiency',
    title: 'Loads',
    value: ({ row }) => row.load_efficiency_percent,
    show: percent,
    heat: (v) => lack(v / 100),
    tone: 'bad',
    help: 'bytes asked for / bytes of the sectors that global loads touched',
  },
  {
    key: 'store_efficiency',
    title: 'Stores',
    value: ({ row }) => row.store_efficiency_percent,
    show: percent,
    heat: (v) => lack(v / 100),
    tone: 'bad',
    help: 'the same of global stores',
  },
  {
    key: 'conflicts',
    title: 'Conflicts',
    value: ({ row }) => row.shared_ways,
    show: times,
    heat: (v) => (v - 1) / 7,
    tone: 'bad',
    help: 'passes through shared memory / fewest possible',
  },
  {
    key: 'achieved',
    title: 'Occupancy',
    value: ({ row }) => row.achieved_occupancy,
    show: share,
    heat: lack,
    tone: 'bad',
    help: 'achieved: resident warps / most that fit',
  },
  {
    key: 'theoretical',
    title: 'Possible',
    value: ({ row }) => row.theoretical_occupancy,
    show: share,
    heat: lack,
    tone: 'bad',
    help: 'theoretical occupancy of this launch',
  },
  {
    key: 'local',
    title: 'Local',
    value: ({ row }) => row.local_share,
    show: share,
    heat: (v) => 2 * v,
    tone: 'bad',
    help: 'part of the memory instructions that went to local memory: spilled registers and arrays',
  },
  {
    key: 'dram',
    title: 'DRAM',
    value: ({ used }) => used.dram,
    show: share,
    heat: (v) => v,
    tone: 'busy',
    help: 'of the calibrated rate of device memory',
  },
  {
    key: 'l2',
    title: 'L2',
    value: ({ used }) => used.l2,
    show: share,
    heat: (v) => v,
    tone: 'busy',
    help: 'of the calibrated rate of L2',
  },
  { key: 'registers', title: 'Regs', value: ({ row }) => row.registers, show: count },
  { key: 'findings', title: 'Findings', value: ({ findings }) => findings.length, show: count },
];

// The number is always there; the shade only leads the eye to it.
function shaded({ value, show, heat, tone }: Heat) {
  return (kernel: Kernel): ComponentChildren => {
    const number = value(kernel);
    const text = show(number);
    if (heat === undefined || !known(number)) return text;
    const level = Math.round(10 * Math.min(1, Math.max(0, heat(number))));
    return (
      <span class="heat" data-tone={tone} data-level={level}>
        {text}
      </span>
    );
  };
}

/** "128×512": dimensions of 1 at the end say nothing. */
function shapeOf(dimensions: number[]): string {
  const text = dimensions.join('×');
  return text.replace(/(?<=\d)(×1)+$/, '');
}

function columnsOf(open: (kernel: Kernel) => void): TableColumn<Kernel>[] {
  return [
    {
      key: 'kernel',
      title: 'Kernel',
      value: ({ row }) => row.name,
      show: (kernel) => (
        <button
          type="button"
          class="name"
          title={kernel.row.name}
          onClick={(event) => {
            event.stopPropagation();
            open(kernel);
          }}
        >
          {kernel.short}
        </button>
      ),
    },
    {
      key: 'shape',
      title: 'Grid, block',
      value: ({ shape }) => shape,
      show: ({ row }) => (
        <small>
          <span>{shapeOf(row.grid)},</span> <span>{shapeOf(row.block)}</span>
        </small>
      ),
      help: 'grid, block',
    },
    ...HEATS.map((heat): TableColumn<Kernel> => ({
      key: heat.key,
      title: heat.title,
      value: heat.value,
      show: shaded(heat),
      help: heat.help,
      numeric: true,
    })),
  ];
}

// The page of a kernel goes away with the focus in it: the table is where it came from.
function leave(choose: (value: string) => void) {
  choose('');
  document.querySelector<HTMLElement>('#kernels > .table .table-scroll')?.focus();
}

export function Kernels({ payload }: SectionProps) {
  const { report, model } = payload.head;
  const every = useMemo(() => kernelsOf(payload), [payload]);
  const range = useRange();
  const kernels = useMemo(() => kernelsWithin(payload, every, range), [payload, every, range]);
  const roofs = useMemo(() => roofsOf(model), [model]);
  const [chosen, choose] = useChoice('k.open', '');
  const kernel = chosen === '' ? undefined : every[Number(chosen)];
  const estimated = every.some(({ row }) => row.estimated_launches);
  const columns = useMemo(() => {
    const all = columnsOf(({ index }) => go('kernels', { 'k.open': String(index) }));
    const time = report.verdict.modelled === true ? 'Time, modelled' : estimated ? 'Time, estimated' : 'Time';
    return all.map((column) => (column.key === 'device_ns' ? { ...column, title: time } : column));
  }, [kernels]);
  if (every.length === 0) return <p>The program launched no kernel that is known by name.</p>;
  return (
    <>
      {kernel !== undefined && <KernelPanel payload={payload} kernel={kernel} close={() => leave(choose)} />}
      <p class="dim">
        One row for each kernel and way it is launched; a row opens the kernel's own page.{' '}
        {report.device.software &&
          (report.verdict.modelled === true
            ? `Times are modelled for ${modelledFor(report)} from exact counts; what needs measured ones is not known. `
            : 'The software device has no times: what needs them is not known. ')}
        {estimated &&
          'Some launches have no device time, as records were off to keep within --overhead: the mean of their kernel stands for them. '}
        <span class="heat" data-tone="bad" data-level="6">
          orange
        </span>
        : the stronger, the worse.{' '}
        <span class="heat" data-tone="busy" data-level="6">
          blue
        </span>
        : the stronger, the larger a part.
        {range !== null && ' Times, shares and launches are of the selected time, counters and occupancy of the whole run.'}
      </p>
      <Table
        id="k"
        caption="Kernels"
        columns={columns}
        rows={kernels}
        sort={report.device.software && report.verdict.modelled !== true ? '-launches' : '-device_ns'}
        rowKey={({ index }) => String(index)}
        rowClass={(row) => (row.index === kernel?.index ? 'chosen' : undefined)}
        onRow={({ index }) => go('kernels', { 'k.open': String(index) })}
        limit={50}
      />
      <h3>Roofline</h3>
      <Roofline
        kernels={kernels}
        roofs={roofs}
        device={report.device.name}
        open={({ index }) => go('kernels', { 'k.open': String(index) })}
      />
    </>
  );
}
