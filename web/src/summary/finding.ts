// Findings.

export type Severity = 'info' | 'warning' | 'error';

/** `kind` is a stable name for programs: `cpu_governor`, `forks_set_aside`. The words may change. */
export interface Finding {
  kind: string;
  severity: Severity;
  title: string;
  text: string;
  remedy: string | null;
  cell: string | null;
  log: string | null;
}
