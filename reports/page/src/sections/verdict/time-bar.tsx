// SPDX-License-Identifier: Apache-2.0
// What the recorded time went to, as one bar whose parts sum to it, with a key that says the same in numbers.
import { known, ns, smallShare } from '../../format';
import type { Report, TimePart } from '../../report';
import { go } from '../../state';
import { isIdle } from '../idle';
import { causeLook, colorName, colorOf } from '../timeline/looks';

interface Drawn extends TimePart {
  at: number;
  part: number;
}

/** Where each part begins, and how much of the whole it is; none that is empty. */
export function layOut({ time }: Report): Drawn[] {
  const drawn: Drawn[] = [];
  let at = 0;
  for (const part of time?.parts ?? []) {
    const of = known(part.ns) && known(time?.recorded_ns) && time.recorded_ns > 0 ? part.ns / time.recorded_ns : 0;
    if (of > 0) drawn.push({ ...part, at, part: of });
    at += of;
  }
  return drawn;
}

/** Causes of idle time have the colours of the timeline's lane; the style sheet has the others. */
function fillOf(part: TimePart) {
  return isIdle(part) ? { fill: `var(${colorName(colorOf(causeLook(part.name)))})` } : {};
}

function Swatch({ part }: { part: TimePart }) {
  return (
    <svg class="time-swatch" viewBox="0 0 14 14" aria-hidden="true">
      <rect class="time-part" data-part={part.name} style={fillOf(part)} width="14" height="14" rx="3" />
    </svg>
  );
}

export function TimeBar({ report }: { report: Report }) {
  const { time } = report;
  const parts = layOut(report);
  if (!time || parts.length === 0) return null;
  const words = parts.map(({ title, part }) => `${title} ${smallShare(part)}`).join(', ');
  return (
    <figure class="time-bar">
      <figcaption>
        <h3>Where the recorded {ns(time.recorded_ns)} went</h3>
        <button type="button" onClick={() => go('idle')}>
          Causes of idle time
        </button>
      </figcaption>
      <svg viewBox="0 0 1000 30" preserveAspectRatio="none" role="img" aria-label={words}>
        {parts.map((each) => (
          <rect
            class="time-part"
            data-part={each.name}
            style={fillOf(each)}
            x={1000 * each.at}
            width={Math.max(1, 1000 * each.part)}
            height="30"
          />
        ))}
      </svg>
      <ul>
        {parts.map((each) => (
          <li>
            <Swatch part={each} /> {each.title} <b>{ns(each.ns)}</b> <span class="dim">{smallShare(each.part)}</span>
          </li>
        ))}
      </ul>
      {time.idle !== undefined && <p>{`${time.idle[0].toUpperCase()}${time.idle.slice(1)}.`}</p>}
      {time.note !== null && <p class="dim">{`${time.note[0].toUpperCase()}${time.note.slice(1)}.`}</p>}
    </figure>
  );
}
