// Charts of a panel over time: throughput, latency, memory.

import { figure, type Data, type Value } from '../charts/figure';
import type { CursorSpec, Margins } from '../charts/cursor';
import { timeAxis, timeReading, type TimeAxis, type TimeLine, type TimeLines } from '../charts/time_axis';
import { kindStyle, kindsIn, timelineHeight, timelineMargins, timelineOption, type Timeline } from '../charts/timeline';
import { bytesUnit, inUnit, rateUnit, timeUnit, type Unit } from '../format/unit';
import { colourOf, drawnCells, kindText, leftOutText, panelId, type Model, type Panel } from '../model';
import { choice, choose } from '../state';
import type { Cell, TimePoint } from '../summary';
import { LIGHT, type Theme } from '../theme';

const timedCells = (model: Model, panel: Panel): Cell[] => drawnCells(model, panel).filter((c) => c.timeline.length);

/** The lines of the variants that have a colour. More lines would hide them. */
export function timeLines(model: Model, panel: Panel, t: Theme): TimeLine[] {
  return timedCells(model, panel).flatMap((cell) => {
    const colour = colourOf(cell, panel, t);
    return colour ? [{ label: cell.variant, cell, ...colour }] : [];
  });
}

/** The time axis of a panel, zoomed to the part that the reader has chosen. */
export function panelTimeAxis(model: Model, panel: Panel, lines: TimeLine[]): TimeAxis {
  const part = choice.window?.panel === panel.key ? choice.window.part : null;
  return timeAxis(lines, model.summary.run.mode === 'sequential', part);
}

export function timeCursor(
  panel: Panel,
  chart: () => TimeLines,
  margins: (lines: TimeLine[], width: number) => Margins,
  value: (p: TimePoint) => number | null,
  text: (value: number) => string,
): CursorSpec {
  return {
    key: `time ${panel.key}`,
    plot: (width) => {
      const { lines, axis } = chart();
      return { ...margins(lines, width), from: axis.from, to: axis.to };
    },
    read: (x) => timeReading(chart(), x, value, text),
    stops: () => {
      // The variants of a round have slices at nearly the same times, so those of one variant suffice.
      const { lines, axis } = chart();
      const [first] = lines;
      return first ? first.cell.timeline.map((p) => axis.x(first, p)).sort((a, b) => a - b) : [];
    },
    zoom: (part) => choose({ window: part && { panel: panel.key, part } }),
  };
}

/** Slices as a table: scenario, variant, time and kind, then the columns in `heads`. */
export function sliceData(cells: Cell[], heads: string[], values: (p: TimePoint) => Value[]): Data {
  return {
    heads: ['scenario', 'variant', 't_s', 'fork', 'phase', 'slice_kind', ...heads],
    rows: cells.flatMap((c) =>
      c.timeline.map((p) => [c.scenario, c.variant, p.t_s, p.fork, p.phase, p.slice_kind, ...values(p)]),
    ),
  };
}

const VALUES = [
  'throughput_per_s',
  'p50_ns',
  'p99_ns',
  'failed',
  'rss_bytes',
  'heap_after_gc_bytes',
  'gc_pauses',
  'gc_pause_ns',
] as const;

interface TimeSpec {
  kind: string;
  title: string;
  axisName: string;
  value: (p: TimePoint) => number | null;
  unit: (values: (number | null)[]) => Unit;
  /** Latency spans decades: its axis is logarithmic. */
  log?: true;
  /** One more sentence for the note. */
  note?: string;
}

function timeFigure(model: Model, panel: Panel, spec: TimeSpec): HTMLElement | null {
  const cells = timedCells(model, panel);
  const values = cells.flatMap((c) => c.timeline.map(spec.value));
  if (!values.some((v) => v !== null)) return null;
  const kinds = kindsIn(cells);
  const key = kinds.map((k) => `${kindStyle(k, kinds).glyph}\u00a0${kindText(k)}`).join('   ');
  const unit = spec.unit(values);
  const timeline = (t: Theme): Timeline => {
    const lines = timeLines(model, panel, t);
    const axis = panelTimeAxis(model, panel, lines);
    const log = spec.log === true && choice.scale === 'log';
    return { lines, axis, value: spec.value, unit, axisName: `${spec.axisName}, ${unit.name}`, log };
  };
  return figure({
    id: panelId(spec.kind, panel),
    title: `${panel.title}: ${spec.title}`,
    note: [
      `Each point is one sample: ${key}.`,
      ...shadesNotes(cells),
      leftOutText(model, panel),
      spec.note,
      cells.some((c) => c.timeline.some((p) => p.gc_pauses)) && GC_NOTE,
      model.summary.run.mode === 'sequential' && SEQUENTIAL_NOTE,
    ],
    watch: ['highlights', 'window', ...(spec.log ? (['scale'] as const) : [])],
    cursor: timeCursor(
      panel,
      () => timeline(LIGHT),
      timelineMargins,
      spec.value,
      (value) => inUnit(value, unit),
    ),
    key: (t) => timeLines(model, panel, t).map((l) => ({ label: l.label, colour: l.mark })),
    height: timelineHeight,
    draw: (width, t) => timelineOption(timeline(t), width, t),
    data: () => sliceData(cells, [...VALUES], (p) => VALUES.map((key) => p[key])),
    alternative: () =>
      `${cells.length} servers, ${new Set(cells.flatMap((c) => c.timeline.map((p) => p.fork))).size} starts, ` +
      `${values.length} samples; the data stand in the table.`,
  });
}

const GC_NOTE = 'Strokes at the foot: samples with a garbage collection.';
const SEQUENTIAL_NOTE = 'The cells ran one after another and are laid over one another here.';

export const shadesNotes = (cells: Cell[]): (string | false)[] => [
  cells.some((c) => c.timeline.some((p) => p.phase === 'warmup')) && 'Warm-up is shaded grey.',
  cells.some((c) => c.forks_set_aside.length) &&
    'Starts on an orange ground were left out: other programs used the cores.',
];

export function throughputOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'over-time',
    title: 'throughput over time',
    axisName: panel.cells.some((c) => c.messages) ? 'messages' : 'correct responses',
    value: (p) => p.throughput_per_s,
    unit: rateUnit,
  });
}

export function p99OverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'p99-over-time',
    title: kindsIn(panel.cells).every((kind) => kind === 'push') ? 'p99 push latency' : 'p99 response time',
    axisName: 'p99',
    value: (p) => p.p99_ns,
    unit: timeUnit,
    log: true,
  });
}

export function rssOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'rss-over-time',
    title: 'resident memory',
    axisName: 'resident',
    value: (p) => p.rss_bytes,
    unit: bytesUnit,
  });
}

export function heapOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'heap-over-time',
    title: 'heap in use after the last garbage collection',
    axisName: 'heap after GC',
    value: (p) => p.heap_after_gc_bytes,
    unit: bytesUnit,
    note: 'The heap itself fills up to its size between collections.',
  });
}
