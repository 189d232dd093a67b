// SPDX-License-Identifier: Apache-2.0
// The run at a glance: one sentence, the main figures on one scale, copies, and how good the recording is.
import type { ComponentChildren } from 'preact';
import type { SectionProps } from '../app';
import { bytes, count, known, NOTHING, ns, rate, share } from '../format';
import { commonScale, IntervalBar, ShareBar } from '../parts/bars';
import { CopyButton } from '../parts/copy';
import { toCsv } from '../parts/csv';
import type { Report } from '../report';
import { go } from '../state';
import { counted } from '../words';
import { Alarm } from './failed';
import './verdict.css';
import { certainty, effort, firstOf, gain, heading, placesNote } from './verdict/answer';
import { badges, type Badge } from './verdict/badges';
import { busyNote, copyTotals, runNote, sentence, way, type CopyTotal } from './verdict/summary';
import { TimeBar } from './verdict/time-bar';

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

function memory({ verdict: v, device }: Report): Tile {
  return {
    title: 'Peak device memory',
    value: bytes(v.peak_device_bytes),
    note: [
      known(v.allocations) ? counted(v.allocations, 'allocation') : '',
      known(device.memory_bytes) ? `of ${bytes(device.memory_bytes)}` : '',
    ]
      .filter(Boolean)
      .join(', '),
    section: 'memory',
  };
}

function saved({ verdict: v, findings }: Report): Tile {
  const { combined_saving: saving, wall_ns } = v;
  const title = 'Could be saved';
  const section = 'findings';
  if (!known(saving.best_ns) || saving.best_ns <= 0)
    return {
      title,
      value: NOTHING,
      note: findings.length === 0 ? 'no findings' : 'the findings have no price',
      section,
    };
  const interval = `${ns(saving.low_ns)} to ${ns(saving.high_ns)}`;
  return {
    title,
    value: `about ${ns(saving.best_ns)}`,
    note: `${v.modelled === true ? 'modelled' : `${share(saving.share_of_wall)} of the run`}; ${interval}${v.savings_add_up === true ? '' : ', overlaps counted once: not the sum of the findings'}`,
    section,
    bar: <IntervalBar saving={saving} scale_ns={wall_ns ?? commonScale([saving])} />,
  };
}

/** What is modelled of the software device's counts, which has no times of its own. */
function modelledTiles(report: Report): Tile[] {
  const { verdict: v, transfers } = report;
  const moved = transfers.reduce((sum, row) => sum + row.bytes, 0);
  return [
    {
      title: 'Kernels, modelled',
      value: ns(v.kernel_ns),
      note: counted(v.launches, 'launch', 'launches'),
      section: 'kernels',
    },
    {
      title: 'Copies, modelled',
      value: ns(v.copy_ns),
      note: `${counted(v.transfers, 'copy', 'copies')}, ${bytes(moved)}`,
      section: 'transfers',
    },
    memory(report),
    saved(report),
  ];
}

/** Counts: the software device has no times. */
function countedTiles(report: Report): Tile[] {
  const { verdict: v, transfers, kernels } = report;
  const moved = transfers.reduce((sum, row) => sum + row.bytes, 0);
  return [
    {
      title: 'Kernels',
      value: counted(v.launches, 'launch', 'launches'),
      note: counted(kernels.length, 'kernel class', 'kernel classes'),
      section: 'kernels',
    },
    { title: 'Copies', value: bytes(moved), note: counted(v.transfers, 'copy', 'copies'), section: 'transfers' },
    memory(report),
  ];
}

function tiles(report: Report): Tile[] {
  if (report.verdict.modelled === true) return modelledTiles(report);
  if (report.device.software) return countedTiles(report);
  const { verdict: v } = report;
  const timed = (title: string, value: number | null, note: string, section: string): Tile => {
    const of = part(value, v.wall_ns);
    const text = of === null ? note : `${share(of)} of the run, ${note}`;
    return {
      title,
      value: ns(value),
      note: text,
      section,
      bar: <ShareBar of={of} label={`${share(of)} of the run`} />,
    };
  };
  const whole = <ShareBar of={known(v.wall_ns) ? 1 : null} label="the whole run" />;
  return [
    {
      title: 'Run',
      value: ns(v.wall_ns),
      note: runNote(report),
      section: 'timeline',
      bar: whole,
    },
    timed(known(v.device_seen_share) ? 'GPU busy, estimated' : 'GPU busy', v.gpu_busy_ns, busyNote(report), 'timeline'),
    timed('Kernels', v.kernel_ns, `${counted(v.launches, 'launch', 'launches')}, each by itself`, 'kernels'),
    timed('Copies', v.copy_ns, `${counted(v.transfers, 'copy', 'copies')}, with the host\u2019s part of blocking ones`, 'transfers'),
    memory(report),
    saved(report),
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

function csvOf(totals: CopyTotal[]): string {
  const head: (keyof CopyTotal)[] = ['direction', 'host_class', 'count', 'bytes', 'time_ns'];
  return toCsv(
    head,
    totals.map((row) => head.map((key) => row[key])),
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
      <caption>
        Copies by direction and host memory{timed ? '' : ' (bars: bytes; times are not known)'}{' '}
        <CopyButton what="copies by direction and host memory" text={() => csvOf(totals)} label="Copy CSV" />
      </caption>
      <thead>
        <tr>
          <th scope="col">Direction</th>
          <th scope="col" class="wide">
            {!timed ? 'Bytes' : report.verdict.modelled === true ? 'Time, modelled' : 'Time'}
          </th>
          {timed && (
            <th scope="col" class="number wide">
              Bytes
            </th>
          )}
          <th scope="col" class="number">
            Copies
          </th>
          {timed && (
            <th scope="col" class="number">
              Bandwidth
            </th>
          )}
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

/** The largest findings as sentences: what to do, where, how much work it is, and what it brings. */
function First({ report }: { report: Report }) {
  const list = firstOf(report);
  if (list.length === 0) return null;
  const scale_ns = commonScale(list.map(({ saving }) => saving));
  const note = placesNote(report);
  return (
    <>
      <h3 class="first-title">{heading(report)}</h3>
      <ol class="first">
        {list.map((finding) => (
          <li>
            <button type="button" class="tile" onClick={() => go('findings', { f: finding.fingerprint })}>
              <span class="first-what">{finding.action ?? finding.title}</span>
              <span class="first-how">
                <code>{finding.place?.label ?? finding.where.label}</code> · {effort(finding)}
                {certainty(report, finding) !== '' && ` · ${certainty(report, finding)}`}
              </span>
              <IntervalBar saving={finding.saving} scale_ns={scale_ns} />
              <b>{gain(report, finding)}</b>
            </button>
          </li>
        ))}
      </ol>
      {note !== null && <p class="dim">Names: {note}</p>}
    </>
  );
}

export function Verdict({ payload }: SectionProps) {
  const { report } = payload.head;
  return (
    <>
      <Alarm report={report} />
      <First report={report} />
      <TimeBar report={report} />
      <p class="sentence">{sentence(report)}</p>
      <Badges list={badges(payload.head)} />
      <Tiles report={report} />
      <Copies report={report} />
    </>
  );
}
