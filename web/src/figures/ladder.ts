// A ladder as a waterfall chart: each bar starts where the previous one ends, with the interval of what the step adds.

import { barsSpec, type BarRow } from '../charts/bars';
import { figure } from '../charts/figure';
import { inUnit, inUnitWithInterval, unitFor, type Unit } from '../format/unit';
import type { Estimate, Ladder, LadderStep } from '../summary';
import type { Theme } from '../theme';

const TRANSPARENT = 'rgba(0,0,0,0)';

interface Currency {
  name: string;
  unit: 'ns' | 'bytes';
  level: (step: LadderStep) => Estimate | null;
  added: (step: LadderStep) => Estimate | null;
}

const CPU: Currency = { name: 'CPU', unit: 'ns', level: (s) => s.cpu_ns, added: (s) => s.cpu_ns_added };
const BYTES: Currency = {
  name: 'allocation',
  unit: 'bytes',
  level: (s) => s.allocated_bytes,
  added: (s) => s.allocated_bytes_added,
};

/** The waterfall charts of a ladder: CPU per request, and allocation if it is known. */
export function ladderFigures(ladder: Ladder): HTMLElement[] {
  const known = [CPU, BYTES].filter((currency) => ladder.steps.some(currency.level));
  return known.map((currency) => waterfall(ladder, currency));
}

function waterfall(ladder: Ladder, currency: Currency): HTMLElement {
  const unit = unitFor(
    currency.unit,
    ladder.steps.map((step) => currency.level(step)?.value),
  );
  return figure({
    id: `ladder-${currency.unit}-${ladder.id}`,
    title: `What each step adds to the ${currency.name} per request, ${ladder.group}`,
    note: `${ladder.scenario}, ${ladder.forks} starts; the whisker is the interval of what the step adds.`,
    ...barsSpec((t) => ({
      axisName: `${currency.name} per request, ${unit.name}`,
      rows: stepRows(ladder, currency, unit, t),
    })),
    data: () => ({
      heads: ['step', `${currency.unit}_per_request`, 'added', 'lower', 'upper'],
      rows: ladder.steps.map((step) => {
        const added = currency.added(step);
        return [step.variant, currency.level(step)?.value, added?.value, added?.lo, added?.hi];
      }),
    }),
  });
}

function stepRows(ladder: Ladder, currency: Currency, unit: Unit, t: Theme): BarRow[] {
  let below = 0;
  return ladder.steps.map((step): BarRow => {
    const level = currency.level(step);
    const added = currency.added(step);
    const [from, to] = [below, level ? level.value / unit.divisor : below];
    below = to;
    const at = (value: number | null | undefined) => (value == null ? null : from + value / unit.divisor);
    return {
      id: step.variant,
      label: step.variant,
      parts: level ? stepParts(from, to, added === null, t) : [],
      lo: added ? at(added.lo) : null,
      hi: added ? at(added.hi) : null,
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
