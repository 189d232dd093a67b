// SPDX-License-Identifier: Apache-2.0
// Device memory in use: a step per allocation and free, and the most of any stretch of it without a walk.
import type { Payload } from '../../payload';
import { lowerBound, sortByKey } from './sort';

export interface MemoryCurve {
  /** Ascending; from time[i] on, bytes[i] are in use. */
  time: Float64Array;
  bytes: Float64Array;
  /** The most of each BLOCK steps. */
  most: Float64Array;
  peak: number;
  peakAt: number;
}

const BLOCK = 64;
const HOST = /pin|lock|host|regist/i;

function curveOf(times: number[], changes: number[]): MemoryCurve {
  const key = Float64Array.from(times);
  const order = sortByKey(Uint32Array.from(times.keys()), key);
  const time = new Float64Array(order.length);
  const bytes = new Float64Array(order.length);
  const most = new Float64Array(Math.ceil(order.length / BLOCK));
  let steps = 0;
  let used = 0;
  let peak = 0;
  let peakAt = key[order[0]] ?? 0;
  for (const i of order) {
    used += changes[i];
    if (steps > 0 && time[steps - 1] === key[i]) steps--;
    time[steps] = key[i];
    bytes[steps++] = used;
  }
  for (let i = 0; i < steps; i++) {
    const block = Math.floor(i / BLOCK);
    most[block] = Math.max(most[block], bytes[i]);
    if (bytes[i] > peak) {
      peak = bytes[i];
      peakAt = time[i];
    }
  }
  return { time: time.slice(0, steps), bytes: bytes.slice(0, steps), most, peak, peakAt };
}

/** By device; memory of the host (page-locked) is no part of it. */
export function readMemory(payload: Payload, place: (timeNs: number) => number): Map<number, MemoryCurve> {
  const table = payload.table('allocation');
  const [kind, bytes, begin] = ['kind', 'bytes', 'begin'].map((name) => table.numbers(name));
  const [freed, device] = ['freed', 'device'].map((name) => table.numbers(name));
  const onHost = payload.head.names.allocation.map((name) => HOST.test(name));
  const steps = new Map<number, { times: number[]; changes: number[] }>();
  for (let i = 0; i < table.rows; i++) {
    if (onHost[kind[i]] || !(bytes[i] > 0) || Number.isNaN(begin[i])) continue;
    const of = Number.isNaN(device[i]) ? 0 : device[i];
    let step = steps.get(of);
    if (step === undefined) steps.set(of, (step = { times: [], changes: [] }));
    step.times.push(place(begin[i]));
    step.changes.push(bytes[i]);
    if (Number.isNaN(freed[i])) continue;
    step.times.push(place(begin[i] + Math.max(0, freed[i])));
    step.changes.push(-bytes[i]);
  }
  return new Map([...steps].map(([of, { times, changes }]) => [of, curveOf(times, changes)]));
}

/** In use at a time. */
export function usedAt(curve: MemoryCurve, time: number): number {
  const step = lowerBound(curve.time, time, true) - 1;
  return step < 0 ? 0 : curve.bytes[step];
}

/** The most in use within [from, to). */
export function mostWithin(curve: MemoryCurve, from: number, to: number): number {
  let most = usedAt(curve, from);
  let i = lowerBound(curve.time, from);
  const end = lowerBound(curve.time, to);
  while (i < end) {
    if (i % BLOCK === 0 && i + BLOCK <= end) {
      most = Math.max(most, curve.most[i / BLOCK]);
      i += BLOCK;
    } else most = Math.max(most, curve.bytes[i++]);
  }
  return most;
}
