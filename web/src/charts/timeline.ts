// Slices over time: forks side by side, warm-up shaded, a mark and a line style for each kind of slice.

import { formatTime, inUnit, type Unit } from '../format/unit';
import type { Margins } from './cursor';
import { baseOption, givenAxis, tip, type Option } from './echarts';
import { endLabelWidth, endLabelSeries, NAMED_PX, type EndLabel } from './end_labels';
import { layer, textMark, type Mark, type Plot, type ToPx } from './marks';
import { extent, valueScale, type ValueScale } from './ticks';
import {
  clipToAxis,
  shadeMarks,
  timeTicks,
  type ForkPlace,
  type TimeAxis,
  type TimeLine,
  type TimeLines,
} from './time_axis';
import type { Cell, TimePoint } from '../summary';
import type { Theme } from '../theme';

export interface Timeline extends TimeLines {
  value: (p: TimePoint) => number | null;
  unit: Unit;
  axisName: string;
  /** Latency spans decades: its axis is logarithmic. */
  log: boolean;
}

/** The mark and line of each kind of slice, and its glyph in the note. */
const KINDS: Record<string, { symbol: string; line: string; glyph: string; hollow: boolean }> = {
  saturating: { symbol: 'circle', line: 'solid', glyph: '●', hollow: false },
  fixed: { symbol: 'circle', line: 'dashed', glyph: '○', hollow: true },
  poisson: { symbol: 'triangle', line: 'dotted', glyph: '△', hollow: true },
  push: { symbol: 'rect', line: 'solid', glyph: '■', hollow: false },
};

/** The style of a kind of slice. A single kind always has the style of the saturating one. */
export const kindStyle = (name: string, kinds: string[]) =>
  kinds.length === 1
    ? KINDS.saturating!
    : (KINDS[name] ?? { symbol: 'diamond', line: 'dotted', glyph: '◇', hollow: true });

/** The kinds of slices of some cells. */
export const kindsIn = (cells: Cell[]): string[] => [
  ...new Set(cells.flatMap((c) => c.timeline.map((p) => p.slice_kind))),
];

export function timelineHeight(width: number): number {
  return width < NAMED_PX ? 240 : 280;
}

const TOP_PX = 44;
const BOTTOM_PX = 46;
const LEFT_PX = 46;

const isWide = (width: number): boolean => width >= NAMED_PX;

/** The margins of the plot in a chart of some width. */
export function timelineMargins(lines: TimeLine[], width: number): Margins {
  const right = isWide(width) ? endLabelWidth(lines.map((l) => l.label)) : 14;
  return { left: LEFT_PX, right, top: TOP_PX, bottom: BOTTOM_PX };
}

export function timelineOption(timeline: Timeline, width: number, t: Theme): Option {
  const { lines, axis } = timeline;
  const margins = timelineMargins(lines, width);
  const { right } = margins;
  const plotPx = width - LEFT_PX - right;
  const scale = scaleOf(timeline);
  return {
    ...baseOption(t),
    grid: { ...margins, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, [axis.from, axis.to], timeTicks(axis, plotPx), 'seconds since the start'),
    yAxis: { ...givenAxis(t, scale.range, scale.ticks, timeline.axisName, true), nameGap: 24 },
    series: [
      background(axis, t),
      ...lines.flatMap((l) => kindSeries(l, timeline, scale)),
      ...lines.map((l) => gcSeries(l, axis, scale)),
      ...(isWide(width) ? [endLabelSeries(lineEndLabels(timeline, scale), right, right - 6, t)] : []),
    ],
  };
}

const scaleOf = ({ lines, value, unit, log }: Timeline): ValueScale =>
  valueScale(extent(lines.flatMap((l) => l.cell.timeline.map(value))), unit.divisor, log);

/** A label for each line, at the level of its last saturating slice. */
function lineEndLabels(timeline: Timeline, scale: ValueScale): EndLabel[] {
  const end = timeline.axis.to;
  return timeline.lines.flatMap((l) => {
    const points = l.cell.timeline.filter((p) => timeline.value(p) !== null);
    const last = points.findLast((p) => p.slice_kind === 'saturating') ?? points.at(-1);
    return last
      ? [{ text: l.label, colour: l.text, at: [end, scale.at(timeline.value(last)!)] as [number, number] }]
      : [];
  });
}

