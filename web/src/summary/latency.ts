// Latencies of one load.

export interface Latency {
  slice_kind: string;
  model: string;
  offered_per_s: number | null;
  pace: Pace;
  /** Response time of each start that counts. */
  starts: StartLatency[];
  response: Distribution;
  service: Distribution;
  send_lag: Distribution | null;
  machine_hiccups: Distribution | null;
  jvm_hiccups: Distribution | null;
  /** What the requests met; absent where that is not known. */
  division?: LatencyDivision;
}

export interface LatencyDivision {
  met_stop_share: number;
  met_stall_share: number;
  met_none: Distribution;
  p99_is_at_cliff: boolean;
  /** No runtime told the stops: they are times in which nothing was answered while requests waited. */
  stops_are_seen: boolean;
  /** What those requests met that are slower than a percentile. */
  slower: SlowerPart[];
}

/** Of the requests slower than a percentile, the shares that met a stop and a stall. */
export interface SlowerPart {
  percentile: number;
  met_stop_share: number;
  met_stall_share: number;
}

export interface StartLatency {
  fork: number;
  percentiles: CurvePoint[];
}

export interface Pace {
  window_s: number;
  requests_failed: number;
  bytes_in: number;
  answers_per_s: number;
  answers_stdev_per_s: number;
  answers_max_per_s: number;
  within_stdev_share: number;
}

export interface Distribution {
  count: number;
  min_ns: number | null;
  max_ns: number | null;
  mean_ns: number | null;
  stdev_ns: number | null;
  within_stdev_share: number | null;
  percentiles: PercentileValue[];
  curve: CurvePoint[];
  gatling_ranges: [number, number, number];
}

export interface CurvePoint {
  percentile: number;
  value_ns: number;
}

export interface PercentileValue extends CurvePoint {
  lo_ns: number | null;
  hi_ns: number | null;
}
