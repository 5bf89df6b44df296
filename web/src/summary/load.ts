// The results of a load that are not in its one cell.

import type { Row } from './facts';

export interface LoadFacts {
  rows: Row[];
  histogram: { upto_ns: number; count: number }[];
}
