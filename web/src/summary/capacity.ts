// The largest load that keeps a curve, and the tries of the search.

import type { Estimate } from './estimate';

/** The largest load under which a variant keeps the curve of the plan. */
export interface Capacity {
  curve: string;
  by: 'users' | 'rate';
  sentence: string;
  load: Estimate;
  /** Forks that kept the curve even at the largest load of the search: their capacity is at least that. */
  forks_at_most: number;
  limits: CapacityLimit[];
  forks: CapacityFork[];
  tries: CapacityTry[];
}

export interface CapacityLimit {
  condition: string;
  unit: 'ns' | 'share' | 'count' | 'per_s';
  limit: number;
  /** Forks in which this limit failed at the smallest load that was not kept. */
  failed_forks: number;
}

export interface CapacityFork {
  fork: number;
  load: number;
  failed_at: number | null;
  failed_limits: string[];
}

export interface CapacityTry {
  fork: number;
  load: number;
  kept: boolean;
  /** In the order and the unit of the limits; `null` where there was no answer. */
  values: (number | null)[];
}
