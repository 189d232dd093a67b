// SPDX-License-Identifier: Apache-2.0
// Bars without axes: a share of something, and a saving with the interval it lies in.
import { known, ns } from '../format';
import type { Saving } from '../report';

const clip = (value: number) => Math.max(0, Math.min(100, 100 * value));

/** of: 0..1; unknown draws the empty track. */
export function ShareBar({ of, label }: { of: number | null; label: string }) {
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="bar-back" width="100" height="6" />
      {known(of) && of > 0 && <rect class="bar-fill" width={Math.max(0.6, clip(of))} height="6" />}
    </svg>
  );
}

/** scale_ns: what the full width stands for. */
export function IntervalBar({ saving, scale_ns }: { saving: Saving; scale_ns: number }) {
  const { low_ns, best_ns, high_ns } = saving;
  if (!known(low_ns) || !known(best_ns) || !known(high_ns) || !(scale_ns > 0)) return null;
  const [low, best, high] = [low_ns, best_ns, high_ns].map((value) => clip(value / scale_ns));
  return (
    <svg
      class="bar interval"
      viewBox="0 0 100 12"
      preserveAspectRatio="none"
      role="img"
      aria-label={`between ${ns(low_ns)} and ${ns(high_ns)}`}
    >
      <rect class="bar-back" width="100" height="12" />
      <rect class="bar-doubt" x={low} width={Math.max(0.6, high - low)} height="12" />
      <rect class="bar-fill" y="3.5" width={Math.max(0.6, best)} height="5" />
    </svg>
  );
}

/** The scale on which all savings of a report can be compared. */
export function commonScale(savings: Saving[]): number {
  return savings.reduce((most, { high_ns }) => (known(high_ns) ? Math.max(most, high_ns) : most), 0);
}
