// The results of a load that are not in its one cell.

import type { Row } from './facts';

export interface LoadFacts {
  rows: Row[];
  histogram: { upto_ns: number; count: number }[];
  /** What became of each --fail-if. */
  conditions?: { condition: string; measured: string; failed: boolean }[];
}
