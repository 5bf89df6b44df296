// CPU over time: the data of the strips, their texts and their CSV.

import { figure } from '../charts/figure';
import { coresOf, coresOfKind, STACK_MARGINS, stackHeight, stackOption, type Stack } from '../charts/stack';
import { threadKinds } from '../charts/thread_kinds';
import { formatSignificant } from '../format/number';
import { leftOutText, panelId, type Model, type Panel } from '../model';
import { LIGHT, type Theme } from '../theme';
import type { Cell } from '../summary';
import { panelTimeAxis, shadesNotes, sliceData, timeCursor, timeLines } from './over_time';

const NOTE = 'A bar is a sample; all strips have the same scale.';
/** The largest number of strips. Nobody compares more. */
const MAX_STRIPS = 6;

const kindsOf = (cells: Cell[]): string[] =>
  threadKinds(cells.flatMap((c) => c.timeline.flatMap((p) => p.cpu.map((k) => k.kind))));

/** CPU by kind of thread, slice by slice; null if the servers' processes could not be observed. */
export function cpuOverTime(model: Model, panel: Panel): HTMLElement | null {
  const kinds = kindsOf(panel.cells);
  if (!kinds.length) return null;
  const stack = (t: Theme): Stack => {
    const lines = timeLines(model, panel, t);
    const seen = lines.filter((l) => l.cell.timeline.some((p) => p.cpu.length)).slice(0, MAX_STRIPS);
    return { lines: seen, kinds, axis: panelTimeAxis(model, panel, lines) };
  };
  const mean = (cell: Cell, kind: string) => {
    const all = cell.timeline.filter((p) => p.phase !== 'warmup');
    return all.reduce((sum, p) => sum + coresOfKind(p, kind), 0) / (all.length || 1);
  };
  return figure({
    id: panelId('cpu-over-time', panel),
    title: `${panel.title}: cores kept busy, by kind of thread, sample by sample`,
    note: [NOTE, ...shadesNotes(panel.cells), leftOutText(model, panel)],
    watch: ['highlights', 'window'],
    cursor: timeCursor(
      panel,
      () => stack(LIGHT),
      () => STACK_MARGINS,
      coresOf,
      (cores) => `${formatSignificant(cores)} cores`,
    ),
    height: () => stackHeight(stack(LIGHT)),
    draw: (width, t) => stackOption(stack(t), width, t),
    data: () =>
      sliceData(
        panel.cells,
        kinds.map((k) => `${k}_cores`),
        (p) => kinds.map((kind) => p.cpu.find((k) => k.kind === kind)?.cores),
      ),
    alternative: () =>
      stack(LIGHT)
        .lines.map(
          (l) => `${l.label}: ${kinds.map((k) => `${k} ${formatSignificant(mean(l.cell, k))}`).join(', ')} cores`,
        )
        .join('; '),
  });
}
