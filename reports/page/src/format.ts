// SPDX-License-Identifier: Apache-2.0
// Numbers for people, as libtrace/base/format.c prints them. null and NaN become an en dash: not measured.

type Maybe = number | null | undefined;
export const NOTHING = '–';

export function known(value: Maybe): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

function three(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value: number, step: number, units: string[]): string {
  let index = 0;
  while (index + 1 < units.length && Math.abs(value) >= step * 0.9995) {
    value /= step;
    index++;
  }
  return `${index === 0 && Number.isInteger(value) ? value : three(value)} ${units[index]}`;
}

export function ns(value: Maybe): string {
  if (!known(value)) return NOTHING;
  if (Math.abs(value) >= 60e9) return `${Math.floor(value / 60e9)} min ${Math.round((value % 60e9) / 1e9)} s`;
  return scaled(value, 1000, ['ns', 'µs', 'ms', 's']);
}
export function bytes(value: Maybe): string {
  return known(value) ? scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']) : NOTHING;
}
/** bytes per second */
export function rate(value: Maybe): string {
  return known(value) ? scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']) : NOTHING;
}
export function count(value: Maybe): string {
  return known(value) ? value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 }) : NOTHING;
}
/** of 100 */
export function percent(value: Maybe): string {
  return known(value) ? `${three(value)} %` : NOTHING;
}
/** of 1 */
export function share(value: Maybe): string {
  return known(value) ? percent(100 * value) : NOTHING;
}
const LEAST_SHARE = 0.00005; // less is 0.00 % in two digits
/** The same, where 0.00 % would be no news. */
export function smallShare(value: Maybe): string {
  return known(value) && value > 0 && value < LEAST_SHARE ? 'under 0.01 %' : share(value);
}
export function decimal(value: Maybe, digits = 2): string {
  return known(value) ? value.toFixed(digits) : NOTHING;
}
/** A value of a finding's evidence, by its unit. */
export function evidence(value: Maybe, unit: string): string {
  switch (unit) {
    case 'ns':
      return ns(value);
    case 'bytes':
      return bytes(value);
    case 'bytes_per_s':
      return rate(value);
    case 'percent':
      return percent(value);
    case 'ratio':
      return decimal(value);
    default:
      return count(value);
  }
}
/** The last part of a path. */
export function base(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
