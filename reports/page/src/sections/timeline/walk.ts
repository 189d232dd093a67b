// SPDX-License-Identifier: Apache-2.0
// From event to event without a pointer.
import type { Lane, Model } from './model';
import { lowerBound } from './sort';

/** Of an event: its call and what the device did for it. */
export function stretchOf({ events }: Model, row: number): [number, number] {
  const [from, to] = [events.deviceBegin[row], events.deviceEnd[row]];
  const [begin, end] = [events.begin[row], events.end[row]];
  return [from < begin ? from : begin, to > end ? to : end];
}

/** The stretch of the same length round the other end of an event's arrow: from what is shown of the two. */
export function otherEnd({ events }: Model, view: Shown, row: number): [number, number] {
  const call = (events.begin[row] + events.end[row]) / 2;
  const work = (events.deviceBegin[row] + events.deviceEnd[row]) / 2;
  const middle = (view.from + view.to) / 2;
  const target = Math.abs(call - middle) <= Math.abs(work - middle) ? work : call;
  const half = (view.to - view.from) / 2;
  return [target - half, target + half];
}

/** Whether a lane holds the event. */
export function holds({ events }: Model, lane: Lane, row: number): boolean {
  if (row < 0) return false;
  const of = lane.kind === 'thread' ? events.thread[row] : events.stream[row];
  return lane.of === (Number.isNaN(of) ? -1 : of);
}

interface Shown {
  from: number;
  to: number;
}

/** The next or previous call of the same thread; the first that is shown where none is selected. -1: none. */
export function neighbour({ events }: Model, view: Shown, row: number, step: 1 | -1): number {
  if (row < 0) return Math.min(lowerBound(events.begin, view.from), events.rows - 1);
  for (let next = row + step; next >= 0 && next < events.rows; next += step)
    if (events.thread[next] === events.thread[row] || Number.isNaN(events.thread[row])) return next;
  return row;
}

const SEEN = 1 / 400; // of the view: shorter is not seen
const AFTER = 1 / 30; // of the view, then

/** The view in which an event is seen: as it is, moved, or nearer. */
export function revealed(model: Model, view: Shown, row: number): [number, number] {
  const [begin, end] = stretchOf(model, row);
  const length = Math.max(end - begin, model.events.byOrder ? 1 : 10);
  let span = view.to - view.from;
  if (length < span * SEEN) span = length / AFTER;
  else if (length > span) span = length * 1.5;
  else if (begin >= view.from && end <= view.to) return [view.from, view.to];
  const middle = (begin + end) / 2;
  return [middle - span / 2, middle + span / 2];
}
