// SPDX-License-Identifier: Apache-2.0
// The run in one sentence, and its copies by direction and class of host memory.
import { bytes, known, ns, share } from '../../format';
import type { Report, TransferRow } from '../../report';
import { counted, direction, hostClass, modelledFor } from '../../words';

export interface CopyTotal {
  direction: string;
  host_class: string;
  count: number;
  bytes: number;
  /** null where the time of any of them is not known. */
  time_ns: number | null;
}

/** All size classes together; longest first, or most bytes where no times are known. */
export function copyTotals(rows: TransferRow[]): CopyTotal[] {
  const totals = new Map<string, CopyTotal>();
  for (const row of rows) {
    const key = `${row.direction} ${row.host_class}`;
    const total = totals.get(key) ?? { ...row, count: 0, bytes: 0, time_ns: 0 };
    total.count += row.count;
    total.bytes += row.bytes;
    total.time_ns = known(total.time_ns) && known(row.time_ns) ? total.time_ns + row.time_ns : null;
    totals.set(key, total);
  }
  return [...totals.values()].sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0) || b.bytes - a.bytes);
}

/** "from pageable host memory to the device" */
export function way({ direction: name, host_class }: { direction: string; host_class: string }): string {
  const memory = hostClass(host_class);
  return memory === '' ? direction(name) : direction(name).replace('host', `${memory} host`);
}

/** What most of the time of copies (of their bytes, without times) has in common: the class of host memory. */
function mostly(totals: CopyTotal[], timed: boolean): string {
  const weight = (total: CopyTotal) => (timed ? (total.time_ns ?? 0) : total.bytes);
  const all = totals.reduce((sum, total) => sum + weight(total), 0);
  const classes = new Map<string, number>();
  for (const total of totals) classes.set(total.host_class, (classes.get(total.host_class) ?? 0) + weight(total));
  const [name, most] = [...classes].sort((a, b) => b[1] - a[1])[0] ?? ['-', 0];
  if (!(most / all > 0.5) || hostClass(name) === '') return '';
  return `, ${most === all ? 'all' : share(most / all)} from or to ${hostClass(name)} memory`;
}

function device(report: Report): string {
  const { verdict, device: { software } } = report;
  const forDevice = modelledFor(report);
  if (forDevice !== null) return `The software device counted the work exactly; times are modelled for ${forDevice}`;
  if (software) return 'The software device counted the work exactly, but has no times';
  const { wall_ns, gpu_busy_ns } = verdict;
  if (!known(wall_ns)) return 'How long the run took is not known';
  if (!known(gpu_busy_ns)) return `The run took ${ns(wall_ns)}`;
  if (!known(verdict.device_seen_share)) return `${share(gpu_busy_ns / wall_ns)} of ${ns(wall_ns)} the GPU was busy`;
  return `About ${share(gpu_busy_ns / wall_ns)} of ${ns(wall_ns)} the GPU was busy`;
}

/** What "busy" is, and from what it is estimated where records of devices were off at times. */
export function busyNote({ verdict: { device_seen_share: seen, gpu_busy_error_ns: error } }: Report): string {
  const what = 'kernels, copies and memsets, overlaps once';
  if (!known(seen)) return what;
  const within = known(error) ? `, right within ${ns(error)} (95 %)` : '';
  return `${what}; estimated from the ${share(seen)} of the recording in which records of devices were on${within}`;
}

function copies({ verdict, transfers }: Report): string {
  const totals = copyTotals(transfers);
  if (totals.length === 0) return 'nothing was copied';
  if (known(verdict.copy_ns) && verdict.modelled === true)
    return `copies would take about ${ns(verdict.copy_ns)}${mostly(totals, true)}`;
  if (known(verdict.copy_ns)) return `copies took ${ns(verdict.copy_ns)}${mostly(totals, true)}`;
  const sum = totals.reduce((all, total) => all + total.bytes, 0);
  return `copies moved ${bytes(sum)}${mostly(totals, false)}`;
}

function findings({ findings: list, verdict, device: { software } }: Report): string {
  const { best_ns } = verdict.combined_saving;
  const some = counted(list.length, 'finding');
  if (list.length === 0)
    return software
      ? 'no check found a noticeable part of the work to be unnecessary'
      : 'nothing that was checked would save a noticeable part of the run';
  if (known(best_ns) && best_ns > 0) return `${some} would save about ${ns(best_ns)}${verdict.modelled === true ? ', modelled' : ''}`;
  return software ? `${some}, ranked by unnecessary work` : `${some}, none of them priced`;
}

/** What the length of the run is: with gmtrace's own time beside it where the trace knows that. */
export function runNote({ verdict: { recorded_ns, gmtrace_ns } }: Report): string {
  if (!known(gmtrace_ns) || !known(recorded_ns) || gmtrace_ns <= 0) return 'from the first CUDA call to the end';
  return `the program's; recorded ${ns(recorded_ns)}, gmtrace's own ${ns(gmtrace_ns)}`;
}

export function sentence(report: Report): string {
  return `${[device(report), copies(report), findings(report)].join('; ')}.`;
}
