// Variants against their baselines and the sentences about them, ladders, and the figures of other load tools.

import type { Estimate } from '.';

/** The true ratio is the one stated or higher, or lower, or either. */
type RatioBound = 'at_least' | 'at_most' | 'unknown';

export type VerdictKind = 'no_material_difference' | 'worse' | 'better' | 'inconclusive' | 'no_interval' | 'void';

export interface Sentence {
  comparison: string;
  text: string;
  verdict: VerdictKind;
}

export interface Comparison {
  id: string;
  group: string;
  scenario: string;
  variant: string;
  baseline: string;
  cell: string;
  baseline_cell: string;
  /** Forks that count in no currency. */
  odd_forks: { fork: number; ratio: number }[];
  currencies: Currency[];
  /** What the variant costs in CPU time; absent in summaries of older versions. */
  cpu_cost?: CpuCost | null;
}

/** CPU time that a variant adds to a request, in nanoseconds. The text also has the share of a core at 1,000 requests/s. */
interface CpuCost {
  ns_per_request: number;
  lo: number | null;
  hi: number | null;
  text: string;
}

export interface Currency {
  name: string;
  /** Kind of the slices that the figure comes from. */
  load: string;
  label: string;
  unit: string;
  higher_is_better: boolean;
  baseline_value: number;
  variant_value: number;
  ratio: number;
  /** Of a capacity beyond the loads that were tried: what `ratio` is to the true one. */
  bound?: RatioBound;
  lo: number | null;
  hi: number | null;
  method: string;
  forks: number;
  sd_forks: number | null;
  fork_ratios: number[];
  /** The number of each of these forks. */
  fork_numbers: number[];
  verdict: VerdictKind;
  material: boolean;
  short: string;
  reason: string | null;
  needed_s: number | null;
  prior: PriorEffect | null;
}

/** The effect on an interval of the spread of earlier forks on this machine. */
interface PriorEffect {
  comparisons: number;
  sd: number;
  df: number;
  is_used: boolean;
  lo_without: number;
  hi_without: number;
  text: string;
}

export interface Noise {
  group: string;
  scenario: string;
  server: string;
  currencies: Currency[];
  floor: number | null;
}

/** Variants that each add one thing to the one before. */
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

/** Another load tool's figures of a cell, beside tare's. */
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
