// SPDX-License-Identifier: Apache-2.0
// Ticks of the time ruler: round steps of one unit. Far from the origin and zoomed in, ticks count from a
// round base that stands at the left, so that they stay short and exact.
import { ns } from '../../format';

export interface Tick {
  at: number;
  label: string;
}
export interface Ruler {
  /** Where ticks count from, as text; empty: from the origin. */
  base: string;
  ticks: Tick[];
}

const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** The smallest of 1, 2, 5, 10, 20 ... that is at least the wanted step. */
export function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  for (const factor of [1, 2, 5]) if (power * factor >= wanted * 0.999999) return power * factor;
  return power * 10;
}

function decimals(step: number): number {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

function inUnit(value: number, unit: [number, string], step: number): string {
  return `${(value / unit[0]).toFixed(decimals(step / unit[0]))} ${unit[1]}`;
}

/** A time of the axis to the precision of a step: 1.234567 s. */
export function exactTime(value: number, step: number): string {
  const unit = UNITS.find(([scale]) => Math.abs(value) >= scale) ?? UNITS[3];
  return inUnit(value, unit, Math.min(step, unit[0]));
}

export function ruler(from: number, to: number, wantedTicks: number, byOrder: boolean): Ruler {
  const step = Math.max(roundStep((to - from) / Math.max(1, wantedTicks)), byOrder ? 1 : 0.1);
  const ticks: Tick[] = [];
  // Ticks with five digits or more before them count from a base.
  const big = step * 1000;
  const base = byOrder || Math.abs(from) < big * 10 ? 0 : Math.floor(from / big) * big;
  const furthest = Math.max(Math.abs(from - base), Math.abs(to - base));
  const unit = UNITS.find(([scale]) => furthest >= scale) ?? UNITS[3];
  for (let i = Math.ceil(from / step); i * step <= to; i++) {
    const at = i * step;
    const label = byOrder ? `#${at.toLocaleString('en-US')}` : inUnit(at - base, unit, step);
    ticks.push({ at, label: base === 0 ? label : `+${label}` });
  }
  return { base: base === 0 ? '' : exactTime(base, big), ticks };
}

/** The length of a stretch for people. */
export function lengthText(length: number, byOrder: boolean): string {
  return byOrder ? `${Math.round(length).toLocaleString('en-US')} calls` : ns(length);
}

/** A place on the axis for people, with as many digits as matter where `span` is shown. */
export function placeText(at: number, span: number, byOrder: boolean): string {
  if (byOrder) return `call ${Math.max(0, Math.floor(at)).toLocaleString('en-US')}`;
  return exactTime(at, roundStep(Math.max(span / 1000, 1)));
}
