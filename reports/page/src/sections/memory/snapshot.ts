// SPDX-License-Identifier: Apache-2.0
// A memory snapshot of PyTorch's allocator (memory.snapshot of docs/json.md) as rows of tables.
import { holderRows, type HeldRow, type Holders } from './held';

export interface SnapshotMoment {
  at_ns: number | null;
  reserved_bytes: number;
  requested_bytes: number;
  asked_bytes: number | null;
  free_bytes: number | null;
  holders: Holders;
  /** null: the moment has no time in the trace. */
  outside_bytes: number | null;
  outside: Holders;
}
export interface SnapshotReplay {
  /** null: as recorded. */
  setting: string | null;
  reserved_bytes: number | null;
  needed_bytes: number | null;
  fits: boolean | null;
}
export interface SnapshotDevice {
  device: number;
  at_ns: number | null;
  total_bytes: number;
  parts: { tensors: number; pending: number; rounding: number; unused: number; outside: number };
  segment_bytes: number;
  segments: number;
  blocks: number;
  unmatched_bytes: number;
  tensors: Holders;
  outside: Holders;
  history: {
    events: number;
    recorded_peak_bytes: number | null;
    older_bytes: number;
    peak: SnapshotMoment | null;
    out_of_memory: SnapshotMoment[];
    out_of_memory_events: number;
    replays: SnapshotReplay[];
    /** A share. */
    replay_error: number | null;
    advice: string | null;
    /** What makes the replays less sure. */
    caveats: string | null;
  } | null;
}
export interface Snapshot {
  file: string | null;
  settings: string | null;
  private_pools: boolean;
  garbage_collection: boolean;
  unknown_actions: number;
  devices: SnapshotDevice[];
}

/** Whose bytes: the rows' sum is the total. */
export function heldRows({ parts, tensors, outside, segments }: SnapshotDevice): HeldRow[] {
  const slack: HeldRow[] = [
    { what: 'freed, but a stream may still use it', place: null, bytes: parts.pending, count: null },
    { what: 'rounding of blocks', place: null, bytes: parts.rounding, count: null },
    { what: `unused blocks in ${segments} segments`, place: null, bytes: parts.unused, count: null },
  ];
  return [...holderRows('tensors', tensors), ...slack.filter(({ bytes }) => bytes > 0), ...holderRows('outside of the allocator', outside)];
}
