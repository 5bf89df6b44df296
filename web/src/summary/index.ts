// The summary as TypeScript types: a mirror of crates/analysis/src/summary/ (schema `tare-summary/1`).
// Names end with the unit. An unknown value is `null`, never zero.

import type { Cell } from './cell';
import type { LimitCheck } from './check';
import type { Comparison, Noise, Sentence } from './comparison';
import type { CrossCheck } from './cross_check';
import type { Finding, Section } from './facts';
import type { Headline, NextStep, Trust } from './headline';
import type { Ladder } from './ladder';
import type { LoadFacts } from './load';
import type { Profiles } from './profile';
import type { RunInfo } from './run';

export type * from './capacity';
export type * from './cell';
export type * from './check';
export type * from './comparison';
export type * from './cross_check';
export type * from './estimate';
export type * from './facts';
export type * from './headline';
export type * from './ladder';
export type * from './latency';
export type * from './load';
export type * from './messages';
export type * from './probes';
export type * from './profile';
export type * from './run';

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
