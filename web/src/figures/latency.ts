// Latency by percentile, of a panel.

import { figure } from '../charts/figure';
import { latencySpec, type LatencyLine } from '../charts/latency';
import { h, scrollingTable } from '../dom';
import { percentileText, formatSignificant, isInformative } from '../format/number';
import { inUnitWithInterval, timeUnit, type Unit } from '../format/unit';
import { colourOf, drawnCells, leftOutText, panelId, type Model, type Panel } from '../model';
import { choice } from '../state';
import type { Cell, Distribution, Latency, PercentileValue } from '../summary';
import type { Theme } from '../theme';
import { latencyLine } from './percentiles';

const latencyOf = (cell: Cell): Latency | undefined =>
  cell.latency.find((l) => l.slice_kind === choice.sliceKind) ??
  (cell.latency.length === 1 ? cell.latency[0] : undefined);

/** Latency by percentile, for the chosen load and clock. */
export function latencyFigure(model: Model, panel: Panel): HTMLElement | null {
  const cells = drawnCells(model, panel);
  if (!cells.some((c) => c.latency.length)) return null;
  const lines = (t: Theme): LatencyLine[] =>
    cells.flatMap((cell): LatencyLine[] => {
      const latency = latencyOf(cell);
      if (!latency) return [];
      const curve = latencyLine(cell, panel, t, latency[choice.clock]);
      // Only the response time is known per start. With one start, the thick line shows it already.
      const starts = choice.clock === 'response' &&
        !curve.context &&
        hasSeveralStarts(latency) && {
          starts: latency.starts.map((s) => s.percentiles),
          agreedTo: agreedTo(latency.response),
        };
      const met = choice.clock === 'response' ? latency.division?.slower : undefined;
      return [{ ...curve, ...starts, ...(met && { met }) }, ...hiccupLines(latency, cell, colourOf(cell, panel, t))];
    });
  const load = () => cells.map(latencyOf).find(Boolean)?.model ?? 'this load was not driven';
  return figure({
    id: panelId('latency', panel),
    title: () => `${panel.title}: ${clockText(panel)} by percentile`,
    note: () => [
      `${load()}; ${startText(panel)}.`,
      hasStarts(panel)
        ? choice.clock === 'response' && START_NOTE
        : model.summary.run.mode !== 'load' && 'One start: no intervals.',
      choice.clock === 'response' && cells.some((c) => latencyOf(c)?.division) && BAND_NOTE,
      cells.some((c) => latencyOf(c)?.machine_hiccups) && HICCUP_NOTE,
      leftOutText(model, panel),
    ],
    watch: ['sliceKind', 'clock', 'scale', 'highlights'],
    ...latencySpec('percentiles', lines),
    data: () => ({
      heads: ['scenario', 'variant', 'load', 'clock', 'percentile', 'value_ns', 'lower_ns', 'upper_ns'],
      rows: cells.flatMap((cell) => {
        const latency = latencyOf(cell);
        if (!latency) return [];
        const clocks: [string, Distribution | null | undefined][] = [
          [choice.clock, latency[choice.clock]],
          ['machine hiccups', latency.machine_hiccups],
          ['JVM hiccups', latency.jvm_hiccups],
        ];
        const place = [panel.scenario, cell.variant, latency.model];
        return clocks.flatMap(([clock, distribution]) =>
          (distribution?.percentiles ?? []).map((p) => [...place, clock, p.percentile, p.value_ns, p.lo_ns, p.hi_ns]),
        );
      }),
    }),
  });
}

const sliceKind = (panel: Panel): string | undefined => panel.cells.map(latencyOf).find(Boolean)?.slice_kind;
const isPushed = (panel: Panel): boolean => sliceKind(panel) === 'push';
/** A closed loop has no schedule, and so no intended start of its own. */
const isClosed = (panel: Panel): boolean => sliceKind(panel) === 'saturating';

/** What the chosen clock measures. A pushed message has only one time. */
const clockText = (panel: Panel): string => (isPushed(panel) ? 'push latency' : `${choice.clock} time`);

