// SPDX-License-Identifier: Apache-2.0
// What is under the pointer, in two lines beside it. The panel says the same to whoever uses keys.
import { useEffect, useState } from 'preact/hooks';
import { bytes, count, NOTHING, ns, rate } from '../../format';
import { placeName } from '../idle/model';
import { lengthText, placeText } from './axis';
import type { Hit } from './blocks';
import { apiOf, bandwidth, countOf, nameOf } from './events';
import { usedAt } from './memory';
import { causeOf, idleAt } from './idle';
import type { Model } from './model';

export interface Hover {
  hit: Hit;
  x: number;
  y: number;
  /** The canvas is this wide, the view this long. */
  width: number;
  span: number;
}

/** Why the device is idle at a time, for how long, and where the program is. */
function idleLines(model: Model, device: number, time: number): string[] {
  const row = idleAt(model, device, time);
  if (row < 0) return [];
  const place = model.events.head.idle_places?.[model.idle.place[row]];
  return [
    `idle: ${causeOf(model, row)}`,
    ns(model.idle.ns[row]),
    ...(place === undefined ? [] : [`${place.until === undefined ? 'at ' : ''}${placeName(place)}`]),
  ];
}

function linesOf(model: Model, { hit, span }: Hover): string[] {
  const { events } = model;
  const { lane } = hit.placed;
  const at = placeText(hit.time, span, events.byOrder);
  if (lane.memory !== null) return [`${bytes(usedAt(lane.memory, hit.time))} in use`, `at ${at}`];
  if (lane.kind === 'own') return ['gmtrace itself', 'hatched: the program waited for it', `at ${at}`];
  if (lane.kind === 'idle') return idleLines(model, lane.device, hit.time);
  if (hit.row < 0) return [];
  const { row } = hit;
  const onHost = lane.kind === 'thread';
  const length = onHost ? events.hostNs[row] : events.deviceNs[row];
  const lines = [nameOf(events, row)];
  const merged = countOf(events, row);
  if (!events.byOrder) lines.push(`${onHost ? `${apiOf(events, row)}: ` : 'on the device: '}${ns(length)}`);
  else lines.push(`${apiOf(events, row)}, ${placeText(row, 1, true)}`);
  const speed = bandwidth(events, row);
  if (!onHost && !Number.isNaN(speed)) lines.push(rate(speed));
  if (onHost && !events.byOrder && !Number.isNaN(events.deviceBegin[row]))
    lines.push(`on the device ${lengthText(events.deviceBegin[row] - events.begin[row], false)} later`);
  if (merged > 1) lines.push(`${count(merged)} calls merged`);
  if (hit.count > 1) lines.push(`the longest of ${count(hit.count)} here`);
  return lines.map((line) => (line === '' ? NOTHING : line));
}

/** The hover's state and tooltip; apart from the stage's state, so that a moving pointer renders nothing else. */
export class HoverPlace {
  private listener: (hover: Hover | null) => void = () => undefined;

  describe(hover: Hover | null) {
    this.listener(hover);
  }
  listen(listener: (hover: Hover | null) => void): () => void {
    this.listener = listener;
    return () => void (this.listener = () => undefined);
  }
}

const WIDE = 300;

export function Tooltip({ model, place }: { model: Model; place: HoverPlace }) {
  const [hover, setHover] = useState<Hover | null>(null);
  useEffect(() => place.listen(setHover), [place]);
  const lines = hover === null ? [] : linesOf(model, hover);
  if (hover === null || lines.length === 0) return null;
  const left = Math.max(0, Math.min(hover.x + 14, hover.width - WIDE));
  return (
    <div class="t-tooltip" style={{ left: `${left}px`, top: `${hover.y + 18}px` }} aria-hidden="true">
      <strong>{lines[0].length > 160 ? `${lines[0].slice(0, 160)}…` : lines[0]}</strong>
      {lines.slice(1).map((line) => (
        <span>{line}</span>
      ))}
    </div>
  );
}
