// The answer of a run, whether it may be used, and what to do next.

import type { ValidityState } from './cell';
import type { VerdictKind } from './comparison';

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