/** The background: the name of each fork above it, and shades for warm-up and forks that were set aside. */
function background(axis: TimeAxis, t: Theme): Option {
  const parts = axis.forks.map((fork) => ({ fork, part: clipToAxis(axis, fork.offset, fork.offset + fork.length) }));
  const shown = parts.filter(({ part }) => part).length;
  // A single start needs no name.
  const isNamed = (fork: ForkPlace) => axis.forks.length > 1 || fork.aside;
  const draw = (toPx: ToPx, { y, width, height }: Plot): Mark[] => {
    const px = (x: number) => toPx([x, 0])[0];
    const names = parts.flatMap(({ fork, part }) => {
      if (!part || !isNamed(fork)) return [];
      const middle = (px(part[0]) + px(part[1])) / 2;
      return [textMark(middle, y - 10, forkName(fork, width / shown > 52), t.muted, { align: 'center', size: 11 })];
    });
    return [...shadeMarks(axis, px, y, height, t), ...names];
  };
  return layer(draw, { z: 0 });
}

/** `start 2`, or `start 2 × left out`; shorter where there is little room. */
function forkName(f: ForkPlace, hasRoom: boolean): string {
  if (!hasRoom) return f.aside ? `${f.fork} ×` : String(f.fork);
  return f.aside ? `start ${f.fork} × left out` : `start ${f.fork}`;
}

/** One series for each kind of slice, broken between forks. */
function kindSeries(l: TimeLine, timeline: Timeline, scale: ValueScale): Option[] {
  const { axis } = timeline;
  const all = kindsIn(timeline.lines.map((line) => line.cell));
  return kindsIn([l.cell]).map((kind) => {
    const look = kindStyle(kind, all);
    const data: { value: [number, number | null]; point?: TimePoint }[] = [];
    for (const f of axis.forks) {
      const mine = l.cell.timeline.filter((p) => p.fork === f.fork && p.slice_kind === kind);
      for (const p of mine.sort((a, b) => a.t_s - b.t_s)) {
        const y = timeline.value(p);
        data.push({ value: [axis.x(l, p), y === null ? null : scale.at(y)], point: p });
      }
      data.push({ value: [f.offset + f.length, null] });
    }
    while (data.length && !data.at(-1)!.point) data.pop();
    return {
      type: 'line',
      name: l.label,
      data,
      connectNulls: false,
      symbol: look.symbol,
      symbolSize: look.hollow ? 4.5 : 3.5,
      showAllSymbol: true,
      itemStyle: look.hollow ? { color: 'transparent', borderColor: l.mark, borderWidth: 1 } : { color: l.mark },
      lineStyle: { color: l.mark, width: look.hollow ? 0.75 : 1.5, type: look.line },
      emphasis: { disabled: true },
      tooltip: { formatter: (p: { data: { point?: TimePoint } }) => pointTip(l, timeline, p.data.point) },
    };
  });
}

/** Strokes at the bottom for slices with a garbage collection. */
function gcSeries(l: TimeLine, axis: TimeAxis, scale: ValueScale): Option {
  const collecting = l.cell.timeline.filter((p) => p.gc_pauses);
  return {
    type: 'line',
    name: l.label,
    data: collecting.map((p) => [axis.x(l, p), scale.range[0]]),
    lineStyle: { width: 0 },
    symbol: 'rect',
    symbolSize: [1.5, 9],
    symbolOffset: [0, -4.5],
    showAllSymbol: true,
    itemStyle: { color: l.mark },
    silent: true,
    emphasis: { disabled: true },
  };
}

function pointTip(l: TimeLine, timeline: Timeline, p: TimePoint | undefined): HTMLElement | '' {
  if (!p) return '';
  const lines: [string, string][] = [
    [p.phase === 'warmup' ? 'sample of the warm-up' : 'sample', `${p.slice_kind}, start ${p.fork}`],
    [timeline.axisName, inUnit(timeline.value(p), timeline.unit)],
    ['since the run began', `${p.t_s.toFixed(1)} s`],
  ];
  if (p.gc_pauses) lines.push(['garbage collections', `${p.gc_pauses}, ${formatTime(p.gc_pause_ns ?? 0)}`]);
  if (p.failed) lines.push(['failed', String(p.failed)]);
  return tip(l.label, lines);
}
