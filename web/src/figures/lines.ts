// Latency by percentile, and slices over time, of a panel.

import { figure } from '../charts/figure';
import { latencyHeight, latencyOption, type LatencyLine } from '../charts/latency';
import { KINDS, timelineHeight, timelineOption, type TimeLine, type Timeline } from '../charts/timeline';
import { bytesUnit, plainTime, rateUnit, timeUnit, type Unit } from '../format/unit';
import { percentileText } from '../format/number';
import { choice } from '../state';
import { coloured, colourOf, kindText, type Model, type Panel } from '../model';
import { LIGHT, type Theme } from '../theme';
import type { Cell, Distribution, Latency, TimePoint } from '../summary';
import { panelId } from './forks';

const latencyOf = (cell: Cell): Latency | undefined =>
  cell.latency.find((l) => l.slice_kind === choice.sliceKind) ??
  (cell.latency.length === 1 ? cell.latency[0] : undefined);

/** Latency of the load model and the clock that are chosen. */
export function latencyFigure(_: Model, panel: Panel): HTMLElement | null {
  if (!panel.cells.some((c) => c.latency.length)) return null;
  const lines = (t: Theme): LatencyLine[] =>
    panel.cells.flatMap((cell): LatencyLine[] => {
      const latency = latencyOf(cell);
      if (!latency) return [];
      const colour = colourOf(cell, panel, t);
      const style = colour ?? { mark: t.faint, text: t.muted };
      return [
        {
          label: cell.variant,
          distribution: latency[choice.clock],
          ...style,
          context: !colour,
          stroke: cell.control ? 'dashed' : 'solid',
        },
        ...hiccupLines(latency, cell, colour),
      ];
    });
  const model = () => panel.cells.map(latencyOf).find(Boolean)?.model ?? 'this load was not driven';
  return figure({
    id: panelId('latency', panel),
    title: () => `${panel.title}: ${choice.clock} time by percentile`,
    note: () =>
      `${model()}; ${since(panel)}. ` +
      (hasRibbons(panel) ? 'Ribbons: intervals over forks.' : 'One fork: no intervals.') +
      (panel.cells.some((c) => latencyOf(c)?.machine_hiccups) ? ` ${HICCUP_NOTE}` : ''),
    watch: ['sliceKind', 'clock', 'highlights'],
    key: (t) =>
      lines(t)
        .filter((l) => !l.context)
        .map((l) => ({ label: l.label, colour: l.mark })),
    height: latencyHeight,
    draw: (width, t) => latencyOption(lines(t), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'load', 'clock', 'percentile', 'value_ns', 'lower_ns', 'upper_ns'],
      rows: panel.cells.flatMap((cell) => {
        const latency = latencyOf(cell);
        if (!latency) return [];
        const clocks: [string, Distribution | null | undefined][] = [
          [choice.clock, latency[choice.clock]],
          ['machine hiccups', latency.machine_hiccups],
          ['JVM hiccups', latency.jvm_hiccups],
        ];
        return clocks.flatMap(([clock, distribution]) =>
          (distribution?.percentiles ?? []).map((p) => [
            panel.scenario,
            cell.variant,
            latency.model,
            clock,
            p.percentile,
            p.value_ns,
            p.lo_ns,
            p.hi_ns,
          ]),
        );
      }),
    }),
    alternative: () =>
      lines(LIGHT)
        .filter((l) => !l.context)
        .map((l) => `${l.label}: ${stated(l)}`)
        .join('; '),
  });
}

/** From when a latency counts. */
function since(panel: Panel): string {
  if (choice.clock === 'service') return 'from the actual send';
  const pushed = panel.cells.map(latencyOf).find(Boolean)?.slice_kind === 'push';
  return pushed ? 'from when the server says that it sent the message' : 'from the intended start';
}

const HICCUP_NOTE =
  'Dotted: how late a thread was woken that wanted to run in every millisecond, in the JVM, and on the server’s cores.';

/** What the meters saw while this load ran: inside the JVM in the variant's colour, on the machine in a neutral one. */
function hiccupLines(latency: Latency, cell: Cell, colour: LineColour | null): LatencyLine[] {
  if (!colour || cell.control) return [];
  const line = (label: string, distribution: Distribution | null | undefined): LatencyLine[] =>
    distribution ? [{ label, distribution, ...colour, context: false, stroke: 'dotted' }] : [];
  return [
    ...line(`JVM of ${cell.variant}`, latency.jvm_hiccups),
    ...(cell.baseline ? line('machine', latency.machine_hiccups) : []),
  ];
}

type LineColour = { mark: string; text: string };

const hasRibbons = (panel: Panel) =>
  panel.cells.some((c) => c.latency.some((l) => l.response.percentiles.some((p) => p.lo_ns !== null)));

