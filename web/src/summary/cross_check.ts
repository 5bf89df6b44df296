// What other load tools saw.

/** A cell as another load tool saw it, beside what tare saw. */
export interface CrossCheck {
  cell: string;
  engine: string;
  version: string;
  scenario: string;
  variant: string;
  users: number;
  command: string;
  figures: ToolFigure[];
  requests_failed: number | null;
  resolution_ns: number | null;
  note: string | null;
}

export interface ToolFigure {
  name: string;
  unit: string;
  theirs: number;
  ours: number | null;
  ratio: number | null;
}
