// The question of a run, how it was run, and how it ended.

export type Mode = 'compared' | 'sequential' | 'load' | 'profiled';

export type RunStatus = 'complete' | 'budget_spent' | 'interrupted' | 'partial';

export interface RunInfo {
  id: string;
  suite: string;
  question: string;
  started_at: string;
  duration_s: number;
  mode: Mode;
  status: RunStatus;
  command: string;
  seed: number;
  tare_version: string;
  git_revision: string | null;
  headline: string[];
  region: number;
  alpha: number;
  /** tare did not start the servers: its starts are repeated measurements of one start. */
  repeats_one_start?: boolean;
}
