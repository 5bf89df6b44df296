// Shared by the figures with percentile curves: a line per variant, its key and its text alternative.

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

function describeLine({ label, distribution }: LatencyLine): string {
  const shown = distribution.percentiles.filter((p) => [50, 99, 99.9].includes(p.percentile));
  return `${label}: ${shown.map((p) => `p${percentileText(p.percentile)} ${formatTime(p.value_ns)}`).join(', ')}`;
}
