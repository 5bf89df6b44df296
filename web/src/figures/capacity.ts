// The results of searches for the largest load: a table, and a chart of the tries for each limit of the curve.

import { figure } from '../charts/figure';
import { triesHeight, triesOption, type Tries, type TryPoint } from '../charts/tries';
import { h, scrollingTable } from '../dom';
import { formatSignificant, formatWhole } from '../format/number';
import { inUnit, inUnitWithInterval, rateUnit, scaled, unitFor, type Unit } from '../format/unit';
import { colourOf, drawnCells, leftOutText, panelId, type Model, type Panel } from '../model';
import type { Capacity, CapacityFork, CapacityLimit, Cell } from '../summary';
import type { Theme } from '../theme';

type SearchedCell = Cell & { capacity: Capacity };

const isSearched = (cell: Cell): cell is SearchedCell => cell.capacity !== null;

const HEADS = ['', 'largest load that keeps the curve', 'each start', 'what fails above it', 'tries'];

/** The search results of a panel; null without a search. */
export function capacityTable(_: Model, panel: Panel): HTMLElement | null {
  const cells = panel.cells.filter(isSearched);
  if (!cells.length) return null;
  const title = `${panel.title}: the largest load that keeps ${curveNames(cells)}`;
  const rows = cells.map((cell) => [cell.variant, ...resultOf(cell.capacity, loadUnit(cells))]);
  return scrollingTable(title, HEADS, rows);
}

const curveNames = (cells: SearchedCell[]) => [...new Set(cells.map((c) => c.capacity.curve))].join('; ');

function resultOf(found: Capacity, unit: Unit): string[] {
  const forks = found.forks.map((f) => startText(f, unit)).join(', ');
  const failed = found.limits.filter((l) => l.failed_forks);
  const reasons = failed.map((l) => `${l.condition} in ${l.failed_forks} of ${found.forks.length} starts`);
  const keptTries = found.tries.filter((t) => t.kept).length;
  return [
    loadText(found, unit),
    forks,
    reasons.join(', ') || '–',
    `${formatWhole(found.tries.length)}, of these kept: ${formatWhole(keptTries)}`,
  ];
}

/** What the searches of all starts found together: as in the sentence of the terminal. */
function loadText(found: Capacity, unit: Unit): string {
  if (!found.load.value) return 'none that was tried';
  const none = found.forks.filter((f) => !f.load).length;
  const nothing = none ? `; none in ${none} of ${found.forks.length} starts` : '';
  const load = inUnitWithInterval(found.load, unit);
  if (!found.forks_at_most) return load + nothing;
  return `at least ${load}: the largest tried in ${found.forks_at_most} of ${found.forks.length} starts${nothing}`;
}

function startText(fork: CapacityFork, unit: Unit): string {
  if (!fork.load) return 'none';
  return (fork.failed_at === null ? '≥ ' : '') + formatSignificant(fork.load / unit.divisor);
}

function loadUnit(cells: SearchedCell[]): Unit {
  if (cells[0]!.capacity.by === 'users') return { divisor: 1, name: 'users' };
  return rateUnit(cells.flatMap((c) => c.capacity.tries.map((t) => t.load)));
}

/** A chart for each limit with a value that can be drawn; null without one. */
export function triesFigures(model: Model, panel: Panel): HTMLElement | null {
  const cells = drawnCells(model, panel).filter(isSearched);
  const limits = cells[0]?.capacity.limits ?? [];
  const drawable = limits.map((limit, i) => ({ limit, i })).filter(({ limit, i }) => canBeDrawn(cells, limit, i));
  if (!drawable.length) return null;
  const note = `${TRIES_NOTE} ${leftOutText(model, panel)}`.trim();
  const figures = drawable.map(({ limit, i }) => triesFigure(panel, cells, limit, i, note));
  return h('div', { class: 'figures' }, ...figures);
}

/** Whether a logarithmic axis can show the limit and the value of some try: both must be above zero. */
const canBeDrawn = (cells: SearchedCell[], limit: CapacityLimit, i: number): boolean =>
  limit.limit > 0 && cells.some((c) => c.capacity.tries.some((t) => (t.values[i] ?? 0) > 0));

const TRIES_NOTE =
  'A dot is a try that kept the curve, a cross one that did not. Vertical lines: the largest load that each variant keeps; its capacity is larger where that is the largest tried.';

function triesFigure(panel: Panel, cells: SearchedCell[], limit: CapacityLimit, i: number, note: string): HTMLElement {
  const [xUnit, yUnit] = [loadUnit(cells), unitFor(limit.unit, [limit.limit])];
  const markOf = (cell: Cell, t: Theme) => colourOf(cell, panel, t)?.mark ?? t.faint;
  const tries = (t: Theme): Tries => ({
    points: cells.flatMap((cell) =>
      cell.capacity.tries.flatMap(({ fork, load, kept, values }): TryPoint[] => {
        const value = values[i];
        if (value == null) return [];
        const tip: TryPoint['tip'] = [
          ['start', String(fork)],
          ['load', inUnit(load, xUnit)],
          [limit.condition, inUnit(value, yUnit)],
          ['the whole curve', kept ? 'kept' : 'not kept'],
        ];
        const [x, y] = [load / xUnit.divisor, value / yUnit.divisor];
        return [{ label: cell.variant, load: x, value: y, kept, colour: markOf(cell, t), tip }];
      }),
    ),
    kept: cells.map((cell) => ({
      load: cell.capacity.load.value / xUnit.divisor,
      lo: scaled(cell.capacity.load.lo, xUnit),
      hi: scaled(cell.capacity.load.hi, xUnit),
      colour: markOf(cell, t),
    })),
    limit: limit.limit / yUnit.divisor,
    limitText: limit.condition,
    loadName: cells[0]!.capacity.by === 'users' ? 'users' : `requests asked for, ${xUnit.name}`,
    valueName: yUnit.name,
  });
  return figure({
    id: `${panelId('tries', panel)}-${i + 1}`,
    title: `${panel.title}: every try against ${limit.condition}`,
    note,
    watch: ['highlights'],
    key: (t) => cells.map((cell) => ({ label: cell.variant, colour: markOf(cell, t) })),
    alwaysKey: true,
    height: triesHeight,
    draw: (width, t) => triesOption(tries(t), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'fork', 'load', 'kept', `${limit.condition}_${limit.unit}`],
      rows: cells.flatMap(({ variant, capacity }) =>
        capacity.tries.map((t) => [panel.scenario, variant, t.fork, t.load, t.kept ? 'yes' : 'no', t.values[i]]),
      ),
    }),
    alternative: () => cells.map((cell) => cell.capacity.sentence).join('; '),
  });
}