/** The time from which a latency is measured, as text. */
function startText(panel: Panel): string {
  if (isPushed(panel)) return 'from when the server says that it sent the message';
  if (choice.clock === 'service') return 'from the actual send';
  return isClosed(panel) ? 'from when its user was free to send it' : 'from the intended start';
}

const START_NOTE =
  'Pale lines: single starts. Thick lines with a ribbon: all starts together, with their interval. Where a line becomes thin, and beside a ? in the table, the starts differ too much for an interval, or are too few.';

/** The last percentile up to which each has an interval over starts that tells something; 0 if none has. */
function agreedTo({ percentiles }: Distribution): number {
  const open = percentiles.findIndex((p) => !isInformative(p.lo_ns, p.hi_ns));
  const agreed = open < 0 ? percentiles : percentiles.slice(0, open);
  return agreed.at(-1)?.percentile ?? 0;
}

const BAND_NOTE =
  'Band below a line: what the requests slower than this met. Dark: a stop of the server; grey: a stall of the machine or of the generator; pale: neither.';

const HICCUP_NOTE =
  'Dotted: how late a thread was woken that wanted to run in every millisecond, in the JVM, and on the server’s cores.';

/** The hiccups during this load: in the JVM in the variant's colour, on the machine in a neutral colour. */
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

const hasSeveralStarts = (latency: Latency): boolean => latency.starts.length > 1;
const hasStarts = (panel: Panel): boolean => panel.cells.some((c) => c.latency.some(hasSeveralStarts));

/** What the slow requests of each variant met, in words; null where nothing is known. */
export function tailWords(model: Model, panel: Panel): HTMLElement | null {
  const items = drawnCells(model, panel).flatMap((cell) =>
    (cell.tail ?? []).map((line) => h('li', {}, h('b', {}, cell.variant), `: ${line}.`)),
  );
  return items.length ? h('ul', { class: 'tail' }, ...items) : null;
}

const STATED = [50, 75, 90, 95, 99, 99.9, 99.99];

/** The figures of the chart: a row per variant, a column per percentile; null without latencies. */
export function latencyTable(model: Model, panel: Panel): HTMLElement | null {
  const cells = drawnCells(model, panel);
  // Beside variants the A/A control is left out: it only shows how far equal servers differ. Without variants it is compared.
  const hasVariants = cells.some((cell) => !cell.baseline && !cell.control);
  const rows = cells.flatMap((cell) => {
    const latency = latencyOf(cell);
    if (!latency || (cell.control && hasVariants)) return [];
    const isPerStart = choice.clock === 'response' && hasSeveralStarts(latency);
    return [{ cell, distribution: latency[choice.clock], open: isPerStart ? ' ?' : '' }];
  });
  const of = (d: Distribution, p: number) => d.percentiles.find((v) => v.percentile === p);
  const columns = STATED.filter((p) => rows.some(({ distribution }) => of(distribution, p)));
  if (!columns.length) return null;
  const unitOf = (p: number) => timeUnit(rows.map(({ distribution: d }) => of(d, p)?.value_ns));
  const text = (value: PercentileValue | undefined, unit: Unit, open: string) => {
    if (!value) return '–';
    const hasInterval = isInformative(value.lo_ns, value.hi_ns);
    const estimate = {
      value: value.value_ns,
      lo: hasInterval ? value.lo_ns : null,
      hi: hasInterval ? value.hi_ns : null,
    };
    return inUnitWithInterval(estimate, unit).replace(` ${unit.name}`, '') + (hasInterval ? '' : open);
  };
  const maxUnit = timeUnit(rows.map(({ distribution: d }) => d.max_ns));
  const maxText = (d: Distribution) => (d.max_ns === null ? '–' : formatSignificant(d.max_ns / maxUnit.divisor));
  return scrollingTable(
    `${panel.title}: ${clockText(panel)}`,
    ['', ...columns.map((p) => `p${percentileText(p)}, ${unitOf(p).name}`), `max, ${maxUnit.name}`],
    rows.map(({ cell, distribution: d, open }) => [
      cell.variant,
      ...columns.map((p) => text(of(d, p), unitOf(p), open)),
      maxText(d),
    ]),
  );
}
