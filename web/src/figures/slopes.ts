// Throughput and CPU of a panel, start by start: a line from baseline to variant for each start.

import { figure } from '../charts/figure';
import { SLOPES_ROW_PX, slopesHeight, slopesOption, type Slopes } from '../charts/slopes';
import { formatSignificant } from '../format/number';
import { inUnit, type Unit } from '../format/unit';
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
import type { Cell, Estimate, ForkValue } from '../summary';
import { LIGHT, type Theme } from '../theme';

interface SlopesSpec {
  kind: string;
  title: string;
  unit: Unit;
  axisName: string;
  head: string;
  mean: (cell: Cell) => Estimate | null;
  value: (fork: ForkValue) => number | null;
}

const NOTE = 'A line is one start: the baseline at the left, the variant at the right. Short strokes are means.';
const ODD_STARTS_NOTE =
  'Dashed: a start that settled in another mode. It is part of the means, and not of the comparison.';

/** The numbers of the starts of a cell that count in no comparison. */
const oddStarts = (panel: Panel, cell: Cell): number[] =>
  panel.comparisons.find((c) => c.cell === cell.id)?.odd_forks.map((odd) => odd.fork) ?? [];

/** The slopes of a panel; null if starts are not paired or there is no baseline or no variant. */
export function slopesFigure(model: Model, panel: Panel, spec: SlopesSpec): HTMLElement | null {
  const drawn = drawnCells(model, panel);
  const baseline = drawn.find((c) => c.baseline && !c.control);
  const variants = visibleCells(panel).filter(
    (c) => drawn.includes(c) && !c.baseline && !c.control && c.fork_values.some((v) => spec.value(v) !== null),
  );
  if (!baseline || !variants.length || !baseline.fork_values.some((v) => spec.value(v) !== null)) return null;
  const scaled = (value: number | null | undefined) => (value == null ? null : value / spec.unit.divisor);
  const before = new Map(baseline.fork_values.map((v) => [v.fork, scaled(spec.value(v))]));
  const slopes = (t: Theme): Slopes => ({
    axisName: spec.axisName,
    baseline: baseline.variant,
    columns: variants.map((cell) => ({
      id: cell.id,
      label: cell.variant,
      colour: colourOf(cell, panel, t)?.mark ?? t.muted,
      starts: cell.fork_values.flatMap((v) => {
        const [from, to] = [before.get(v.fork), scaled(spec.value(v))];
        return from == null || to === null
          ? []
          : [{ fork: v.fork, from, to, odd: oddStarts(panel, cell).includes(v.fork) }];
      }),
      aside: cell.forks_set_aside.length,
      means: [scaled(spec.mean(baseline)?.value), scaled(spec.mean(cell)?.value)],
    })),
  });
  return figure({
    id: panelId(spec.kind, panel),
    title: `${panel.title}: ${spec.title}`,
    note: () =>
      [
        NOTE,
        variants.some((cell) => oddStarts(panel, cell).length) && ODD_STARTS_NOTE,
        leftOutText(model, panel),
        hiddenRowsText(panel),
      ]
        .filter(Boolean)
        .join(' '),
    watch: ['highlights', 'everyRow'],
    height: (width) => slopesHeight(slopes(LIGHT), width),
    rowPx: SLOPES_ROW_PX,
    draw: (width, t) => slopesOption(slopes(t), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'start', `baseline_${spec.head}`, spec.head, 'another_mode'],
      rows: slopes(LIGHT).columns.flatMap((c) =>
        c.starts.map((s) => [
          panel.scenario,
          c.label,
          s.fork,
          s.from * spec.unit.divisor,
          s.to * spec.unit.divisor,
          s.odd ? 'yes' : 'no',
        ]),
      ),
    }),
    alternative: () =>
      [baseline, ...variants]
        .map((cell) => `${cell.variant}: ${inUnit(spec.mean(cell)?.value, spec.unit)}`)
        .join('; ') + `, ${formatSignificant(slopes(LIGHT).columns[0]!.starts.length)} starts`,
  });
}
