// The summary as TypeScript types: a mirror of crates/report/src/summary/ (schema `tare-summary/1`), and how the page reads it.
// Units stand in the names. A value that could not be had is `null`, never zero.

export type Mode = 'compared' | 'sequential' | 'load' | 'profiled';
export type RunStatus = 'complete' | 'budget_spent' | 'interrupted' | 'partial';
export type VerdictKind = 'no_material_difference' | 'worse' | 'better' | 'inconclusive' | 'no_interval' | 'void';
export type ValidityState = 'valid' | 'suspect' | 'void';
export type Bottleneck = 'server' | 'generator' | 'both' | 'neither' | 'unknown';
export type Severity = 'info' | 'warning' | 'error';

export interface Summary {
  schema: string;
  run: RunInfo;
  sentences: Sentence[];
  cells: Cell[];
  comparisons: Comparison[];
  noise: Noise[];
  cross_checks: CrossCheck[];
  ladders?: Ladder[];
  profiles?: Profiles;
  findings: Finding[];
  plan: Section[];
  environment: Section[];
}

/** Variants of which each adds one thing to the one before it. */
export interface Ladder {
  id: string;
  group: string;
  scenario: string;
  forks: number;
  steps: LadderStep[];
}

export interface LadderStep {
  variant: string;
  cpu_ns: Estimate | null;
  cpu_ns_added: Estimate | null;
  allocated_bytes: Estimate | null;
  allocated_bytes_added: Estimate | null;
}

/** What profiled starts showed; none of it comes from a scored slice. */
export interface Profiles {
  focus: string;
  whys: Why[];
  views: ProfileView[];
  versions: AcrossVersions[];
}

export interface Why {
  id: string;
  scenario: string;
  variant: string;
  baseline: string;
  sentences: WhySentence[];
}

export interface WhySentence {
  text: string;
  view: string;
  methods: { short: string; name: string }[];
}

export interface ProfileView {
  id: string;
  group: string;
  scenario: string;
  variant: string;
  baseline: string | null;
  event: string;
  unit: 'ns' | 'bytes';
  sampler: string;
  forks: number;
  steady_forks: number;
  offered_per_s: number;
  samples: number | null;
  failed_share: number;
  coverage: number | null;
  per_request: Estimate | null;
  baseline_per_request: Estimate | null;
  difference_per_request: Estimate | null;
  focus_share: Estimate | null;
  focus_own: Estimate | null;
  hot: HotFrame[];
  packages: { name: string; own: number; own_per_request: number | null }[];
  moved: MovedFrame[];
  flame: FlameColumns;
  files: string[];
}

export type FrameKind = 'java' | 'inlined' | 'interpreted' | 'native' | 'kernel' | 'class';

export interface HotFrame {
  name: string;
  short: string;
  package: string;
  kind: FrameKind;
  own: Estimate;
  total: Estimate;
  own_per_request: number | null;
  total_per_request: number | null;
  caller: string | null;
  caller_share: number | null;
}

export interface MovedFrame {
  name: string;
  short: string;
  package: string;
  kind: FrameKind;
  share: Estimate;
  baseline_share: Estimate;
  difference: Estimate;
  certain: boolean;
  named: boolean;
  in_focus: boolean;
}

/** A flame graph as columns, in preorder; values are ten-millionths of each side's whole. */
export interface FlameColumns {
  names: string[];
  kinds: string;
  frame: number[];
  depth: number[];
  value: number[];
  base: number[];
  cut: number;
}

export interface AcrossVersions {
  server: string;
  scenario: string;
  event: string;
  versions: string[];
  rows: { short: string; name: string; shares: Estimate[] }[];
}

export interface RunInfo {
  id: string;
  suite: string;
  question: string;
  started_at: string;
  duration_s: number;
  mode: Mode;
  status: RunStatus;
  command: string;
  seed: number;
  tare_version: string;
  git_revision: string | null;
  headline: string[];
  region: number;
  alpha: number;
}

/** A cell as another load tool saw it, beside what tare saw. */
export interface CrossCheck {
  cell: string;
  engine: string;
  version: string;
  scenario: string;
  variant: string;
  users: number;
  command: string;
  figures: ToolFigure[];
  requests_failed: number | null;
  resolution_ns: number | null;
  note: string | null;
}

export interface ToolFigure {
  name: string;
  unit: string;
  theirs: number;
  ours: number | null;
  ratio: number | null;
}

export interface Sentence {
  comparison: string;
  text: string;
  verdict: VerdictKind;
}

