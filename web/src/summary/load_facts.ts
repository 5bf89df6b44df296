// The results of a load that are not in its one cell.

import type { Row } from '.';

export interface LoadFacts {
  rows: Row[];
  histogram: { upto_ns: number; count: number }[];
  /** What became of each --fail-if. */
  conditions?: { condition: string; measured: string; failed: boolean }[];
  /** Responses by status. */
  statuses?: { status: number; count: number; failed: number; example: string | null }[];
  /** What each URL showed, where there are several. */
  urls?: UrlSummary[];
}

interface UrlSummary {
  url: string;
  offered: number;
  ok: number;
  failed: number;
  failed_share: number;
  throughput_per_s: number;
  mean_ns: number | null;
  p50_ns: number | null;
  p90_ns: number | null;
  p99_ns: number | null;
  max_ns: number | null;
  example: string | null;
}
