// Pushed messages.

import type { Distribution } from './latency';

/** What a server pushed; its latency stands under the slice kind `push`. */
export interface Messages {
  received: number;
  missing: number;
  late: number;
  out_of_order: number;
  duplicated: number;
  ahead: number;
  pings: number;
  subscriptions: number;
  stamp_unit_ns: number;
  clock_within_ns: number;
  jitter: Distribution;
}
