// The summary as TypeScript types, file for file a mirror of crates/analysis/src/summary/ (schema `tare-summary/1`).
// Names end with the unit. An unknown value is `null`, never zero.

import type { Cell } from './cell';
import type { Comparison, CrossCheck, Ladder, Noise, Sentence, VerdictKind } from './comparison';
import type { Finding } from './finding';
import type { LimitCheck } from './limits';
import type { LoadFacts } from './load_facts';
import type { Profiles } from './profile';
import type { ValidityState } from './validity';

export type * from './cell';
export type * from './comparison';
export type * from './finding';
export type * from './latency';
export type * from './limits';
export type * from './load_facts';
export type * from './profile';
export type * from './validity';

export interface Summary {
  schema: string;
  run: RunInfo;
  headline: Headline;
  trust: Trust;
  next: NextStep | null;
  sentences: Sentence[];
  cells: Cell[];
  comparisons: Comparison[];
  check?: LimitCheck;
  noise: Noise[];
  cross_checks: CrossCheck[];
  ladders?: Ladder[];
  profiles?: Profiles;
  load?: LoadFacts;
  findings: Finding[];
  plan: Section[];
  environment: Section[];
}

/** The answer of a run. */
export interface Headline {
  text: string;
  verdict: VerdictKind;
}

export interface Trust {
  state: ValidityState;
  /** At most two. */
  reasons: string[];
  /** Findings that are warnings or errors. */
  warnings: number;
}

export interface NextStep {
  command: string;
  text: string;
}

type Mode = 'compared' | 'sequential' | 'load' | 'profiled';

export type RunStatus = 'complete' | 'budget_spent' | 'interrupted' | 'partial';

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
  /** tare did not start the servers: its starts are repeated measurements of one start. */
  repeats_one_start?: boolean;
}

/** A figure, and its interval if it has one. */
export interface Estimate {
  value: number;
  lo: number | null;
  hi: number | null;
}

export interface Section {
  title: string;
  rows: Row[];
}

export interface Row {
  key: string;
  value: string;
  source: string | null;
}
