// SPDX-License-Identifier: Apache-2.0
// How far the recording and its prices can be trusted, in a few words each, and where to read more.
import type { Head } from '../../payload';
import { counted, endOf, hasFailed, modelledFor } from '../../words';

export interface Badge {
  tone: 'good' | 'fair' | 'bad';
  text: string;
  /** Section it leads to. */
  section: string;
  help: string;
}

const GAPS_SHOWN = 4;

function ofModel({ report }: Head): Badge[] {
  const { device_model: model, device } = report;
  const forDevice = modelledFor(report);
  if (device.software)
    return [
      {
        tone: 'fair',
        text: forDevice === null ? 'software device' : `software device: modelled for ${forDevice}`,
        section: 'about',
        help:
          forDevice === null
            ? 'Exact counts, no times: findings have no price'
            : 'Exact counts; what they would take there follows from its device model, and nothing was measured',
      },
    ];
  const from = model.device === null ? '' : `: ${model.device}`;
  const badges: Badge[] = [];
  const put = (tone: Badge['tone'], text: string, help: string) => badges.push({ tone, text, section: 'about', help });
  if (model.match === 'this board') put('good', 'calibrated on this device', `Prices come from measurements${from}`);
  else if (model.match === 'shipped')
    put('fair', 'modelled: figures of another GPU of this name', `Prices come from the device model shipped with gmtrace${from}`);
  else if (model.match === 'another board')
    put('fair', 'calibrated on another device', `Prices come from measurements of a GPU of the same name${from}`);
  else if (model.match === 'another GPU') put('bad', 'priced as another GPU', `Prices come from another GPU${from}`);
  else put('bad', 'no device model', 'Nothing could be priced with calibrated figures: run "gmtrace calibrate"');
  if (model.noisy) put('bad', 'noisy calibration', 'The device was probably shared or throttled while it was measured');
  return badges;
}

function ofKernels({ report: { verdict } }: Head): Badge[] {
  const { kernel_classes: all, measured_classes: measured } = verdict;
  if (all === 0) return [];
  return [
    {
      tone: measured === all ? 'good' : measured > 0 ? 'fair' : 'bad',
      text: `${measured} of ${counted(all, 'kernel class', 'kernel classes')} measured`,
      section: 'kernels',
      help: `${verdict.measured_launches} of ${counted(verdict.launches, 'launch', 'launches')} have counters`,
    },
  ];
}

/** The state of a capability, as its reason begins; anything else was there, with gaps. */
function stateOf(why: string): string {
  return /^(off|missing|partial)\b/.exec(why)?.[1] ?? 'incomplete';
}

function ofGaps({ report }: Head): Badge[] {
  const gaps = report.could_not_check;
  const rules = gaps.filter(({ what }) => /^GM\d/.test(what));
  const rest = gaps.filter((gap) => !rules.includes(gap));
  const badges: Badge[] = [];
  for (const { what, why, remedy } of rest) {
    const text = `${what.replaceAll('_', ' ')}: ${stateOf(why)}`;
    const help = remedy === null ? why : `${why}. ${remedy}`;
    const same = badges.find((badge) => badge.text === text);
    if (same !== undefined) same.help += `\n${help}`;
    else badges.push({ tone: stateOf(why) === 'off' ? 'fair' : 'bad', text, section: 'checks', help });
  }
  const more = badges.splice(GAPS_SHOWN).length;
  if (more > 0)
    badges.push({ tone: 'bad', text: `${more} more gaps`, section: 'checks', help: 'See the section on checks' });
  if (rest.length === 0)
    badges.push({
      tone: 'good',
      text: 'nothing lost',
      section: 'checks',
      help: 'No record was lost, nothing was missing',
    });
  if (rules.length > 0) {
    const names = rules.map(({ what }) => what).join(', ');
    badges.push({ tone: 'fair', text: `${counted(rules.length, 'rule')} not checked`, section: 'checks', help: names });
  }
  return badges;
}

const ENDS: Record<string, [string, string]> = {
  killed: ['program was killed', 'The last moments before its end may be missing'],
  exec: ['program replaced itself', 'The recording ends where it called exec'],
  unknown: ['end not seen', 'How the program ended is not known'],
};

function ofEnd({ report }: Head): Badge[] {
  const { process } = report;
  const end = ENDS[process.end_reason ?? 'unknown'];
  const badge = (text: string, help: string): Badge[] => [{ tone: 'bad', text, section: 'about', help }];
  if (end !== undefined) return badge(end[0], hasFailed(process) ? `${end[1]} (${endOf(process)})` : end[1]);
  if (!hasFailed(process)) return [];
  return process.exit_signal !== null && process.exit_signal !== undefined
    ? badge(`program failed: ${endOf(process)}`, 'What is shown is of an incomplete run')
    : badge(`program ended: ${endOf(process)}`, 'Many programs report a result by their exit status');
}

function ofDetail({ detail }: Head): Badge[] {
  if (detail === null || detail === undefined) return [];
  const { events, rows } = detail;
  const text = `${events.toLocaleString('en-US')} events drawn as ${rows.toLocaleString('en-US')}`;
  return [
    {
      tone: 'fair',
      text,
      section: 'timeline',
      help: 'Short neighbours of one kind were merged to keep the page small',
    },
  ];
}

export function badges(head: Head): Badge[] {
  return [ofModel, ofKernels, ofGaps, ofEnd, ofDetail].flatMap((of) => of(head));
}
