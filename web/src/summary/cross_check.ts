// Measurements by other load tools.

/** Another load tool's figures of a cell, beside tare's. */
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
