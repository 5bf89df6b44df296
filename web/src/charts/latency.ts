// Latency by percentile: log-nines on the x axis, time on the y axis, a line per variant with a ribbon for its intervals.

import { isInformative, percentileText } from '../format/number';
import { formatTime, timeUnit, type Unit } from '../format/unit';
import { LIGHT, type Theme } from '../palette';
import { choice } from '../state';
import type { Reading } from './cursor';
import { baseOption, givenAxis, type Option } from './echarts';
import { endLabelWidth, endLabelSeries, NAMED_PX, type EndLabel } from './end_labels';
import type { FigureSpec } from './figure';
import { areaMark, layer, type Mark, type ToPx } from './marks';
import { extent, ninesTicks, toNines, valueScale, type ValueScale } from './ticks';
import type { CurvePoint, Distribution, SlowerPart } from '../summary';

export interface LatencyLine {
  label: string;
  distribution: Distribution;
  mark: string;
  text: string;
  /** A line for context only: thin, grey, unlabelled. */
  context: boolean;
  stroke: 'solid' | 'dashed' | 'dotted';
  /** The percentiles of each start, drawn as thin lines. */
  starts?: CurvePoint[][];
  /** The last percentile on which the starts agree. Beyond it the line is thin: one start may have made it alone. */
  agreedTo?: number;
  /** What the requests beyond each percentile met, drawn as a band below the line. */
  met?: SlowerPart[];
}

const MAX_NINES = 6.2;
const LEFT_PX = 46;
const TOP_PX = 30;
const BOTTOM_PX = 50;
const DIGIT_PX = 7;
/** The height of the band below a line. */
const BAND_PX = 14;

/** The position of the last point of a curve, the maximum, whose percentile is 100. */
function lastNines(d: Distribution): number {
  return Math.min(MAX_NINES, Math.log10(Math.max(10, d.count)));
}

interface Scale extends ValueScale {
  unit: Unit;
}

function scaleOf(lines: LatencyLine[], log: boolean): Scale {
  const points = lines.flatMap((l) => [...l.distribution.curve, ...(l.starts ?? []).flat()]);
  const [min, max] = extent(points.map((p) => p.value_ns));
  const unit = timeUnit([log ? Math.sqrt(min * max) : max]);
  return { ...valueScale([min, max], unit.divisor, log), unit };
}

function curvePoints(d: Distribution, scale: Scale): [number, number][] {
  const last = lastNines(d);
  return d.curve
    .map((p): [number, number] => [p.percentile >= 100 ? last : toNines(p.percentile), p.value_ns])
    .filter(([x, ns]) => x <= last + 1e-9 && ns > 0)
    .map(([x, ns]) => [x, scale.at(ns)]);
}

const withCurve = (lines: LatencyLine[]): LatencyLine[] => lines.filter((l) => l.distribution.curve.length);
const named = (lines: LatencyLine[]): LatencyLine[] => lines.filter((l) => !l.context);
const maxNines = (lines: LatencyLine[]): number => Math.max(2, ...lines.map((l) => lastNines(l.distribution)));

/** The margins of the plot and the range of its axis in a chart of some width. */
function latencyPlot(lines: LatencyLine[], width: number, log: boolean) {
  const { ticks } = scaleOf(withCurve(lines), log);
  const names = named(lines).map((l) => l.label);
  const left = Math.max(LEFT_PX, ...ticks.map(({ text }) => text.length * DIGIT_PX + 12));
  const right = width >= NAMED_PX ? endLabelWidth(names) : 14;
  return { left, right, top: TOP_PX, bottom: BOTTOM_PX, from: 0, to: maxNines(withCurve(lines)) };
}

function latencyReading(lines: LatencyLine[], x: number): Reading {
  const percentile = Number((100 * (1 - 10 ** -x)).toFixed(Math.max(1, Math.ceil(x))));
  const values = named(withCurve(lines)).map((l): [string, string] => [
    l.label,
    formatTime(valueAt(l.distribution, x)),
  ]);
  return { at: `p${percentileText(percentile)}`, values };
}

/** The positions at which the keyboard stops: the percentiles of the curves. */
function latencyStops(lines: LatencyLine[]): number[] {
  const all = withCurve(lines).flatMap((l) => l.distribution.curve.map((p) => p.percentile));
  const top = maxNines(withCurve(lines));
  return [...new Set(all)]
    .map((p) => (p >= 100 ? top : toNines(p)))
    .filter((x) => x <= top)
    .sort((a, b) => a - b);
}

/** The parts of a figure that shows such lines. Figures with the same key share a crosshair. */
export function latencySpec(
  key: string,
  lines: (t: Theme) => LatencyLine[],
): Required<Pick<FigureSpec, 'key' | 'height' | 'draw' | 'alternative' | 'cursor'>> {
  const isLog = () => choice.scale === 'log';
  return {
    key: (t) => named(lines(t)).map((l) => ({ label: l.label, colour: l.mark, stroke: l.stroke })),
    height: (width) => (width < NAMED_PX ? 300 : 380),
    draw: (width, t) => latencyOption(lines(t), width, isLog(), t),
    cursor: {
      key,
      plot: (width) => latencyPlot(lines(LIGHT), width, isLog()),
      stops: () => latencyStops(lines(LIGHT)),
      read: (x) => latencyReading(lines(LIGHT), x),
    },
    alternative: () => named(lines(LIGHT)).map(describeLine).join('; '),
  };
}

function describeLine({ label, distribution }: LatencyLine): string {
  const shown = distribution.percentiles.filter((p) => [50, 99, 99.9].includes(p.percentile));
  return `${label}: ${shown.map((p) => `p${percentileText(p.percentile)} ${formatTime(p.value_ns)}`).join(', ')}`;
}

