// SPDX-License-Identifier: Apache-2.0
// One kernel: what holds it, its occupancy, its launches over time, its findings and its counters.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { bytes, count, known, NOTHING, ns, share } from '../../format';
import { thin, type Mark } from '../../parts/density';
import { Scatter } from '../../parts/scatter';
import { stacksOf } from '../../parts/stacks';
import { Table, type TableColumn } from '../../parts/table';
import type { Payload } from '../../payload';
import type { KernelRow } from '../../report';
import { go } from '../../state';
import { countersOf, type CounterRow } from './metrics';
import { sumText, type Kernel } from './model';
import { SourcePanel } from './source-panel';
import { OccupancyPanel } from './whatif';

interface Props {
  payload: Payload;
  kernel: Kernel;
  close: () => void;
}

function launchesText({ launches, launches_in_graphs, measured_launches }: KernelRow): string {
  const inGraphs = launches_in_graphs ? `, ${count(launches_in_graphs)} of them in graphs` : '';
  return `${count(launches)}${inGraphs}, ${count(measured_launches)} measured`;
}

function Facts({ kernel: { row, each }, modelled }: { kernel: Kernel; modelled: boolean }) {
  const facts: [string, string][] = [
    ['Grid', row.grid.join(' × ')],
    ['Block', `${row.block.join(' × ')} threads`],
    ['Registers', known(row.registers) ? `${row.registers} per thread` : NOTHING],
    ['Shared memory', `${bytes(row.static_shared_bytes)} static, ${bytes(row.dynamic_shared_bytes)} dynamic`],
    ['Local memory', known(row.local_bytes) ? `${bytes(row.local_bytes)} per thread` : NOTHING],
    ['Launches', launchesText(row)],
    ['One launch', row.device_ns_by === 'cycles' ? `${ns(each)}, by its cycles: no launch has a device time` : ns(each)],
    ['All launches', `${sumText(row)}, ${modelled ? 'modelled' : `${share(row.share_of_wall)} of the run`}`],
  ];
  return (
    <dl class="kernel-facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const ROOFS: [keyof Kernel['used'], string][] = [
  ['dram', 'device memory'],
  ['l2', 'L2'],
  ['l1', 'L1'],
  ['shared', 'shared memory'],
];

/** The roof that is nearest, in words. */
export function limitOf({ used }: Kernel): string {
  const measured = ROOFS.filter(([id]) => known(used[id])).sort((a, b) => used[b[0]] - used[a[0]]);
  if (measured.length === 0)
    return 'Which memory limits it is not known: that needs times, counters and a calibrated device model.';
  const [id, title] = measured[0];
  if (used[id] >= 0.6) return `Limited by ${title}: ${share(used[id])} of the rate that calibration reached.`;
  const nearest = `the nearest, ${title}, at ${share(used[id])}`;
  return `No memory is near its limit (${nearest}): look at latency, occupancy, instructions or the number of blocks.`;
}

function Limits({ kernel }: { kernel: Kernel }) {
  return (
    <>
      <p>{limitOf(kernel)}</p>
      <dl class="kernel-limits">
        {ROOFS.map(([id, title]) => {
          const used = kernel.used[id];
          return (
            <div>
              <dt>{title}</dt>
              <dd>
                {known(used) && (
                  <meter
                    min={0}
                    max={1}
                    value={Math.min(1, used)}
                    aria-label={`${title}: ${share(used)} of the calibrated rate`}
                  />
                )}
                <span>{share(used)}</span>
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

interface Launches {
  call: number[];
  at: number[];
  device: number[];
  count: number[];
}

function launchesOf(payload: Payload, index: number): Launches {
  const table = payload.table('call');
  const [kernel, begin, start, device, count] = ['kernel', 'begin', 'device_start', 'device_ns', 'count'].map((name) =>
    table.numbers(name),
  );
  const found: Launches = { call: [], at: [], device: [], count: [] };
  for (let row = 0; row < table.rows; row++) {
    if (kernel[row] !== index || !(device[row] > 0)) continue;
    const many = count[row] || 1;
    found.call.push(row);
    found.at.push(begin[row] + (start[row] || 0));
    found.device.push(device[row] / many);
    found.count.push(many);
  }
  return found;
}

function Over({ payload, kernel }: { payload: Payload; kernel: Kernel }) {
  const launches = useMemo(() => launchesOf(payload, kernel.index), [payload, kernel]);
  const marks = useMemo(
    () =>
      thin(
        {
          x: launches.at,
          y: launches.device,
          group: new Uint8Array(launches.at.length),
          count: launches.count,
          weight: launches.device,
        },
        { logX: false, logY: false },
      ),
    [launches],
  );
  const stack = payload.table('call').numbers('stack');
  const stream = payload.table('call').numbers('stream');
  const stacks = stacksOf(payload);
  const site = (mark: Mark) => stacks.site(stack[launches.call[mark.at]]);
  const where = (mark: Mark) => payload.head.streams[stream[launches.call[mark.at]]]?.label ?? NOTHING;
  const columns: TableColumn<Mark>[] = [
    { key: 'start', title: 'Start', value: (mark) => mark.x, show: (mark) => ns(mark.x), numeric: true },
    { key: 'device_ns', title: 'Device time', value: (mark) => mark.y, show: (mark) => ns(mark.y), numeric: true },
    { key: 'launches', title: 'Launches', value: (mark) => mark.count, numeric: true },
    { key: 'stream', title: 'Stream', value: where },
    { key: 'site', title: 'Call site', value: site },
  ];
  const describe = (mark: Mark) => {
    const many = mark.count > 1 ? `${count(mark.count)} launches about here, the longest: ` : '';
    return `${many}at ${ns(mark.x)}, ${ns(mark.y)}, ${where(mark)}, from ${site(mark)}`;
  };
  if (payload.head.report.device.software) return <p>Times of launches are not known: the software device has none.</p>;
  if (marks.length === 0) return <p>No launch of this kernel has a time on the device.</p>;
  return (
    <Scatter
      id="k.launches"
      title={`Launches over time: ${kernel.short}`}
      height={240}
      x={{ title: 'start on the device', log: false, show: ns }}
      y={{ title: 'device time', log: false, show: ns }}
      marks={marks}
      curves={[]}
      describe={describe}
      columns={columns}
    />
  );
}

const COUNTERS: TableColumn<CounterRow>[] = [
  { key: 'counter', title: 'Counter', value: (row) => row.name },
  {
    key: 'value',
    title: 'Mean per launch',
    value: (row) => row.value,
    show: (row) => (row.unit === 'bytes' ? bytes(row.value) : count(row.value)),
    numeric: true,
  },
  { key: 'unit', title: 'Unit', value: (row) => row.unit },
  {
    key: 'meaning',
    title: 'Meaning',
    value: (row) => row.meaning,
    show: (row) => <span class="meaning">{row.meaning}</span>,
  },
  {
    key: 'group',
    title: 'Group',
    value: (row) => row.group,
    help: 'patched: by instrumented instructions; hardware, spill: performance counters; simulated: software device only',
  },
  {
    key: 'source',
    title: 'Name in CUPTI',
    value: (row) => row.source,
    show: (row) => row.source && <code>{row.source}</code>,
  },
];

function Findings({ kernel: { findings } }: { kernel: Kernel }) {
  if (findings.length === 0) return <p>No finding is about this kernel.</p>;
  return (
    <ul class="of-kernel">
      {findings.map((finding) => (
        <li>
          <a
            href="#findings"
            onClick={(event) => {
              event.preventDefault();
              go('findings', { f: finding.fingerprint });
            }}
          >
            {finding.title}
          </a>{' '}
          <span class="dim">
            {finding.rule}, {finding.severity}
            {known(finding.saving.best_ns) && `, would save ${ns(finding.saving.best_ns)}`}
          </span>
          <br />
          {finding.headline}
        </li>
      ))}
    </ul>
  );
}

export function KernelPanel({ payload, kernel, close }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const counters = useMemo(() => countersOf(kernel.row.counters), [kernel]);
  // What opened it may lie far away: the focus goes along.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [kernel.index]);
  return (
    <article class="kernel card" aria-labelledby="k-name">
      <button type="button" class="close" onClick={close}>
        All kernels
      </button>
      <h3 id="k-name" ref={heading} tabIndex={-1}>
        <code>{kernel.row.name}</code>
      </h3>
      <Facts kernel={kernel} modelled={payload.head.report.verdict.modelled === true} />
      <h4>What limits it</h4>
      <Limits kernel={kernel} />
      <h4>Findings</h4>
      <Findings kernel={kernel} />
      <SourcePanel payload={payload} kernel={kernel} />
      <h4>Occupancy</h4>
      <OccupancyPanel row={kernel.row} />
      <h4>Launches</h4>
      <Over payload={payload} kernel={kernel} />
      <h4>Counters</h4>
      {counters.length === 0 ? (
        <p>No launch of this kernel was measured.</p>
      ) : (
        <Table id="k.counters" caption={`Counters of ${kernel.short}`} columns={COUNTERS} rows={counters} />
      )}
    </article>
  );
}
