// The largest load that keeps a curve of latencies.

import type { Estimate } from './estimate';

/** The largest load under which a variant kept every limit of the curve. */
export interface Capacity {
  curve: string;
  by: 'users' | 'rate';
  load: Estimate;
  /** Forks that kept the curve even at the largest load of the search. */
  forks_at_most: number;
  fork_loads: number[];
}
