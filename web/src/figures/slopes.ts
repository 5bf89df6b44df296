// Throughput and CPU of a panel, start by start: a line from baseline to variant for each start.

import { figure } from '../charts/figure';
import { SLOPES_ROW_PX, slopesHeight, slopesOption, type Slopes } from '../charts/slopes';
import { formatSignificant } from '../format/number';
import { estimateUnit, inUnit, scaled, type Unit } from '../format/unit';
import {
  colourOf,
  drawnCells,
  leftOutText,
  hiddenRowsText,
  visibleCells,
  panelId,
  type Model,
  type Panel,
} from '../model';
import type { Cell, EstimateName, ForkValue } from '../summary';
import { LIGHT, type Theme } from '../theme';

/** A figure that is known of each start. */
type StartName = EstimateName & keyof ForkValue;

const QUANTITIES: Record<EstimateName, string> = {
  throughput_per_s: 'correct responses',
  cpu_ns_per_request: 'CPU of the server per request',
  allocated_bytes_per_request: 'allocated per request',
  rss_bytes: 'resident memory',
};

/** The name of the axis of a figure, which says which way is better. */
export const axisName = (name: EstimateName, unit: Unit): string =>
  `${QUANTITIES[name]}, ${unit.name} (${name === 'throughput_per_s' ? 'more' : 'less'} is better)`;

const NOTE = 'A line is one start: the baseline at the left, the variant at the right. Short strokes are means.';
const ODD_STARTS_NOTE =
  'Dashed: a start that settled in another mode. It is part of the means, and not of the comparison.';

/** The numbers of the starts of a cell that count in no comparison. */
const oddStarts = (panel: Panel, cell: Cell): number[] =>
  panel.comparisons.find((c) => c.cell === cell.id)?.odd_forks.map((odd) => odd.fork) ?? [];

/** The slopes of a panel; null if starts are not paired or there is no baseline or no variant. */
export function slopesFigure(
  model: Model,
  panel: Panel,
  kind: string,
  title: string,
  name: StartName,
): HTMLElement | null {
  const drawn = drawnCells(model, panel);
  const hasStarts = (c: Cell) => c.fork_values.some((v) => v[name] !== null);
  const baseline = drawn.find((c) => c.baseline && !c.control);
  const variants = visibleCells(panel).filter((c) => drawn.includes(c) && !c.baseline && !c.control && hasStarts(c));
  if (!baseline || !variants.length || !hasStarts(baseline)) return null;
  const unit = estimateUnit(panel.cells, name);
  const before = new Map(baseline.fork_values.map((v) => [v.fork, scaled(v[name], unit)]));
  const slopes = (t: Theme): Slopes => ({
    axisName: axisName(name, unit),
    baseline: baseline.variant,
    columns: variants.map((cell) => ({
      id: cell.id,
      label: cell.variant,
      colour: colourOf(cell, panel, t)?.mark ?? t.muted,
      starts: cell.fork_values.flatMap((v) => {
        const [from, to] = [before.get(v.fork), scaled(v[name], unit)];
        return from == null || to === null
          ? []
          : [{ fork: v.fork, from, to, odd: oddStarts(panel, cell).includes(v.fork) }];
      }),
      aside: cell.forks_set_aside.length,
      means: [scaled(baseline[name]?.value, unit), scaled(cell[name]?.value, unit)],
    })),
  });
  return figure({
    id: panelId(kind, panel),
    title: `${panel.title}: ${title}, start by start`,
    note: () => [
      NOTE,
      variants.some((cell) => oddStarts(panel, cell).length) && ODD_STARTS_NOTE,
      leftOutText(model, panel),
      hiddenRowsText(panel),
    ],
    watch: ['highlights', 'everyRow'],
    height: (width) => slopesHeight(slopes(LIGHT), width),
    rowPx: SLOPES_ROW_PX,
    draw: (width, t) => slopesOption(slopes(t), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'start', `baseline_${name}`, name, 'another_mode'],
      rows: slopes(LIGHT).columns.flatMap((c) =>
        c.starts.map((s) => [
          panel.scenario,
          c.label,
          s.fork,
          s.from * unit.divisor,
          s.to * unit.divisor,
          s.odd ? 'yes' : 'no',
        ]),
      ),
    }),
    alternative: () => {
      const means = [baseline, ...variants].map((cell) => `${cell.variant}: ${inUnit(cell[name]?.value, unit)}`);
      return `${means.join('; ')}, ${formatSignificant(slopes(LIGHT).columns[0]!.starts.length)} starts`;
    },
  });
}
