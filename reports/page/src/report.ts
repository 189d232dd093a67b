// SPDX-License-Identifier: Apache-2.0
// The JSON report (docs/json.md) as the page reads it.
import type { Heaps } from './sections/memory/heaps';
import type { Snapshot } from './sections/memory/snapshot';
import type { Tried, TriedResults } from './tried';

export type Severity = 'high' | 'medium' | 'low' | 'note';

/** Ranges of the program's with one path of names, over all occurrences and threads; docs/json.md has each field. */
export interface RangeNode {
  name: string | null;
  /** Index in `range_tree`. */
  parent: number | null;
  depth: number;
  of_process: boolean;
  others: boolean;
  count: number;
  threads: number;
  host_ns: number | null;
  host_self_ns: number | null;
  device_ns: number | null;
  device_self_ns: number | null;
  idle_ns: number | null;
  launches: number;
  copies: number;
  h2d_bytes: number;
  d2h_bytes: number;
  allocated_bytes: number;
  held_bytes: number;
  findings: number;
  best_ns: number | null;
}

export interface Saving {
  low_ns: number | null;
  best_ns: number | null;
  high_ns: number | null;
  share_of_wall: number | null;
}
export interface Frame {
  function: string | null;
  file: string | null;
  line: number | null;
  module: string | null;
  offset: number;
  runtime: boolean;
}
export interface Where {
  label: string;
  function: string | null;
  file: string | null;
  line: number | null;
  module: string | null;
  api: string | null;
  kernel: string | null;
  /** As in KernelRow. */
  kernel_title?: string;
  origin?: string;
  /** Why the user's function or line is not named, and what helps; absent: it is. */
  note?: string;
  /** Of a kernel that graphs run: how often, and where they are launched. */
  graph?: string;
  stack: Frame[];
}
/** A line of which a function was called that was inlined there. */
export interface InlineCall {
  level: number;
  /** The inlined function that it stands in; null: the kernel itself, or not known. */
  function: string | null;
  file: string | null;
  line: number | null;
}
/** A source line, and where it was inlined. */
export interface Place {
  file: string | null;
  line: number | null;
  caller_file: string | null;
  caller_line: number | null;
  ptx_line: number | null;
  opcode: string | null;
  /** From the line outwards, the kernel's own line last; absent: only the outermost call is known. */
  inlined_at?: InlineCall[];
  chain_count?: number;
}
export interface SourceLine extends Place {
  excess_bytes: number | null;
  share: number | null;
  /** Sectors, or passes through shared memory. */
  per_request: number | null;
  ideal_per_request: number | null;
  /** The line's text; null: the trace does not carry the file. */
  code: string | null;
  caller_code: string | null;
}
export interface Part {
  label: string;
  headline: string;
  cost_ns: number | null;
  best_ns: number | null;
}
/** Where to change something, and the text around it; no lines where the trace does not carry the file. */
export interface Quote {
  label: string;
  file: string | null;
  line: number | null;
  first_line: number | null;
  lines: string[];
}
/** How much of something was at a place; `until`: time between the call there and the next one; `inner`: a library's line that it was in. */
export interface CallPlace {
  label: string;
  function: string | null;
  file: string | null;
  line: number | null;
  until?: string;
  inner?: string;
  count: number | null;
  time_ns: number | null;
  longest_ns: number | null;
}
/** Parts of the recorded time, which do not overlap. */
export interface TimePart {
  name: string;
  title: string;
  ns: number | null;
  /** Of what the device was idle for. */
  times: number | null;
  longest_ns: number | null;
  places: CallPlace[];
}
export interface CallRow {
  name: string;
  runtime_name: string | null;
  calls: number | null;
  time_ns: number | null;
  longest_ns: number | null;
  places: CallPlace[];
}
export interface Finding {
  rule: string;
  slug: string;
  title: string;
  severity: Severity;
  fingerprint: string;
  headline: string;
  where: Where;
  evidence: Record<string, { value: number | null; unit: string }>;
  sql: string | null;
  cost_ns: number | null;
  excess_bytes: number | null;
  saving: Saving;
  /** It cannot save more; null: not known. */
  at_most_ns?: number | null;
  /** Nothing shows that there is work for the repair. */
  guess?: boolean;
  /** Its times are of no device that ran it. */
  modelled?: boolean;
  method: string;
  /** How the saving is known, where a fix was tried; and what came of that. */
  saving_confidence?: 'measured' | 'calibrated' | 'modelled' | 'heuristic';
  tried?: Tried;
  confidence: 'proven' | 'measured' | 'calibrated' | 'modelled' | 'heuristic';
  effort: 'small' | 'medium' | 'large';
  /** What to do: the fix without its reasons. Not in reports of versions before; likewise below. */
  action?: string | null;
  place?: Quote;
  /** The fix as a unified diff, where it is mechanical. */
  patch?: string;
  fix: string;
  sketch: string | null;
  lines?: SourceLine[];
  /** What their shares are of. */
  lines_of?: string;
  parts?: Part[];
  /** By so much the peak of that memory would be lower; only of findings about memory that is held. */
  saved_peak_bytes?: number | null;
  saved_peak_of?: string;
  /** The range of the program's own that holds most of it; only where the program names ranges. */
  range?: string | null;
  note?: string | null;
}
/** What all findings of one kernel come to together. */
export interface Joint {
  kernel: string;
  cost_ns: number | null;
  saving: Saving;
  parts: { rule: string; fingerprint: string; share: number }[];
}
export interface TransferRow {
  direction: string;
  host_class: string;
  up_to_bytes: number | null;
  count: number;
  bytes: number;
  time_ns: number | null;
}
export interface Occupancy {
  unknown?: string;
  blocks_per_multiprocessor?: number;
  warps_per_multiprocessor?: number;
  most_warps?: number;
  theoretical?: number;
  limiter?: string | null;
  without_limiter?: number;
  limits?: Record<string, number | null>;
  best_block_size?: number;
  best_grid?: number;
  by_block_size?: Record<string, number>;
  by_registers?: Record<string, number>;
  by_shared_bytes?: Record<string, number>;
}
export interface KernelRow {
  name: string;
  /** What reports call it, and who made it where that is a library; not in reports of versions before. */
  title?: string;
  origin?: string;
  /** Of the trace. */
  class_id?: number;
  grid: number[];
  block: number[];
  launches: number;
  measured_launches: number;
  /** Not in reports of versions before. */
  launches_in_graphs?: number;
  device_ns: number | null;
  device_ns_by?: 'times' | 'cycles' | null;
  /** Launches without a device time, for which the kernel's mean stands; absent: none. */
  estimated_launches?: number;
  /** Half of the 95 % interval of device_ns for these; null: not known. */
  device_ns_error?: number | null;
  share_of_wall: number | null;
  load_efficiency_percent: number | null;
  store_efficiency_percent: number | null;
  shared_ways: number | null;
  achieved_occupancy: number | null;
  theoretical_occupancy: number | null;
  local_share: number | null;
  dram_bytes_per_s: number | null;
  occupancy?: Occupancy | null;
  registers?: number | null;
  static_shared_bytes?: number | null;
  dynamic_shared_bytes?: number | null;
  local_bytes?: number | null;
  /** Mean per launch by name of libtrace/metrics.def; only what was measured. */
  counters?: Record<string, number>;
}
export interface RuleRow {
  id: string;
  slug: string;
  title?: string;
  outcome: 'pass' | 'fail' | 'not applicable' | 'could not check';
  why: string | null;
  findings: number;
  notes: number;
}
export interface Gap {
  what: string;
  why: string;
  remedy: string | null;
}
export interface Race {
  kernel: string;
  first: Place;
  second: Place;
  count: number;
}
/** A driver function that the program got without a hook in between. */
export interface CoverageEntry {
  name: string;
  class: string | null;
  requests: number | null;
  /** null: could not be counted. */
  calls: number | null;
  by: string | null;
}
/** Of one kind of device work: what calls made, what has a device record, and records without a call. */
export interface CoverageRecords {
  what: string;
  expected: number | null;
  seen: number | null;
  extra: number | null;
  detail: string | null;
  examples: { side: 'call' | 'record'; id: number; detail: string | null }[];
}
export interface Coverage {
  /** null: there were no device times. */
  agrees: boolean | null;
  lookup_paths: { name: string; requests: number | null; detail: string | null }[];
  runtimes: { module: string; runtime: string; detail: string | null }[];
  modules_without_runtime: number;
  entry_points: CoverageEntry[];
  entry_points_that_ask: number;
  records: CoverageRecords[];
}
/** Calls of one function at one place that failed with one error. */
export interface FailedCall {
  where: Where;
  result: number;
  error: string | null;
  runtime_error: string | null;
  words: string;
  /** The context, or the device, is of no use any more. */
  sticky: boolean;
  calls: number;
  at_ns: number | null;
}
export interface FailedCalls {
  /** The first call after which the program was lost, as a sentence. */
  alarm: string | null;
  rows: FailedCall[];
  other_calls: number;
  /** Errors that programs ask for or handle. */
  handled: { result: number; error: string | null; runtime_error: string | null; words: string; calls: number }[];
}
export interface Report {
  /** Only where calls failed. */
  failed_calls?: FailedCalls;
  /** Only where fixes were tried. */
  tried?: TriedResults;
  tool_version: string;
  trace: string;
  process: {
    command: string | null;
    exe: string | null;
    hostname: string | null;
    end_reason: string | null;
    exit_status?: number | null;
    /** Decoded from it; of the two at most one. */
    exit_code?: number | null;
    exit_signal?: number | null;
    working_directory?: string | null;
    options?: Record<string, string | null>;
  };
  device: {
    name: string | null;
    uuid: string | null;
    compute_capability: string | null;
    driver_version: string | null;
    software: boolean;
    memory_bytes?: number | null;
  };
  verdict: {
    /** Of the program: recorded_ns less gmtrace_ns, where that is known. */
    wall_ns: number | null;
    recorded_ns?: number | null;
    /** gmtrace's own work, as far as the program waited for it; null or absent: the trace does not know. */
    gmtrace_ns?: number | null;
    gpu_busy_ns: number | null;
    /** For how much of the recording records of devices were on; absent: for all of it. Then gpu_busy_ns is an estimate. */
    device_seen_share?: number | null;
    /** Half of its 95 % interval; null: not known. */
    gpu_busy_error_ns?: number | null;
    copy_ns: number | null;
    kernel_ns: number | null;
    peak_device_bytes: number | null;
    allocations: number | null;
    transfers: number;
    launches: number;
    measured_launches: number;
    kernel_classes: number;
    measured_classes: number;
    combined_saving: Saving;
    /** Of the first three findings. */
    first_saving?: Saving;
    /** The combined saving is the sum of the findings. */
    savings_add_up?: boolean;
    /** Of the software device: times and savings are what the model's device would take; none was measured. */
    modelled?: boolean;
  };
  /** That the program names; largest saving first. */
  ranges?: { name: string; count: number; findings: number; best_ns: number | null }[];
  /** By path of names: each behind its parent, of one parent the largest first. */
  range_tree?: RangeNode[];
  /** null: not known. */
  time?: {
    recorded_ns: number | null;
    /** How much of it the GPU is idle, and for what most of all: a sentence without its end. */
    idle?: string;
    note: string | null;
    parts: TimePart[];
    devices?: { device: number; name: string | null; idle_ns: number | null; causes: Record<string, number | null> }[];
  } | null;
  calls?: CallRow[];
  findings: Finding[];
  notes: Finding[];
  joint_savings?: Joint[];
  /** Other fields of it are not read: the page has single allocations. */
  memory?: { heaps?: Heaps; snapshot?: Snapshot };
  transfers: TransferRow[];
  kernels: KernelRow[];
  races: Race[];
  rules: RuleRow[];
  could_not_check: Gap[];
  capabilities?: { name: string; state: string; detail: string | null; remedy: string | null }[];
  coverage?: Coverage;
  device_model: {
    provenance: string;
    match: string | null;
    origin: string | null;
    device: string | null;
    created: string | null;
    noisy: boolean;
  };
}
