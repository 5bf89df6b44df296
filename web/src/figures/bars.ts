// Throughput, CPU and allocation per request, and memory of a panel, as bars from zero.

import { barsSpec, type BarRow, type Bars } from '../charts/bars';
import { figure } from '../charts/figure';
import { threadColour, threadKinds } from '../charts/thread_kinds';
import { bytesUnit, inUnit, inUnitWithInterval, rateUnit, timeUnit, type Unit } from '../format/unit';
import { formatFixed, formatWhole } from '../format/number';
import { colourOf, hiddenRowsText, visibleCells, panelId, type Model, type Panel } from '../model';
import type { Theme } from '../theme';
import type { Cell, Estimate } from '../summary';
import { validityIn } from '../validity';
import { slopesFigure } from './slopes';
import { doubtLines, openCell } from './rows';

const ODD_STARTS_NOTE = 'Starts that settled in another mode are part of these means, and not of the comparison.';

/** An interval wider than this share of its value is not drawn. */
const MAX_INTERVAL_SHARE = 0.5;

interface BarsSpec {
  kind: string;
  /** The measure, by the name that `validityIn` expects. */
  measure: string;
  title: string;
  note?: string;
  /** What the reader can do with the pointer. */
  hint?: string;
  unit: Unit;
  axisName: string;
  estimate: (cell: Cell) => Estimate | null;
  parts?: (cell: Cell, t: Theme) => BarRow['parts'];
  /** Whether the figure is only a lower bound. */
  atLeast?: (cell: Cell) => boolean;
  tick?: (cell: Cell) => number | null;
  tip?: (cell: Cell) => [string, string][];
  data: { heads: string[]; row: (cell: Cell) => (string | number | null)[] };
}

function barsFigure(panel: Panel, spec: BarsSpec): HTMLElement | null {
  if (!panel.cells.some(spec.estimate)) return null;
  // With few starts, the interval of an absolute level can be many times as wide as the level.
  const isInformative = (e: Estimate | null) =>
    e?.lo != null && e.hi !== null && e.hi - e.lo < MAX_INTERVAL_SHARE * e.value;
  const scale = (v: number | null | undefined) => (v == null ? null : v / spec.unit.divisor);
  const bars = (t: Theme): Bars => ({
    axisName: spec.axisName,
    nameParts: Boolean(spec.parts),
    rows: visibleCells(panel).map((cell): BarRow => {
      // A void server has no figures.
      const estimate = cell.validity.state === 'void' ? null : spec.estimate(cell);
      const colour = colourOf(cell, panel, t)?.mark ?? t.faint;
      const split = spec.parts?.(cell, t) ?? [];
      const parts = estimate ? (split.length ? split : [{ name: '', value: scale(estimate.value)!, colour }]) : [];
      return {
        id: cell.id,
        label: cell.variant,
        parts,
        lo: isInformative(estimate) ? scale(estimate?.lo) : null,
        hi: isInformative(estimate) ? scale(estimate?.hi) : null,
        tick: scale(spec.tick?.(cell)),
        value: valueText(cell, estimate, spec),
        tip: [
          [spec.title, inUnitWithInterval(estimate, spec.unit)],
          ...(spec.tip?.(cell) ?? []),
          ...doubtLines(cell, spec.measure),
        ],
      };
    }),
  });
  const odd = panel.comparisons.some((c) => c.odd_forks.length) && ODD_STARTS_NOTE;
  return figure({
    id: panelId(spec.kind, panel),
    title: `${panel.title}: ${spec.title}`,
    note: () => [spec.note, odd, hiddenRowsText(panel)].filter(Boolean).join(' '),
    ...(spec.hint ? { hint: spec.hint } : {}),
    watch: ['highlights', 'everyRow'],
    ...barsSpec(bars),
    data: () => ({
      heads: ['scenario', 'variant', ...spec.data.heads],
      rows: panel.cells.map((c) => [c.scenario, c.variant, ...spec.data.row(c)]),
    }),
    onPick: openCell,
  });
}

/** The figure, marked as a lower bound (≥) or as suspect (!). */
function valueText(cell: Cell, estimate: Estimate | null, spec: BarsSpec): string {
  if (cell.validity.state === 'void') return '× void';
  if (!estimate) return 'not measured';
  const bound = spec.atLeast?.(cell) ? '≥ ' : '';
  const doubt = validityIn(cell, spec.measure) === 'suspect' ? ' !' : '';
  return bound + inUnit(estimate.value, spec.unit) + doubt;
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
  const unit = rateUnit(panel.cells.map((c) => c.throughput_per_s?.value));
  const slopes = slopesFigure(model, panel, {
    kind: 'throughput',
    title: 'throughput, start by start',
    unit,
    axisName: `correct responses, ${unit.name} (more is better)`,
    head: 'throughput_per_s',
    mean: (c) => c.throughput_per_s,
    value: (v) => v.throughput_per_s,
  });
  if (slopes) return slopes;
  return barsFigure(panel, {
    kind: 'throughput',
    measure: 'throughput',
    title: 'throughput under a saturating load',
    note: panel.scenarioTitle,
    unit,
    axisName: `correct responses, ${unit.name} (more is better)`,
    estimate: (c) => c.throughput_per_s,
    atLeast: (c) => c.bottleneck === 'generator' || c.bottleneck === 'network',
    tip: (c) => [['limited by', LIMITED_BY[c.bottleneck]]],
    data: {
      heads: ['throughput_per_s', 'lower', 'upper', 'limited_by'],
      row: (c) => [
        c.throughput_per_s?.value ?? null,
        c.throughput_per_s?.lo ?? null,
        c.throughput_per_s?.hi ?? null,
        c.bottleneck,
      ],
    },
  });
}

