// The results of one variant under one scenario.

import type { Estimate, Row } from '.';
import type { Distribution, Latency } from './latency';
import type { Reason, ValidityState } from './validity';

type Bottleneck = 'server' | 'generator' | 'network' | 'both' | 'neither' | 'unknown';

export interface Cell {
  id: string;
  group: string;
  scenario: string;
  scenario_title: string;
  variant: string;
  server: string;
  family: string;
  kind: string;
  version: string | null;
  baseline: boolean;
  control: boolean;
  forks: number;
  /** Numbers of the starts that other programs disturbed. They are in no figure. */
  forks_set_aside: number[];
  steady_forks: number;
  validity: { state: ValidityState; reasons: Reason[] };
  bottleneck: Bottleneck;
  throughput_per_s: Estimate | null;
  cpu_ns_per_request: Estimate | null;
  cpu_load: string;
  cpu_by_kind: KindShare[];
  /** Of a proxy with what is behind it: the part of each, itself first. */
  cpu_by_server?: ServerShare[];
  allocated_bytes_per_request: Estimate | null;
  gc_pause_share: number | null;
  gc_pauses: number | null;
  /** How long the server stood still for each request, over all scored slices; `null` where its runtime does not count it. */
  stopped_ns_per_request: Estimate | null;
  /** The same as a share of the time. */
  stopped_time_share: number | null;
  heap_used_peak_bytes: number | null;
  probes: Probes;
  rss_bytes: Estimate | null;
  rss_peak_bytes: number | null;
  generator_cpu_share: number | null;
  requests_ok: number;
  requests_failed: number;
  errors: ErrorCount[];
  connection_events?: ErrorCount[];
  bytes_in: number;
  bytes_out: number;
  latency: Latency[];
  /** What the slow requests met and how long the server stood still, in words; absent where nothing is known. */
  tail?: string[];
  capacity: Capacity | null;
  messages: Messages | null;
  timeline: TimePoint[];
  fork_values: ForkValue[];
  resolved: Row[];
  command: string;
}

export type EstimateName = 'throughput_per_s' | 'cpu_ns_per_request' | 'allocated_bytes_per_request' | 'rss_bytes';

interface KindShare {
  kind: string;
  ns_per_request: number;
  pools: { pool: string; ns_per_request: number }[];
}

interface ServerShare {
  server: string;
  ns_per_request: number;
}

export interface ErrorCount {
  class: string;
  count: number;
  example: string;
}

export interface TimePoint {
  t_s: number;
  fork: number;
  phase: string;
  slice_kind: string;
  throughput_per_s: number;
  p50_ns: number | null;
  p99_ns: number | null;
  cpu_ns_per_request: number | null;
  jit_share: number | null;
  cpu: { kind: string; cores: number }[];
  rss_bytes: number | null;
  heap_used_bytes: number | null;
  heap_after_gc_bytes: number | null;
  gc_pauses: number | null;
  gc_pause_ns: number | null;
  failed: number;
}

export interface ForkValue {
  fork: number;
  steady: boolean;
  warmup_s: number;
  throughput_per_s: number | null;
  cpu_ns_per_request: number | null;
}

/** The largest load under which a variant keeps the curve of the plan. */
export interface Capacity {
  curve: string;
  by: 'users' | 'rate';
  sentence: string;
  load: Estimate;
  /** Forks that kept the curve even at the largest load of the search: their capacity is at least that. */
  forks_at_most: number;
  limits: CapacityLimit[];
  forks: CapacityFork[];
  tries: CapacityTry[];
}

export interface CapacityLimit {
  condition: string;
  unit: 'ns' | 'share' | 'count' | 'per_s';
  limit: number;
  /** Forks in which this limit failed at the smallest load that was not kept. */
  failed_forks: number;
}

export interface CapacityFork {
  fork: number;
  load: number;
  failed_at: number | null;
  failed_limits: string[];
}

interface CapacityTry {
  fork: number;
  load: number;
  kept: boolean;
  /** In the order and the unit of the limits; `null` where there was no answer. */
  values: (number | null)[];
}

interface ServerClock {
  /** How far the clock is ahead; null if that could not be estimated. */
  offset_ns: number | null;
  messages: number;
  round_trip_ns: number | null;
  is_confirmed: boolean;
}

/** The messages that a server pushed, or the events of streams. Their latency has the slice kind `push`. */
export interface Messages {
  received: number;
  missing: number;
  late: number;
  out_of_order: number;
  duplicated: number;
  ahead: number;
  pings: number;
  subscriptions: number;
  /** Streams of events that were silent when a load ended, and the longest silence. */
  silent: number;
  silent_ns: number;
  stamp_unit_ns: number;
  clock_within_ns: number;
  /** The server's clock; `null` if it is the generator's. */
  clock: ServerClock | null;
  jitter: Distribution;
  /** The time between two events of a stream; absent for messages of WebSockets. */
  gap?: Distribution;
}

export interface Probes {
  heap_committed_peak_bytes: number | null;
  heap_after_gc_peak_bytes: number | null;
  off_heap_peak_bytes: number | null;
  metaspace_peak_bytes: number | null;
  collectors: { collector: string; pauses: number; pause_ns: number }[];
  safepoints: number | null;
  safepoint_share: number | null;
  pauses: PauseTally[];
  probe_cpu_share: number | null;
}

interface PauseTally {
  cause: 'machine' | 'collection' | 'safepoint' | 'process';
  pauses: number;
  pause_ns: number;
  pause_max_ns: number;
}
