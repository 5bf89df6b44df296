// Latency by percentile, of a panel.

import { figure } from '../charts/figure';
import type { LatencyLine } from '../charts/latency';
import { colourOf, type Model, type Panel } from '../model';
import { choice } from '../state';
import type { Cell, Distribution, Latency } from '../summary';
import type { Theme } from '../theme';
import { panelId } from './forks';
import { curveOf, curves } from './percentiles';

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
      const curve = curveOf(cell, panel, t, latency[choice.clock]);
      return [curve, ...hiccupLines(latency, cell, colourOf(cell, panel, t))];
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
    ...curves(lines),
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
