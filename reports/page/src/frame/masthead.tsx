// SPDX-License-Identifier: Apache-2.0
// What was recorded, where and with what: the head of the page.
import type { SectionProps } from '../app';
import { base } from '../format';
import { modelledFor } from '../words';

/** The command without the directory of its program; quoted ones stay as they are. */
export function shortCommand(command: string): string {
  const end = command.search(/[ '"]/);
  const program = end < 0 ? command : command.slice(0, end);
  return base(program) + command.slice(program.length);
}

export function Masthead({ payload }: SectionProps) {
  const { report, realtime_ns } = payload.head;
  const { device, process } = report;
  const forDevice = modelledFor(report);
  const facts = [
    device.name ?? 'no GPU recorded',
    device.compute_capability && `compute ${device.compute_capability}`,
    device.driver_version && `driver ${device.driver_version}`,
    process.hostname,
    realtime_ns !== null && realtime_ns !== undefined && new Date(realtime_ns / 1e6).toLocaleString(),
    report.trace,
  ].filter(Boolean);
  return (
    <header class="masthead">
      <p class="brand">gmtrace</p>
      <h1 title={process.command ?? undefined}>{shortCommand(process.command ?? report.trace)}</h1>
      <p class="dim">{facts.join(' · ')}</p>
      {device.software && (
        <p class="device">
          {forDevice === null
            ? 'software device: exact counts, no times'
            : `software device: exact counts; times are modelled for ${forDevice}, none is measured`}
        </p>
      )}
    </header>
  );
}
