// SPDX-License-Identifier: Apache-2.0
// How to read the page, how to make it again, what was recorded and with what, and the device model.
import type { SectionProps } from '../app';
import { bytes, count, known, NOTHING } from '../format';
import { modelOf } from '../model';
import { Code } from '../parts/copy';
import type { Head } from '../payload';
import { openKeys } from '../frame/keys';
import { endOf } from '../words';
import './about.css';
import { Facts, type Fact } from './about/facts';
import { Licences } from './about/licences';
import { ModelTables } from './about/model';
import { recordMore } from './about/more';

function HowToRead() {
  return (
    <dl class="how">
      <dt>Finding</dt>
      <dd>
        A place in the program that uses memory inefficiently, what that costs on this GPU, and how to fix it. A kernel
        that runs at the measured roof is never a finding, whatever its ratios.
      </dd>
      <dt>Saving</dt>
      <dd>
        The time that this fix alone would save. The bar ends at the best estimate, the pale bar goes from the lowest
        to the highest. Savings of different findings may overlap: the verdict counts overlaps once.
      </dd>
      <dt>Confidence</dt>
      <dd>
        Measured: times of this run. Calibrated: reference kernels and copies on the same device. Modelled: a model of
        the resources, or another device. Heuristic: a threshold, no price.
      </dd>
      <dt>– (en dash)</dt>
      <dd>Not measured, which is never the same as 0.</dd>
      <dt>Tables</dt>
      <dd>A click on a column head sorts. The filter shows rows that contain all of its words. CSV is copied in base units (ns, bytes).</dd>
      <dt>Links</dt>
      <dd>
        Your choices are part of the address: "Copy link" gives whoever has this file the same view. Keys are listed
        under{' '}
        <button type="button" class="link" onClick={openKeys}>
          ?
        </button>
        .
      </dd>
    </dl>
  );
}

function More({ head }: { head: Head }) {
  const list = recordMore(head);
  if (list.length === 0) return null;
  return (
    <>
      <h3>See more in the next recording</h3>
      {list.map(({ why, command }) => (
        <>
          <p>{why}</p>
          <Code what={`the command: ${why}`} text={command} wrap />
        </>
      ))}
    </>
  );
}

function code(text: string | null | undefined) {
  return text === null || text === undefined || text === '' ? null : <code>{text}</code>;
}

function processFacts({ report, realtime_ns, threads }: Head): Fact[] {
  const { process } = report;
  return [
    ['Command', code(process.command)],
    ['Program', code(process.exe)],
    ['Working directory', code(process.working_directory)],
    ['Host', process.hostname],
    ['First CUDA call', known(realtime_ns) ? new Date(realtime_ns / 1e6).toISOString() : null],
    ['End', endOf(process)],
    ['Threads', threads.map(({ tid, name }) => `${name ?? NOTHING} (${tid})`).join(', ')],
    ['Trace', code(report.trace)],
    ['Analysed by', `gmanalyze ${report.tool_version}`],
  ];
}

function DeviceFacts({ head }: { head: Head }) {
  const { report, devices } = head;
  const list =
    devices.length > 0 ? devices : [{ ...report.device, sm_count: null, memory_bytes: null, l2_bytes: null }];
  return (
    <>
      {list.map((device) => (
        <Facts
          facts={[
            ['Device', device.name],
            ['UUID', code(device.uuid)],
            ['Compute capability', device.compute_capability],
            ['Driver', device.driver_version],
            ['Multiprocessors', count(device.sm_count)],
            ['Memory', bytes(device.memory_bytes)],
            ['L2 cache', bytes(device.l2_bytes)],
          ]}
        />
      ))}
    </>
  );
}

export function About({ payload }: SectionProps) {
  const { head } = payload;
  const { capabilities = [], process } = head.report;
  const options = Object.entries(process.options ?? {}).map(([name, value]): Fact => [
    name.replaceAll('_', ' '),
    code(value),
  ]);
  return (
    <>
      <h3>How to read this page</h3>
      <HowToRead />
      <h3>Recreate this page</h3>
      <Code what="the command" text={head.reproduce} wrap />
      <More head={head} />
      <h3>Recording</h3>
      <Facts facts={processFacts(head)} />
      {options.length > 0 && <h3>Options of the recording</h3>}
      {options.length > 0 && <Facts facts={options} />}
      {capabilities.length > 0 && <h3>What the recorder could do</h3>}
      {capabilities.length > 0 && (
        <Facts
          facts={capabilities.map(({ name, state, detail }) => [name, [state, detail].filter(Boolean).join(': ')])}
        />
      )}
      <h3>Device</h3>
      <DeviceFacts head={head} />
      <h3>Device model</h3>
      <ModelTables model={modelOf(head)} report={head.report} />
      <h3>Licences</h3>
      <Licences />
    </>
  );
}
