// Pushed messages.

import type { Distribution } from './latency';

/** What is known of a server's clock. */
export interface ServerClock {
  /** How far the clock is ahead; null if that could not be estimated. */
  offset_ns: number | null;
  messages: number;
  round_trip_ns: number | null;
  is_confirmed: boolean;
}

/** The messages that a server pushed, or the events of streams. Their latency has the slice kind `push`. */
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
  /** The server's clock; `null` if it is the generator's. */
  clock: ServerClock | null;
  jitter: Distribution;
  /** The time between two events of a stream; absent for messages of WebSockets. */
  gap?: Distribution;
}
