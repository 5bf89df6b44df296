// The limits of a run and their results (`tare check`).

/** All limits of a run, and the outcome. */
export interface LimitCheck {
  outcome: 'holds' | 'regressed' | 'void' | 'undecided';
  limits: LimitResult[];
  legend: string | null;
  power: string | null;
}

/** One limit, applied to one comparison. */
export interface LimitResult {
  comparison: string;
  scenario: string;
  variant: string;
  baseline: string;
  currency: string;
  label: string;
  limit: string;
  limit_ratio: number;
  ratio: number | null;
  lo: number | null;
  hi: number | null;
  short: string;
  verdict: 'regressed' | 'improved' | 'no_material_change' | 'void' | 'undecided';
  reason: string | null;
  needed_s: number | null;
}
