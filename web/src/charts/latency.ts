// Latency by percentile: log-nines across, logarithmic time up, variants overlaid with the intervals of the stated percentiles.

import { percentileText } from '../format/number';
import { plainTime, timeUnit } from '../format/unit';
import { baseOption, givenAxis, tip, type Option } from './echarts';
import { endLabelRoom, endLabelSeries, type EndLabel } from './end_labels';
import { decadeTicks, ninesOf, ninesTicks, plainNumber } from './ticks';
import type { CurvePoint, Distribution } from '../summary';
import type { Theme } from '../theme';

/** One variant's curve. */
export interface LatencyLine {
  label: string;
  distribution: Distribution;
  mark: string;
  text: string;
  /** A line for context only: thin, grey, unlabelled. */
  context: boolean;
  stroke: 'solid' | 'dashed' | 'dotted';
  /** The stated percentiles of each start: thin lines. */
  starts?: CurvePoint[][];
}

export const WIDE_PX = 620;
const MOST_NINES = 6.2;
const LEFT_PX = 46;
const DIGIT_PX = 7;
/** An interval whose ends differ by this factor or more says nothing: no ribbon is drawn there. */
const WIDEST_RIBBON = 4;

/** The nines where the last point of a curve is drawn: its maximum has no percentile below 100. */
function lastNines(d: Distribution): number {
  return Math.min(MOST_NINES, Math.log10(Math.max(10, d.count)));
}

function points(d: Distribution): [number, number][] {
  const last = lastNines(d);
  return d.curve
    .map((p): [number, number] => [p.percentile >= 100 ? last : ninesOf(p.percentile), p.value_ns])
    .filter(([x, ns]) => x <= last + 1e-9 && ns > 0)
    .map(([x, ns]) => [x, Math.log10(ns)]);
}

export function latencyHeight(width: number): number {
  return width < WIDE_PX ? 300 : 380;
}

export function latencyOption(lines: LatencyLine[], width: number, t: Theme): Option {
  const wide = width >= WIDE_PX;
  const right = wide ? endLabelRoom(lines.filter((l) => !l.context).map((l) => l.label)) : 14;
  const drawnLines = lines.filter((l) => l.distribution.curve.length);
  const values = drawnLines
    .flatMap((l) => [...l.distribution.curve, ...(l.starts ?? []).flat()].map((p) => p.value_ns))
    .filter((v) => v > 0);
  const [least, most] = [Math.min(...values, 1e12), Math.max(...values, 1)];
  const unit = timeUnit([Math.sqrt(least * most)]);
  const top = Math.max(2, ...drawnLines.map((l) => lastNines(l.distribution)));
  const range: [number, number] = [Math.log10(least) - 0.04, Math.log10(most) + 0.06];
  const yTicks = decadeTicks(10 ** range[0] / unit.divisor, 10 ** range[1] / unit.divisor).map((v) => ({
    at: Math.log10(v * unit.divisor),
    text: plainNumber(v),
  }));
  const left = Math.max(LEFT_PX, ...yTicks.map(({ text }) => text.length * DIGIT_PX + 12));
  const xTicks = ninesTicks(top, width - left - right);
  return {
    ...baseOption(t),
    tooltip: {
      ...(baseOption(t).tooltip as object),
      trigger: 'axis',
      formatter: (p: AxisTip[]) => axisTip(p, drawnLines, top),
    },
    grid: { left, right, top: 30, bottom: 50, outerBoundsMode: 'none' },
    xAxis: {
      ...givenAxis(t, [0, top], xTicks, 'percentile (each step: ten times rarer)'),
      axisPointer: { show: true, lineStyle: { color: t.faint }, label: { show: false } },
    },
    yAxis: {
      ...givenAxis(t, range, yTicks, unit.name, true),
      splitLine: { show: true, lineStyle: { color: t.grid } },
      axisPointer: { show: false },
    },
    series: [
      ...drawnLines.flatMap(startSeries),
      ...drawnLines.map(lineSeries),
      ...drawnLines.filter((l) => !l.context).map(ribbonSeries),
      ...(wide ? [endLabelSeries(namesOf(drawnLines), right, right - 6, t)] : []),
    ],
  };
}

function namesOf(lines: LatencyLine[]): EndLabel[] {
  return lines
    .filter((l) => !l.context)
    .map((l) => ({ text: l.label, colour: l.text, at: points(l.distribution).at(-1) ?? [0, 0] }));
}

function lineSeries(l: LatencyLine): Option {
  return {
    type: 'line',
    name: l.label,
    data: points(l.distribution),
    showSymbol: false,
    silent: l.context,
    lineStyle: { color: l.mark, width: l.context ? 0.75 : 2, type: l.stroke },
    itemStyle: { color: l.mark },
    emphasis: { disabled: true },
    z: l.context ? 1 : 3,
  };
}

/** Each start as a thin line through the percentiles that it can state by itself. */
function startSeries(l: LatencyLine): Option[] {
  return (l.starts ?? []).map((start) => ({
    type: 'line',
    name: l.label,
    data: start.filter((p) => p.value_ns > 0).map((p) => [ninesOf(p.percentile), Math.log10(p.value_ns)]),
    showSymbol: false,
    silent: true,
    tooltip: { show: false },
    lineStyle: { color: l.mark, width: 0.8, opacity: 0.55 },
    emphasis: { disabled: true },
    z: 2,
  }));
}

/** The intervals over forks of the stated percentiles, as a ribbon around the line. */
function ribbonSeries(l: LatencyLine): Option {
  const stated = l.distribution.percentiles
    .filter((p) => p.lo_ns !== null && p.hi_ns !== null && p.lo_ns > 0 && p.hi_ns < p.lo_ns * WIDEST_RIBBON)
    .map((p) => ({ x: ninesOf(p.percentile), lo: Math.log10(p.lo_ns!), hi: Math.log10(p.hi_ns!) }));
  return {
    type: 'custom',
    silent: true,
    clip: true,
    tooltip: { show: false },
    z: 2,
    encode: { x: -1, y: -1 },
    renderItem: (_: unknown, api: { coord(p: [number, number]): [number, number] }) => ({
      type: 'polygon',
      shape: {
        points: [
          ...stated.map((s) => api.coord([s.x, s.hi])),
          ...stated.toReversed().map((s) => api.coord([s.x, s.lo])),
        ],
      },
      style: { fill: l.mark, opacity: 0.2 },
    }),
    data: stated.length > 1 ? [[0, 0]] : [],
  };
}

interface AxisTip {
  axisValue: number;
}

/** Every variant's value at the percentile under the pointer. */
function axisTip(under: AxisTip[], lines: LatencyLine[], top: number): HTMLElement | '' {
  const x = under[0]?.axisValue;
  if (x === undefined) return '';
  const percentile = Number((100 * (1 - 10 ** -Math.min(x, top))).toFixed(Math.max(1, Math.ceil(x))));
  const rows = lines
    .filter((l) => !l.context)
    .map((l): [string, string] => [l.label, plainTime(valueAt(l.distribution, x))]);
  return tip(`p${percentileText(percentile)}`, rows);
}

/** The value of the first curve point at or beyond a place on the axis. */
function valueAt(d: Distribution, x: number): number {
  const found = d.curve.find((p) => p.percentile >= 100 || ninesOf(p.percentile) >= x - 1e-9);
  return found?.value_ns ?? d.max_ns ?? 0;
}
