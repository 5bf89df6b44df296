// Throughput, CPU and allocation per request, and memory of a panel, as bars from zero.

import { barsSpec, type BarRow, type Bars } from '../charts/bars';
import { figure, type Value } from '../charts/figure';
import { threadColour, threadKinds } from '../charts/thread_kinds';
import { estimateUnit, inUnit, inUnitWithInterval, scaled, type Unit } from '../format/unit';
import { formatFixed, formatWhole } from '../format/number';
import { colourOf, hiddenRowsText, visibleCells, panelId, type Model, type Panel } from '../model';
import type { Theme } from '../theme';
import type { Cell, Estimate, EstimateName } from '../summary';
import { validityIn } from '../validity';
import { axisName, slopesFigure } from './slopes';
import { doubtLines, openCell } from './rows';

const ODD_STARTS_NOTE = 'Starts that settled in another mode are part of these means, and not of the comparison.';

/** An interval wider than this share of its value is not drawn. */
const MAX_INTERVAL_SHARE = 0.5;

interface BarsSpec {
  kind: string;
  name: EstimateName;
  /** The measure, by the name that `validityIn` expects. */
  measure: string;
  title: string;
  note: string;
  /** What the reader can do with the pointer. */
  hint?: string;
  parts?: (cell: Cell, t: Theme) => BarRow['parts'];
  /** Whether the figure is only a lower bound. */
  atLeast?: (cell: Cell) => boolean;
  tick?: (cell: Cell) => number | null;
  tip: (cell: Cell) => [string, string][];
  /** Columns of the data beside the figure. */
  more: [head: string, value: (cell: Cell) => Value][];
}

function barsFigure(panel: Panel, spec: BarsSpec): HTMLElement | null {
  const { name } = spec;
  if (!panel.cells.some((cell) => cell[name])) return null;
  const unit = estimateUnit(panel.cells, name);
  // With few starts, the interval of an absolute level can be many times as wide as the level.
  const isInformative = (e: Estimate | null) =>
    e?.lo != null && e.hi !== null && e.hi - e.lo < MAX_INTERVAL_SHARE * e.value;
  const bars = (t: Theme): Bars => ({
    axisName: axisName(name, unit),
    nameParts: Boolean(spec.parts),
    rows: visibleCells(panel).map((cell): BarRow => {
      // A void server has no figures.
      const estimate = cell.validity.state === 'void' ? null : cell[name];
      const colour = colourOf(cell, panel, t)?.mark ?? t.faint;
      const split = spec.parts?.(cell, t) ?? [];
      const whole = estimate ? [{ name: '', value: estimate.value / unit.divisor, colour }] : [];
      const interval = isInformative(estimate) ? estimate : null;
      return {
        id: cell.id,
        label: cell.variant,
        parts: estimate && split.length ? split : whole,
        lo: scaled(interval?.lo, unit),
        hi: scaled(interval?.hi, unit),
        tick: scaled(spec.tick?.(cell), unit),
        value: valueText(cell, unit, spec),
        tip: [[spec.title, inUnitWithInterval(estimate, unit)], ...spec.tip(cell), ...doubtLines(cell, spec.measure)],
      };
    }),
  });
  const odd = panel.comparisons.some((c) => c.odd_forks.length) && ODD_STARTS_NOTE;
  return figure({
    id: panelId(spec.kind, panel),
    title: `${panel.title}: ${spec.title}`,
    note: () => [spec.note, odd, hiddenRowsText(panel)],
    hint: spec.hint ?? '',
    watch: ['highlights', 'everyRow'],
    ...barsSpec(bars),
    data: () => ({
      heads: ['scenario', 'variant', name, 'lower', 'upper', ...spec.more.map(([head]) => head)],
      rows: panel.cells.map((c) => {
        const more = spec.more.map(([, value]) => value(c));
        return [c.scenario, c.variant, c[name]?.value, c[name]?.lo, c[name]?.hi, ...more];
      }),
    }),
    onPick: openCell,
  });
}

/** The figure, marked as a lower bound (≥) or as suspect (!). */
function valueText(cell: Cell, unit: Unit, { name, measure, atLeast }: BarsSpec): string {
  const estimate = cell[name];
  if (cell.validity.state === 'void') return '× void';
  if (!estimate) return 'not measured';
  const doubt = validityIn(cell, measure) === 'suspect' ? ' !' : '';
  return (atLeast?.(cell) ? '≥ ' : '') + inUnit(estimate.value, unit) + doubt;
}

