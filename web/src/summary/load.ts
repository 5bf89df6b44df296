// What a load says besides the figures of its one cell.

import type { Row } from './facts';

export interface LoadFacts {
  rows: Row[];
  histogram: { upto_ns: number; count: number }[];
}
