// The answer of a run, whether it may be used, and what to do next.

import type { ValidityState } from './cell';
import type { VerdictKind } from './comparison';

export interface Headline {
  text: string;
  verdict: VerdictKind;
  /** What is decided, the strongest first. */
  known: KnownFact[];
  open: OpenQuestion[];
}

export interface KnownFact {
  currency: string;
  label: string;
  verdict: VerdictKind;
  comparisons: string[];
  ratio_min: number;
  ratio_max: number;
}

export interface OpenQuestion {
  currency: string;
  label: string;
  comparisons: string[];
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