const LIMITED_BY: Record<Cell['bottleneck'], string> = {
  server: 'the server',
  generator: 'the generator: a lower bound',
  network: 'the network: a lower bound',
  both: 'server and generator',
  neither: 'the load itself',
  unknown: 'not known',
};

export function throughputFigure(model: Model, panel: Panel): HTMLElement | null {
  const slopes = slopesFigure(model, panel, 'throughput', 'throughput', 'throughput_per_s');
  if (slopes) return slopes;
  return barsFigure(panel, {
    kind: 'throughput',
    name: 'throughput_per_s',
    measure: 'throughput',
    title: 'throughput under a saturating load',
    note: panel.scenarioTitle,
    atLeast: (c) => c.bottleneck === 'generator' || c.bottleneck === 'network',
    tip: (c) => [['limited by', LIMITED_BY[c.bottleneck]]],
    more: [['limited_by', (c) => c.bottleneck]],
  });
}

/** CPU per request, start by start; null without pairs of starts. */
export function cpuSlopes(model: Model, panel: Panel): HTMLElement | null {
  return slopesFigure(model, panel, 'cpu-slopes', 'CPU per request', 'cpu_ns_per_request');
}

const JIT_NOTE = 'Bars leave out the JIT compilers, because a compilation is paid once.';

export function cpuFigure(_: Model, panel: Panel): HTMLElement | null {
  const unit = estimateUnit(panel.cells, 'cpu_ns_per_request');
  const loads = [...new Set(panel.cells.map((c) => c.cpu_load).filter(Boolean))];
  const kinds = threadKinds(panel.cells.flatMap((c) => c.cpu_by_kind.map((k) => k.kind)));
  const costOf = (c: Cell, kind: string) => c.cpu_by_kind.find((k) => k.kind === kind)?.ns_per_request;
  return barsFigure(panel, {
    kind: 'cpu',
    name: 'cpu_ns_per_request',
    measure: 'cpu_per_request',
    title: 'CPU per request by kind of thread',
    note: [...loads.map((load) => `Load: ${load}.`), kinds.includes('jit') ? JIT_NOTE : ''].join(' ').trim(),
    hint: kinds.includes('jit') ? 'Point at a bar to see their CPU.' : '',
    parts: (c, t) =>
      kinds
        .filter((kind) => kind !== 'jit')
        .flatMap((kind) => {
          const value = scaled(costOf(c, kind), unit);
          return value === null ? [] : [{ name: kind, value, colour: threadColour(kind, t) }];
        }),
    tip: (c) => c.cpu_by_kind.map((k) => [k.kind, inUnit(k.ns_per_request, unit)]),
    more: kinds.map((kind) => [`${kind}_ns_per_request`, (c: Cell) => costOf(c, kind)]),
  });
}

export function allocationFigure(_: Model, panel: Panel): HTMLElement | null {
  const pauses = (c: Cell) =>
    c.gc_pause_share === null
      ? '–'
      : `${formatFixed(c.gc_pause_share * 100, 2)} % of the time, ${formatWhole(c.gc_pauses ?? 0)} in all`;
  return barsFigure(panel, {
    kind: 'allocation',
    name: 'allocated_bytes_per_request',
    measure: 'allocated_per_request',
    title: 'bytes allocated per request',
    note: 'Counted by the server’s runtime. Pauses are collections that stopped all its threads.',
    tip: (c) => [['GC pauses', pauses(c)]],
    more: [
      ['gc_pause_share', (c) => c.gc_pause_share],
      ['gc_pauses', (c) => c.gc_pauses],
      ['heap_used_peak_bytes', (c) => c.heap_used_peak_bytes],
    ],
  });
}

export function memoryFigure(_: Model, panel: Panel): HTMLElement | null {
  const unit = estimateUnit(panel.cells, 'rss_bytes');
  return barsFigure(panel, {
    kind: 'memory',
    name: 'rss_bytes',
    measure: 'memory',
    title: 'resident memory',
    note: 'The bar is memory at the end of a start, on average; the tick is the largest of any start.',
    tick: (c) => c.rss_peak_bytes,
    tip: (c) => [['peak', inUnit(c.rss_peak_bytes, unit)]],
    more: [['rss_peak_bytes', (c) => c.rss_peak_bytes]],
  });
}