export interface Estimate {
  value: number;
  lo: number | null;
  hi: number | null;
}

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
  steady_forks: number;
  validity: { state: ValidityState; reasons: string[] };
  bottleneck: Bottleneck;
  throughput_per_s: Estimate | null;
  cpu_ns_per_request: Estimate | null;
  cpu_load: string;
  cpu_by_kind: KindShare[];
  allocated_bytes_per_request: Estimate | null;
  gc_pause_share: number | null;
  gc_pauses: number | null;
  heap_used_peak_bytes: number | null;
  /** Absent in summaries of a tare that had fewer probes. */
  probes?: Probes;
  rss_bytes: Estimate | null;
  rss_peak_bytes: number | null;
  generator_cpu_share: number | null;
  requests_ok: number;
  requests_failed: number;
  errors: ErrorCount[];
  bytes_in: number;
  bytes_out: number;
  latency: Latency[];
  messages?: Messages | null;
  timeline: TimePoint[];
  fork_values: ForkValue[];
  resolved: Row[];
  command: string;
}

/** What a server pushed; its latency stands under the slice kind `push`. */
export interface Messages {
  received: number;
  missing: number;
  late: number;
  out_of_order: number;
  duplicated: number;
  ahead: number;
  pings: number;
  subscriptions: number;
  stamp_unit_ns: number;
  clock_within_ns: number;
  jitter: Distribution;
}

export interface KindShare {
  kind: string;
  ns_per_request: number;
  pools?: { pool: string; ns_per_request: number }[];
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

export interface PauseTally {
  cause: 'machine' | 'collection' | 'safepoint' | 'process';
  pauses: number;
  pause_ns: number;
  pause_max_ns: number;
}

export interface ErrorCount {
  class: string;
  count: number;
  example: string;
}

export interface Latency {
  slice_kind: string;
  model: string;
  offered_per_s: number | null;
  pace: Pace;
  response: Distribution;
  service: Distribution;
  send_lag: Distribution | null;
  machine_hiccups?: Distribution | null;
  jvm_hiccups?: Distribution | null;
}

export interface Pace {
  window_s: number;
  requests_failed: number;
  bytes_in: number;
  answers_per_s: number;
  answers_stdev_per_s: number;
  answers_max_per_s: number;
  within_stdev_share: number;
}

export interface Distribution {
  count: number;
  min_ns: number;
  max_ns: number;
  mean_ns: number;
  stdev_ns: number;
  within_stdev_share: number;
  percentiles: PercentileValue[];
  curve: CurvePoint[];
  gatling_ranges: [number, number, number];
}

export interface PercentileValue {
  percentile: number;
  value_ns: number;
  lo_ns: number | null;
  hi_ns: number | null;
}

export interface CurvePoint {
  percentile: number;
  value_ns: number;
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
  cpu?: { kind: string; cores: number }[];
  rss_bytes: number | null;
  heap_used_bytes?: number | null;
  heap_after_gc_bytes?: number | null;
  gc_pauses?: number | null;
  gc_pause_ns?: number | null;
  failed: number;
}

export interface ForkValue {
  fork: number;
  steady: boolean;
  warmup_s: number;
  throughput_per_s: number | null;
  cpu_ns_per_request: number | null;
}

export interface Comparison {
  id: string;
  group: string;
  scenario: string;
  variant: string;
  baseline: string;
  cell: string;
  baseline_cell: string;
  currencies: Currency[];
}

export interface Currency {
  name: string;
  label: string;
  unit: string;
  higher_is_better: boolean;
  baseline_value: number;
  variant_value: number;
  ratio: number;
  lo: number | null;
  hi: number | null;
  method: string;
  forks: number;
  sd_forks: number | null;
  fork_ratios: number[];
  verdict: VerdictKind;
  material: boolean;
  short: string;
  reason: string | null;
  needed_s: number | null;
}

export interface Noise {
  group: string;
  scenario: string;
  server: string;
  currencies: Currency[];
  floor: number | null;
}

export interface Finding {
  severity: Severity;
  title: string;
  text: string;
  remedy: string | null;
  cell: string | null;
  log: string | null;
}

export interface Section {
  title: string;
  rows: Row[];
}

export interface Row {
  key: string;
  value: string;
  source?: string | null;
}

/** The schema this page was written for. */
export const SCHEMA = 'tare-summary/1';

/** Reads the summary that stands in the page; the error says what is wrong with it. */
export function readSummary(text: string): Summary {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('This page holds no readable summary. Make it again with "tare report RUN".');
  }
  const schema = (data as { schema?: unknown } | null)?.schema;
  if (schema !== SCHEMA) {
    throw new Error(
      `This page reads ${SCHEMA}, but its data says ${String(schema)}. Use the tare that wrote the data.`,
    );
  }
  return data as Summary;
}
