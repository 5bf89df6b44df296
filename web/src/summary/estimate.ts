// A figure with its interval, where it has one.

export interface Estimate {
  value: number;
  lo: number | null;
  hi: number | null;
}
