// The figures of other load tools: a row per figure, beside tare's.

import { h, plainTable, scrollFrame } from '../dom';
import { formatFixed, formatWhole } from '../format/number';
import { inUnit, formatTime, rateUnit } from '../format/unit';
import type { CrossCheck, Summary } from '../summary';

const HEADS = ['cell', 'tool', 'figure', 'the tool’s', 'tare’s', 'ratio'];

export function crossCheckSection(summary: Summary): HTMLElement {
  const rows = summary.cross_checks.flatMap(rowsOf);
  const notes = summary.cross_checks.filter((check) => check.note !== null);
  const about =
    'The same cell, loaded by another tool after tare, on the same start of the server. The ratio is the tool’s figure ' +
    'divided by tare’s. It is left out where the tool rounds too coarsely.';
  const table = plainTable('', HEADS, rows, { class: 'cells' });
  return h(
    'div',
    {},
    h('p', {}, about),
    rows.length ? scrollFrame('Cross-checks', table) : null,
    h(
      'ul',
      { class: 'plain' },
      ...notes.map((check) => h('li', {}, `${cellOf(check)}: ${check.engine} ${check.note}`)),
    ),
  );
}

const cellOf = (check: CrossCheck) => `${check.scenario} · ${check.variant}`;

function rowsOf(check: CrossCheck): string[][] {
  const common = [cellOf(check), `${check.engine} ${check.version}`];
  const figures = check.figures.map(({ name, unit, theirs, ours, ratio }) => [
    ...common,
    name,
    valueText(theirs, unit),
    valueText(ours, unit),
    ratio === null ? '–' : `× ${formatFixed(ratio, 2)}`,
  ]);
  const failed = check.requests_failed;
  return failed ? [...figures, [...common, 'failed requests', formatWhole(failed), '', '']] : figures;
}

const valueText = (value: number | null, unit: string): string =>
  unit === 'ns' ? formatTime(value) : inUnit(value, rateUnit([value]));
