// What each step of a ladder costs.

import type { Estimate } from './estimate';

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
