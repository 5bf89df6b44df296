// Pushed messages.

import type { Distribution } from './latency';

/** What is known of a server's clock. */
export interface ServerClock {
  /** How far it is ahead; null where that could not be estimated. */
  offset_ns: number | null;
  messages: number;
  round_trip_ns: number | null;
  is_confirmed: boolean;
}

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
  /** Where the server's clock is not the generator's; `null` where they are one clock. */
  clock: ServerClock | null;
  jitter: Distribution;
}
