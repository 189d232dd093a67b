// SPDX-License-Identifier: Apache-2.0
// The device model as rows of tables: every value with its spread and the number of samples.
import { bytes, known } from '../../format';
import type { Curve, Model, Spread } from '../../model';

export interface Figure {
  name: string;
  unit: 'ns' | 'bytes_per_s' | 'count_per_s';
  value: number | null;
  spread: number | null;
  n: number | null;
}

export interface SizeFigure {
  name: string;
  bytes: number;
  median_ns: number | null;
  spread_ns: number | null;
  n: number | null;
}

/** "dram_load_ns" as "dram load". */
function spoken(key: string): string {
  return key.replace(/_(ns|bytes_per_s|per_s)$/, '').replaceAll('_', ' ');
}

function unitOf(key: string): Figure['unit'] {
  return key.endsWith('_bytes_per_s') ? 'bytes_per_s' : key.endsWith('_per_s') ? 'count_per_s' : 'ns';
}

function isSpread(value: unknown): value is Spread {
  return typeof value === 'object' && value !== null && 'median' in value;
}

function figures(group: Record<string, unknown> | undefined): Figure[] {
  return Object.entries(group ?? {}).flatMap(([key, value]) =>
    isSpread(value)
      ? [{ name: spoken(key), unit: unitOf(key), value: value.median, spread: value.spread, n: value.n }]
      : [],
  );
}

export function rates(model: Model): Figure[] {
  return figures(model.rates);
}

/** What takes a fixed time: latencies, calls, single accesses. */
export function fixedCosts(model: Model): Figure[] {
  return [model.latencies, model.costs, model.access_costs].flatMap(figures);
}

function bySize(group: Record<string, unknown> | undefined): SizeFigure[] {
  return Object.entries(group ?? {}).flatMap(([key, value]) =>
    ((value as Curve).points ?? []).map(({ bytes, median_ns, spread_ns, n }) => ({
      name: spoken(key),
      bytes,
      median_ns,
      spread_ns: spread_ns ?? null,
      n: n ?? null,
    })),
  );
}

export function copiesBySize(model: Model): SizeFigure[] {
  return bySize(model.transfers);
}

/** Allocating and page-locking. */
export function callsBySize(model: Model): SizeFigure[] {
  return bySize(model.costs);
}

/** One way of moving the same bytes. */
export interface WayFigure extends Omit<SizeFigure, 'bytes'> {
  /** "512 rows of 3.91 KiB" */
  shape: string;
  way: string;
}

type Numbers = Record<string, number | null | undefined>;

/** Names of a time and of its spread, where they are not "x_ns" and "x_spread_ns", and what it is. */
const WAYS: [key: string, spread: string, way: string][] = [
  ['row_copies_ns', 'row_copies_spread_ns', 'row by row'],
  ['copy_2d_ns', 'copy_2d_spread_ns', 'one 2-D copy'],
  ['median_ns', 'spread_ns', 'each of them'],
  ['merged_ns', 'merged_spread_ns', 'one copy of all'],
  ['batch_ns', 'batch_spread_ns', 'one batch of all'],
  ['flat_ns', 'flat_spread_ns', 'one 1-D copy'],
];

function shapeOf(batch: Numbers, point: Numbers): string {
  const rows = point.rows ?? batch.rows;
  const width = point.width ?? batch.row_bytes;
  if (known(rows) && known(width))
    return `${rows} rows of ${bytes(width)}, pitch ${bytes(point.device_pitch_bytes ?? batch.device_pitch_bytes)}`;
  return `${batch.copies ?? '?'} copies of ${bytes(point.bytes)}`;
}

/** Many copies against one: by rows, back to back, two-dimensional. */
export function waysOfCopying(model: Model): WayFigure[] {
  return Object.entries(model.batches ?? {}).flatMap(([key, batch]) => {
    const points = Array.isArray(batch.points) ? (batch.points as Numbers[]) : [batch as Numbers];
    const name = [batch.direction, batch.class, batch.mode].filter(Boolean).join(' ') || spoken(key);
    return points.flatMap((point) =>
      WAYS.filter(([time]) => known(point[time])).map(([time, spread, way]) => ({
        name,
        shape: shapeOf(batch as Numbers, point),
        way: time === 'median_ns' && point.width !== undefined ? 'one 2-D copy' : way,
        median_ns: point[time] ?? null,
        spread_ns: point[spread] ?? null,
        n: point.n ?? null,
      })),
    );
  });
}

export interface CopyCurve {
  name: string;
  latency_ns: number | null;
  bandwidth: number | null;
  peak: number | null;
  half_bytes: number | null;
  error: number | null;
}

/** One row per way of copying: what its curve comes to. */
export function copyCurves(model: Model): CopyCurve[] {
  return Object.entries(model.transfers ?? {}).map(([key, curve]) => ({
    name: spoken(key),
    latency_ns: curve.latency_ns,
    bandwidth: curve.bandwidth_bytes_per_s,
    peak: curve.peak_bandwidth_bytes_per_s ?? null,
    half_bytes: curve.half_bandwidth_bytes ?? null,
    error: curve.fit_max_relative_error ?? null,
  }));
}

export interface VariantRow {
  family: string;
  variant: string;
  quality: string | null;
  rule: string | null;
  median_ns: number | null;
  spread_ns: number | null;
  n: number | null;
  relative_time: number | null;
}

export function variants(model: Model): VariantRow[] {
  return Object.entries(model.families ?? {}).flatMap(([family, list]) => list.map((row) => ({ ...row, family })));
}
