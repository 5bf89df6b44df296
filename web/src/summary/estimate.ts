// A figure, and its interval if it has one.

export interface Estimate {
  value: number;
  lo: number | null;
  hi: number | null;
}
