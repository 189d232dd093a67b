// SPDX-License-Identifier: Apache-2.0
// The device model as rows of tables: every value with its spread and the number of samples.
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
