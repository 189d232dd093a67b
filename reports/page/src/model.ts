// SPDX-License-Identifier: Apache-2.0
// The device model (docs/device-model.md) as far as the page shows it. What is absent was not measured.
import type { Head } from './payload';

export interface Spread {
  median: number | null;
  spread: number | null;
  n: number | null;
}
export interface CurvePoint {
  bytes: number;
  median_ns: number | null;
  spread_ns: number | null;
  n: number | null;
  device_ns?: number | null;
  acquire_ns?: number | null;
  release_ns?: number | null;
}
export interface Curve {
  latency_ns: number | null;
  bandwidth_bytes_per_s: number | null;
  peak_bandwidth_bytes_per_s?: number | null;
  half_bandwidth_bytes?: number | null;
  fit_max_relative_error?: number | null;
  points?: CurvePoint[];
}
export interface OccupancyPoint {
  occupancy: number;
  warps_per_sm: number;
  bandwidth_bytes_per_s: number | null;
  spread: number | null;
  n: number | null;
}
export interface Variant {
  variant: string;
  quality: string | null;
  rule: string | null;
  median_ns: number | null;
  spread_ns: number | null;
  n: number | null;
  relative_time: number | null;
}
export interface Model {
  tool_version?: string;
  created?: string;
  command?: string;
  quick?: boolean;
  noisy?: boolean;
  notes?: string[];
  device?: Record<string, string | number | boolean | null>;
  settings?: Record<string, number | boolean | null>;
  transfers?: Record<string, Curve>;
  batches?: Record<string, Record<string, unknown>>;
  costs?: Record<string, Curve | Spread>;
  rates?: Record<string, Spread>;
  latencies?: Record<string, Spread>;
  access_costs?: Record<string, Spread>;
  occupancy_curve?: OccupancyPoint[];
  occupancy_curve_vector?: OccupancyPoint[];
  occupancy_curve_latency?: OccupancyPoint[];
  families?: Record<string, Variant[]>;
}

export function modelOf(head: Head): Model | null {
  return head.model as Model | null;
}

/** What each occupancy curve was measured with. */
export const OCCUPANCY_CURVES: [keyof Model & `occupancy_curve${string}`, string][] = [
  ['occupancy_curve_vector', '16-byte loads'],
  ['occupancy_curve', '4-byte loads'],
  ['occupancy_curve_latency', 'dependent 4-byte loads'],
];