function latencyOption(all: LatencyLine[], width: number, log: boolean, t: Theme): Option {
  const lines = withCurve(all);
  const { left, right, to } = latencyPlot(all, width, log);
  const scale = scaleOf(lines, log);
  return {
    ...baseOption(t),
    tooltip: { show: false },
    grid: { left, right, top: TOP_PX, bottom: BOTTOM_PX, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, [0, to], ninesTicks(to, width - left - right), 'percentile (each step: ten times rarer)'),
    yAxis: givenAxis(t, scale.range, scale.ticks, scale.unit.name, true),
    series: [
      ...lines.flatMap((l) => startSeries(l, scale)),
      ...lines.flatMap((l) => lineSeries(l, scale)),
      ...named(lines).map((l) => ribbonSeries(l, scale)),
      ...named(lines)
        .filter((l) => l.met?.length)
        .map((l) => bandSeries(l, scale, t)),
      ...(width >= NAMED_PX ? [endLabelSeries(lineEndLabels(lines, scale), right, right - 6, t)] : []),
    ],
  };
}

const lineEndLabels = (lines: LatencyLine[], scale: Scale): EndLabel[] =>
  named(lines).map((l) => ({ text: l.label, colour: l.text, at: curvePoints(l.distribution, scale).at(-1) ?? [0, 0] }));

function lineSeries(l: LatencyLine, scale: Scale): Option[] {
  const points = curvePoints(l.distribution, scale);
  const end = l.agreedTo === undefined ? Infinity : toNines(l.agreedTo) + 1e-9;
  const agreed = points.filter(([x]) => x <= end);
  const parts = [
    { data: agreed, width: l.context ? 0.75 : 2 },
    { data: points.slice(Math.max(agreed.length - 1, 0)), width: 0.8 },
  ];
  return parts
    .filter(({ data }) => data.length > 1)
    .map(({ data, width }) => ({
      type: 'line',
      name: l.label,
      data,
      showSymbol: false,
      silent: l.context,
      lineStyle: { color: l.mark, width, type: l.stroke },
      itemStyle: { color: l.mark },
      emphasis: { disabled: true },
      z: l.context ? 1 : 3,
    }));
}

/** Each start as a thin line through the percentiles that one start can give. */
function startSeries(l: LatencyLine, scale: Scale): Option[] {
  return (l.starts ?? []).map((start) => ({
    type: 'line',
    name: l.label,
    data: start.filter((p) => p.value_ns > 0).map((p) => [toNines(p.percentile), scale.at(p.value_ns)]),
    showSymbol: false,
    silent: true,
    tooltip: { show: false },
    lineStyle: { color: l.mark, width: 0.8, opacity: 0.55 },
    emphasis: { disabled: true },
    z: 2,
  }));
}

/** The intervals of the percentiles over forks, as a ribbon around the line. */
function ribbonSeries(l: LatencyLine, scale: Scale): Option {
  const stated = l.distribution.percentiles
    .filter((p) => isInformative(p.lo_ns, p.hi_ns))
    .map((p) => ({ x: toNines(p.percentile), lo: scale.at(p.lo_ns!), hi: scale.at(p.hi_ns!) }));
  const draw = (px: ToPx): Mark[] => {
    const points = [...stated.map((s) => px([s.x, s.hi])), ...stated.toReversed().map((s) => px([s.x, s.lo]))];
    return stated.length > 1 ? [areaMark(points, l.mark, 0.2)] : [];
  };
  return layer(draw, { clip: true, z: 2 });
}

/** Below the line, what the requests beyond each percentile met: a stop in its colour, a stall in grey, neither pale. */
function bandSeries(l: LatencyLine, scale: Scale, t: Theme): Option {
  const last = toNines(l.met!.at(-1)!.percentile);
  const at = curvePoints(l.distribution, scale).filter(([x]) => x <= last + 1e-9);
  const points = at.map(([x]) => partAt(l.met!, x));
  const draw = (px: ToPx): Mark[] => {
    if (points.length < 2) return [];
    const line = at.map(px);
    const below = (share: (p: ReturnType<typeof partAt>) => number) =>
      line.map(([x, y], i): [number, number] => [x, y + share(points[i]!) * BAND_PX]);
    const ends = [
      below(() => 0),
      below((p) => p.met_stop_share),
      below((p) => p.met_stop_share + p.met_stall_share),
      below(() => 1),
    ];
    const part = (i: number, fill: string, opacity: number) =>
      areaMark([...ends[i]!, ...ends[i + 1]!.toReversed()], fill, opacity);
    return [part(0, l.mark, 0.75), part(1, t.faint, 0.9), part(2, l.mark, 0.12)];
  };
  return layer(draw, { clip: true, z: 2 });
}

/** What the requests beyond a position of the axis met, between the two percentiles beside it. */
function partAt(met: SlowerPart[], x: number): Omit<SlowerPart, 'percentile'> {
  const beyond = met.findIndex((p) => toNines(p.percentile) >= x);
  const next = Math.max(1, beyond);
  const [a, b] = [met[next - 1]!, met[next] ?? met[next - 1]!];
  const width = toNines(b.percentile) - toNines(a.percentile);
  const part = width > 0 ? (x - toNines(a.percentile)) / width : 0;
  const between = (from: number, to: number) => from + (to - from) * part;
  return {
    met_stop_share: between(a.met_stop_share, b.met_stop_share),
    met_stall_share: between(a.met_stall_share, b.met_stall_share),
  };
}

/** The value of the first curve point at or beyond a position of the axis. */
function valueAt(d: Distribution, x: number): number {
  const found = d.curve.find((p) => p.percentile >= 100 || toNines(p.percentile) >= x - 1e-9);
  return found?.value_ns ?? d.max_ns ?? 0;
}
