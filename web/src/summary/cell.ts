// The results of one variant under one scenario.

import type { Capacity } from './capacity';
import type { Estimate } from './estimate';
import type { Row } from './facts';
import type { Latency } from './latency';
import type { Messages } from './messages';
import type { Probes } from './probes';

export type ValidityState = 'valid' | 'suspect' | 'void';

/** Why figures are suspect or void, and a remedy if there is one. */
export interface Reason {
  text: string;
  remedy: string | null;
  /** The figures that become doubtful. Absent in older files: then all of them. */
  concerns?: Concern;
}

export type Concern = 'everything' | 'throughput' | 'cpu_per_request' | 'latency';

export type Bottleneck = 'server' | 'generator' | 'network' | 'both' | 'neither' | 'unknown';

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

export interface KindShare {
  kind: string;
  ns_per_request: number;
  pools: { pool: string; ns_per_request: number }[];
}

export interface ServerShare {
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