function stated(line: LatencyLine): string {
  return line.distribution.percentiles
    .filter((p) => [50, 99, 99.9].includes(p.percentile))
    .map((p) => `p${percentileText(p.percentile)} ${plainTime(p.value_ns)}`)
    .join(', ');
}

/** Variants with a colour; the rest would only hide them. */
export function timeLines(panel: Panel, t: Theme): TimeLine[] {
  const shown = coloured(panel, t.series.length);
  return panel.cells
    .filter((c) => c.timeline.length && (c.baseline || c.control || shown.includes(c.variant)))
    .map((cell) => ({ label: cell.variant, cell, ...colourOf(cell, panel, t)! }));
}

interface TimeSpec {
  kind: string;
  title: string;
  axisName: string;
  of: (p: TimePoint) => number | null;
  unit: (values: (number | null)[]) => Unit;
  /** Latency spans decades: its axis is logarithmic. */
  log: boolean;
  /** A sentence more for the note. */
  note?: string;
}

function timeFigure(model: Model, panel: Panel, spec: TimeSpec): HTMLElement | null {
  const cells = panel.cells.filter((c) => c.timeline.length);
  const values = cells.flatMap((c) => c.timeline.map(spec.of));
  if (!values.some((v) => v !== null)) return null;
  const kinds = [...new Set(cells.flatMap((c) => c.timeline.map((p) => p.slice_kind)))];
  const key = kinds.map((k) => `${KINDS[k]?.glyph ?? '◇'}\u00a0${kindText(k)}`).join('   ');
  const unit = spec.unit(values);
  const sequential = model.summary.run.mode === 'sequential';
  const timeline = (t: Theme): Timeline => ({
    lines: timeLines(panel, t),
    ownClock: sequential,
    of: spec.of,
    unit,
    axisName: `${spec.axisName}, ${unit.name}`,
    log: spec.log,
  });
  const order = sequential ? 'The cells ran one after another and are laid over one another here.' : '';
  return figure({
    id: panelId(spec.kind, panel),
    title: `${panel.title}: ${spec.title}, slice by slice`,
    note: [`Warm-up is shaded. Slices: ${key}.`, spec.note, gcNote(cells), order].filter(Boolean).join(' '),
    watch: ['highlights'],
    key: (t) => timeLines(panel, t).map((l) => ({ label: l.label, colour: l.mark })),
    height: timelineHeight,
    draw: (width, t) => timelineOption(timeline(t), width, t),
    data: () => ({
      heads: [
        'scenario',
        'variant',
        't_s',
        'fork',
        'phase',
        'slice_kind',
        'throughput_per_s',
        'p50_ns',
        'p99_ns',
        'failed',
        'rss_bytes',
        'heap_used_bytes',
        'heap_after_gc_bytes',
        'gc_pauses',
        'gc_pause_ns',
      ],
      rows: cells.flatMap((c) =>
        c.timeline.map((p) => [
          c.scenario,
          c.variant,
          p.t_s,
          p.fork,
          p.phase,
          p.slice_kind,
          p.throughput_per_s,
          p.p50_ns,
          p.p99_ns,
          p.failed,
          p.rss_bytes,
          p.heap_used_bytes,
          p.heap_after_gc_bytes,
          p.gc_pauses,
          p.gc_pause_ns,
        ]),
      ),
    }),
    alternative: () =>
      `${cells.length} servers, ${new Set(cells.flatMap((c) => c.timeline.map((p) => p.fork))).size} forks, ` +
      `${values.length} slices; the data stand in the table.`,
  });
}

const gcNote = (cells: Cell[]): string =>
  cells.some((c) => c.timeline.some((p) => p.gc_pauses))
    ? 'Upright strokes at the foot: slices with a collection.'
    : '';

export function throughputOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'over-time',
    title: 'throughput over time',
    axisName: 'throughput',
    of: (p) => p.throughput_per_s,
    unit: rateUnit,
    log: false,
  });
}

export function p99OverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'p99-over-time',
    title: 'p99 response time',
    axisName: 'p99',
    of: (p) => p.p99_ns,
    unit: timeUnit,
    log: true,
  });
}

export function rssOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'rss-over-time',
    title: 'resident memory',
    axisName: 'resident',
    of: (p) => p.rss_bytes,
    unit: bytesUnit,
    log: false,
  });
}

export function heapOverTime(model: Model, panel: Panel): HTMLElement | null {
  return timeFigure(model, panel, {
    kind: 'heap-over-time',
    title: 'heap that the last collection left in use',
    axisName: 'heap after GC',
    of: (p) => p.heap_after_gc_bytes ?? null,
    unit: bytesUnit,
    log: false,
    note: 'What lives, and not what is garbage: the heap itself fills up to its size between collections.',
  });
}
