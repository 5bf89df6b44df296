// Percentiles as curves (a line per variant, its key and its text alternative), and as the rows of a table.

import type { FigureSpec } from '../charts/figure';
import {
  latencyHeight,
  latencyOption,
  latencyPlot,
  latencyReading,
  latencyStops,
  type LatencyLine,
} from '../charts/latency';
import { percentileText } from '../format/number';
import { formatTime } from '../format/unit';
import { colourOf, type Panel } from '../model';
import { choice } from '../state';
import type { Cell, Distribution } from '../summary';
import { LIGHT, type Theme } from '../theme';

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

/** The parts of a figure that shows such lines. Figures with the same key share a crosshair. */
export function curveSpec(
  key: string,
  lines: (t: Theme) => LatencyLine[],
): Required<Pick<FigureSpec, 'key' | 'height' | 'draw' | 'alternative' | 'cursor'>> {
  const log = () => choice.scale === 'log';
  const namedLines = (t: Theme) => lines(t).filter((l) => !l.context);
  return {
    key: (t) => namedLines(t).map((l) => ({ label: l.label, colour: l.mark, stroke: l.stroke })),
    height: latencyHeight,
    draw: (width, t) => latencyOption(lines(t), width, log(), t),
    cursor: {
      key,
      plot: (width) => latencyPlot(lines(LIGHT), width, log()),
      stops: () => latencyStops(lines(LIGHT)),
      read: (x) => latencyReading(lines(LIGHT), x),
    },
    alternative: () => namedLines(LIGHT).map(describeLine).join('; '),
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

function describeLine({ label, distribution }: LatencyLine): string {
  const shown = distribution.percentiles.filter((p) => [50, 99, 99.9].includes(p.percentile));
  return `${label}: ${shown.map((p) => `p${percentileText(p.percentile)} ${formatTime(p.value_ns)}`).join(', ')}`;
}
