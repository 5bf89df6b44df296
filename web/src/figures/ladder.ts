// A ladder as a waterfall chart: each bar starts where the previous one ends, with the interval of what the step adds.

import { barsSpec, type BarRow } from '../charts/bars';
import { figure } from '../charts/figure';
import { inUnit, inUnitWithInterval, unitFor, type Unit } from '../format/unit';
import type { Estimate, Ladder, LadderStep } from '../summary';
import type { Theme } from '../theme';

const TRANSPARENT = 'rgba(0,0,0,0)';

/** The figures of a step that have a chart, and their names and units. */
const CHARTS = [
  { key: 'cpu_ns', name: 'CPU', unit: 'ns' },
  { key: 'allocated_bytes', name: 'allocation', unit: 'bytes' },
] as const;

type Chart = (typeof CHARTS)[number];

/** The waterfall charts of a ladder: CPU per request, and allocation if it is known. */
export function ladderFigures(ladder: Ladder): HTMLElement[] {
  const known = CHARTS.filter((chart) => ladder.steps.some((step) => step[chart.key]));
  return known.map((chart) => waterfall(ladder, chart));
}

const addedOf = (step: LadderStep, { key }: Chart): Estimate | null =>
  key === 'cpu_ns' ? step.cpu_ns_added : step.allocated_bytes_added;

function waterfall(ladder: Ladder, chart: Chart): HTMLElement {
  const levels = ladder.steps.map((step) => step[chart.key]?.value);
  const unit = unitFor(chart.unit, levels);
  return figure({
    id: `ladder-${chart.unit}-${ladder.id}`,
    title: `What each step adds to the ${chart.name} per request, ${ladder.group}`,
    note: `${ladder.scenario}, ${ladder.forks} starts; the whisker is the interval of what the step adds.`,
    ...barsSpec((t) => ({
      axisName: `${chart.name} per request, ${unit.name}`,
      rows: stepRows(ladder, chart, unit, t),
    })),
    data: () => ({
      heads: ['step', `${chart.unit}_per_request`, 'added', 'lower', 'upper'],
      rows: ladder.steps.map((step, i) => {
        const added = addedOf(step, chart);
        return [step.variant, levels[i], added?.value, added?.lo, added?.hi];
      }),
    }),
  });
}

function stepRows(ladder: Ladder, chart: Chart, unit: Unit, t: Theme): BarRow[] {
  let below = 0;
  return ladder.steps.map((step): BarRow => {
    const level = step[chart.key];
    const added = addedOf(step, chart);
    const [from, to] = [below, level ? level.value / unit.divisor : below];
    below = to;
    const at = (value: number | null | undefined) => (value == null ? null : from + value / unit.divisor);
    return {
      id: step.variant,
      label: step.variant,
      parts: level ? stepParts(from, to, added === null, t) : [],
      lo: at(added?.lo),
      hi: at(added?.hi),
      value: added ? addedText(added, unit) : inUnit(level?.value, unit),
      tip: [
        ['per request', inUnitWithInterval(level, unit)],
        ['added', inUnitWithInterval(added, unit)],
      ],
    };
  });
}

/** A transparent part below the step, and the step in the colour of better or worse. */
function stepParts(from: number, to: number, lowest: boolean, t: Theme): BarRow['parts'] {
  const colour = lowest ? t.baseline : to < from ? t.better : t.worse;
  return [
    { name: 'below', value: Math.min(from, to), colour: TRANSPARENT },
    { name: 'step', value: Math.abs(to - from), colour },
  ];
}

const addedText = ({ value }: Estimate, unit: Unit): string => (value < 0 ? '−' : '+') + inUnit(Math.abs(value), unit);
