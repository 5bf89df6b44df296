// Percentiles as the line of a variant, and as the rows of a table.

import type { LatencyLine } from '../charts/latency';
import { percentileText } from '../format/number';
import { formatTime } from '../format/unit';
import { colourOf, type Panel } from '../model';
import type { Cell, Distribution } from '../summary';
import type { Theme } from '../theme';

/** A variant's curve in its colour, or in grey if it has none. */
export function latencyLine(cell: Cell, panel: Panel, t: Theme, distribution: Distribution): LatencyLine {
  const colour = colourOf(cell, panel, t);
  return {
    label: cell.variant,
    distribution,
    ...(colour ?? { mark: t.faint, text: t.muted }),
    context: !colour,
    stroke: cell.control ? 'dashed' : 'solid',
  };
}

/** A table of distributions side by side: a row for each figure that some of them has. */
export function distributionRows(distributions: Distribution[]): string[][] {
  const row = (name: string, of: (d: Distribution) => number | null | undefined) => [
    name,
    ...distributions.map((d) => formatTime(of(d))),
  ];
  const stated = new Set(distributions.flatMap((d) => d.percentiles.map((p) => p.percentile)));
  const valueOf = (d: Distribution, percentile: number) =>
    d.percentiles.find((p) => p.percentile === percentile)?.value_ns;
  return [
    row('min', (d) => d.min_ns),
    row('mean', (d) => d.mean_ns),
    ...[...stated].sort((a, b) => a - b).map((p) => row(`p${percentileText(p)}`, (d) => valueOf(d, p))),
    row('max', (d) => d.max_ns),
  ];
}
