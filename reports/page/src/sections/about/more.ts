// SPDX-License-Identifier: Apache-2.0
// What the next recording could hold that this one lacks, as commands to copy.
import type { Head } from '../../payload';

export interface More {
  why: string;
  command: string;
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function recordMore({ report, sources }: Pick<Head, 'report' | 'sources'>): More[] {
  const { process, device, findings, kernels, ranges = [] } = report;
  const program = process.command ?? './app';
  const more: More[] = [];
  if (device.software)
    more.push({
      why: 'On a machine with a GPU: times, and what each fix saves.',
      command: `gmtrace ${program}`,
    });
  if (!device.software && kernels.length > 0 && sources === undefined)
    more.push({
      why: 'The source lines behind what kernels do: every instruction is counted, in a second run of the program.',
      command: `gmtrace --collect deep ${program}`,
    });
  if (findings.some(({ where }) => where.note !== undefined))
    more.push({
      why: 'Names of functions and lines that are missing here: -g is for host code, -lineinfo for kernels.',
      command: 'nvcc -g -lineinfo ...',
    });
  const range = ranges.find(({ findings: n }) => n > 0);
  // Of names that differ in numbers only there is no one name to ask for.
  if (range !== undefined && !range.name.includes('#'))
    more.push({
      why: 'Only what is called inside of the range with the largest savings.',
      command: `gmtrace --range ${quoted(range.name)} ${program}`,
    });
  return more;
}
