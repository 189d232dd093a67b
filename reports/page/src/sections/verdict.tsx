// SPDX-License-Identifier: Apache-2.0
// The run at a glance: one sentence, the main figures on one scale, copies, and how good the recording is.
import type { ComponentChildren } from 'preact';
import type { SectionProps } from '../app';
import { bytes, count, known, ns, rate, share } from '../format';
import { commonScale, IntervalBar, ShareBar } from '../parts/bars';
import type { Report } from '../report';
import { go } from '../state';
import { counted } from '../words';
import './verdict.css';
import { badges, type Badge } from './verdict/badges';
import { copyTotals, sentence, way } from './verdict/summary';

interface Tile {
  title: string;
  value: string;
  note: string;
  section: string;
  bar?: ComponentChildren;
}

function part(value: number | null, wall: number | null): number | null {
  return known(value) && known(wall) && wall > 0 ? value / wall : null;
}

function tiles(report: Report): Tile[] {
  const { verdict: v } = report;
  const timed = (title: string, value: number | null, note: string, section: string): Tile => {
    const of = part(value, v.wall_ns);
    const text = of === null ? note : `${share(of)} of the run${note === '' ? '' : `, ${note}`}`;
    return { title, value: ns(value), note: text, section, bar: <ShareBar of={of} label={`${share(of)} of the run`} /> };
  };
  const saving = v.combined_saving;
  const saves = known(saving.best_ns) && saving.best_ns > 0;
  return [
    { title: 'Run', value: ns(v.wall_ns), note: 'from the first CUDA call to the end', section: 'timeline', bar: <ShareBar of={known(v.wall_ns) ? 1 : null} label="the whole run" /> },
    timed('GPU busy', v.gpu_busy_ns, 'copies, fills and kernels', 'timeline'),
    timed('Kernels', v.kernel_ns, counted(v.launches, 'launch', 'launches'), 'kernels'),
    timed('Copies', v.copy_ns, counted(v.transfers, 'copy', 'copies'), 'transfers'),
    {
      title: 'Peak device memory',
      value: bytes(v.peak_device_bytes),
      note: known(v.allocations) ? counted(v.allocations, 'allocation') : '',
      section: 'memory',
    },
    {
      title: 'Could be saved',
      value: saves ? `about ${ns(saving.best_ns)}` : '–',
      note: saves
        ? `${share(saving.share_of_wall)} of the run; ${ns(saving.low_ns)} to ${ns(saving.high_ns)}, overlaps counted once: not the sum of the findings`
        : report.findings.length === 0
          ? 'no findings'
          : 'the findings have no price',
      section: 'findings',
      bar: saves && <IntervalBar saving={saving} scale_ns={v.wall_ns ?? commonScale([saving])} />,
    },
  ];
}

function Tiles({ report }: { report: Report }) {
  return (
    <ul class="tiles">
      {tiles(report).map(({ title, value, note, section, bar }) => (
        <li>
          <button type="button" class="tile" onClick={() => go(section)}>
            <span class="tile-title">{title}</span>
            <b>{value}</b>
            {bar}
            <small>{note}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Copies({ report }: { report: Report }) {
  const totals = copyTotals(report.transfers);
  if (totals.length === 0) return null;
  const timed = totals.every(({ time_ns }) => known(time_ns));
  const weight = (row: (typeof totals)[number]) => (timed ? (row.time_ns ?? 0) : row.bytes);
  const most = Math.max(...totals.map(weight));
  return (
    <table class="copies">
      <caption>Copies by direction and host memory{timed ? '' : ' (bars: bytes; times are not known)'}</caption>
      <thead>
        <tr>
          <th scope="col">Direction</th>
          <th scope="col" class="wide">
            {timed ? 'Time' : 'Bytes'}
          </th>
          {timed && <th scope="col" class="number wide">Bytes</th>}
          <th scope="col" class="number">Copies</th>
          {timed && <th scope="col" class="number">Bandwidth</th>}
        </tr>
      </thead>
      <tbody>
        {totals.map((row) => (
          <tr>
            <th scope="row">{way(row)}</th>
            <td class="copies-bar">
              <ShareBar of={weight(row) / most} label={share(weight(row) / most) + ' of the longest'} />
              <span>{timed ? ns(row.time_ns) : bytes(row.bytes)}</span>
            </td>
            {timed && <td class="number wide">{bytes(row.bytes)}</td>}
            <td class="number">{count(row.count)}</td>
            {timed && <td class="number">{rate((row.bytes / (row.time_ns ?? NaN)) * 1e9)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MARKS: Record<Badge['tone'], string> = { good: '✓', fair: 'i', bad: '!' };
const TONES: Record<Badge['tone'], string> = { good: 'good', fair: 'to know', bad: 'attention' };

function Badges({ list }: { list: Badge[] }) {
  return (
    <ul class="badges" aria-label="Quality of the recording">
      {list.map(({ tone, text, section, help }) => (
        <li>
          <button type="button" class={`badge ${tone}`} title={help} onClick={() => go(section)}>
            <span aria-hidden="true">{MARKS[tone]}</span>
            <span class="hidden">{TONES[tone]}: </span>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Verdict({ payload }: SectionProps) {
  const { report } = payload.head;
  return (
    <>
      <p class="sentence">{sentence(report)}</p>
      <Badges list={badges(payload.head)} />
      <Tiles report={report} />
      <Copies report={report} />
    </>
  );
}