/** CPU per request, start by start; null without pairs of starts. */
export function cpuSlopes(model: Model, panel: Panel): HTMLElement | null {
  const unit = timeUnit(panel.cells.map((c) => c.cpu_ns_per_request?.value));
  return slopesFigure(model, panel, {
    kind: 'cpu-slopes',
    title: 'CPU per request, start by start',
    unit,
    axisName: `CPU of the server per request, ${unit.name} (less is better)`,
    head: 'cpu_ns_per_request',
    mean: (c) => c.cpu_ns_per_request,
    value: (v) => v.cpu_ns_per_request,
  });
}

const JIT_NOTE = 'Bars leave out the JIT compilers, because a compilation is paid once.';

export function cpuFigure(_: Model, panel: Panel): HTMLElement | null {
  const unit = timeUnit(panel.cells.map((c) => c.cpu_ns_per_request?.value));
  const loads = [...new Set(panel.cells.map((c) => c.cpu_load).filter(Boolean))];
  const kinds = threadKinds(panel.cells.flatMap((c) => c.cpu_by_kind.map((k) => k.kind)));
  return barsFigure(panel, {
    kind: 'cpu',
    measure: 'cpu_per_request',
    title: 'CPU per request by kind of thread',
    note: [...loads.map((load) => `Load: ${load}.`), kinds.includes('jit') ? JIT_NOTE : ''].join(' ').trim(),
    hint: kinds.includes('jit') ? 'Point at a bar to see their CPU.' : '',
    unit,
    axisName: `CPU of the server per request, ${unit.name} (less is better)`,
    estimate: (c) => c.cpu_ns_per_request,
    parts: (c, t) =>
      kinds
        .filter((kind) => kind !== 'jit')
        .flatMap((kind) => {
          const found = c.cpu_by_kind.find((k) => k.kind === kind);
          return found
            ? [{ name: kind, value: found.ns_per_request / unit.divisor, colour: threadColour(kind, t) }]
            : [];
        }),
    tip: (c) => c.cpu_by_kind.map((k) => [k.kind, inUnit(k.ns_per_request, unit)]),
    data: {
      heads: ['cpu_ns_per_request', 'lower', 'upper', ...kinds.map((k) => `${k}_ns_per_request`)],
      row: (c) => [
        c.cpu_ns_per_request?.value ?? null,
        c.cpu_ns_per_request?.lo ?? null,
        c.cpu_ns_per_request?.hi ?? null,
        ...kinds.map((k) => c.cpu_by_kind.find((x) => x.kind === k)?.ns_per_request ?? null),
      ],
    },
  });
}

export function allocationFigure(_: Model, panel: Panel): HTMLElement | null {
  const unit = bytesUnit(panel.cells.map((c) => c.allocated_bytes_per_request?.value));
  const pauses = (c: Cell) =>
    c.gc_pause_share === null
      ? '–'
      : `${formatFixed(c.gc_pause_share * 100, 2)} % of the time, ${formatWhole(c.gc_pauses ?? 0)} in all`;
  return barsFigure(panel, {
    kind: 'allocation',
    measure: 'allocated_per_request',
    title: 'bytes allocated per request',
    note: 'Counted by the server’s runtime. Pauses are collections that stopped all its threads.',
    unit,
    axisName: `allocated per request, ${unit.name} (less is better)`,
    estimate: (c) => c.allocated_bytes_per_request,
    tip: (c) => [['GC pauses', pauses(c)]],
    data: {
      heads: ['allocated_bytes_per_request', 'lower', 'upper', 'gc_pause_share', 'gc_pauses', 'heap_used_peak_bytes'],
      row: (c) => [
        c.allocated_bytes_per_request?.value ?? null,
        c.allocated_bytes_per_request?.lo ?? null,
        c.allocated_bytes_per_request?.hi ?? null,
        c.gc_pause_share,
        c.gc_pauses,
        c.heap_used_peak_bytes,
      ],
    },
  });
}

export function memoryFigure(_: Model, panel: Panel): HTMLElement | null {
  const unit = bytesUnit(panel.cells.map((c) => c.rss_bytes?.value));
  return barsFigure(panel, {
    kind: 'memory',
    measure: 'memory',
    title: 'resident memory',
    note: 'The bar is memory at the end of a start, on average; the tick is the largest of any start.',
    unit,
    axisName: `resident memory, ${unit.name} (less is better)`,
    estimate: (c) => c.rss_bytes,
    tick: (c) => c.rss_peak_bytes,
    tip: (c) => [['peak', inUnit(c.rss_peak_bytes, unit)]],
    data: {
      heads: ['rss_bytes', 'lower', 'upper', 'rss_peak_bytes'],
      row: (c) => [c.rss_bytes?.value ?? null, c.rss_bytes?.lo ?? null, c.rss_bytes?.hi ?? null, c.rss_peak_bytes],
    },
  });
}
