// What a run says of its limits (`tare check`).

/** All limits of a run, and what they come to. */
export interface LimitCheck {
  outcome: 'holds' | 'regressed' | 'void' | 'undecided';
  limits: LimitResult[];
  power: string | null;
}

/** One limit held against one comparison. */
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
