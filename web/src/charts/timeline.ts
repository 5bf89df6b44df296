// Slices over time: forks side by side, warm-up shaded, kinds of slice told apart by mark and line.

import { plainTime, type Unit } from '../format/unit';
import { significant } from '../format/number';
import { baseOption, givenAxis, tip, type Option } from './echarts';
import { endLabelRoom, endLabelSeries, type EndLabel } from './end_labels';
import { decadeTicks, plainNumber, plainTicks } from './ticks';
import type { Cell, TimePoint } from '../summary';
import type { Theme } from '../theme';

/** One variant's slices. */
export interface TimeLine {
  label: string;
  cell: Cell;
  mark: string;
  text: string;
}

export interface Timeline {
  lines: TimeLine[];
  /** Cells that ran one after another start at 0 each; otherwise the forks' own clock holds for all. */
  ownClock: boolean;
  of: (p: TimePoint) => number | null;
  unit: Unit;
  axisName: string;
  /** Latency spans decades: its axis is logarithmic. */
  log: boolean;
}

const WIDE_PX = 620;

/** How each kind of slice is drawn, and how the note names it. */
export const KINDS: Record<string, { symbol: string; line: string; glyph: string; hollow: boolean }> = {
  saturating: { symbol: 'circle', line: 'solid', glyph: '●', hollow: false },
  fixed: { symbol: 'circle', line: 'dashed', glyph: '○', hollow: true },
  poisson: { symbol: 'triangle', line: 'dotted', glyph: '△', hollow: true },
  push: { symbol: 'rect', line: 'solid', glyph: '■', hollow: false },
};
const kindOf = (name: string) => KINDS[name] ?? { symbol: 'diamond', line: 'dotted', glyph: '◇', hollow: true };

export interface ForkPlace {
  fork: number;
  begin: number;
  length: number;
  offset: number;
  warmEnd: number;
  /** Left out of every figure: others used the cores. */
  aside: boolean;
}

/** Sets the forks side by side with a gap between them. */
export function placeForks(lines: TimeLine[], at: (line: TimeLine, p: TimePoint) => number): ForkPlace[] {
  const spans = new Map<number, { begin: number; end: number; warm: number }>();
  for (const line of lines) {
    for (const p of line.cell.timeline) {
      const t = at(line, p);
      const s = spans.get(p.fork) ?? { begin: Infinity, end: -Infinity, warm: -Infinity };
      s.begin = Math.min(s.begin, t);
      s.end = Math.max(s.end, t);
      if (p.phase === 'warmup') s.warm = Math.max(s.warm, t);
      spans.set(p.fork, s);
    }
  }
  const forks = [...spans].sort(([a], [b]) => a - b);
  const whole = forks.reduce((sum, [, s]) => sum + s.end - s.begin, 0) || 1;
  let offset = 0;
  return forks.map(([fork, s]) => {
    const aside = lines.some((l) => l.cell.forks_set_aside.includes(fork));
    const warmEnd = Math.max(0, s.warm - s.begin);
    const place = { fork, begin: s.begin, length: s.end - s.begin, offset, warmEnd, aside };
    offset += place.length + whole * 0.02;
    return place;
  });
}

export function timelineHeight(width: number): number {
  return width < WIDE_PX ? 240 : 280;
}

export function timelineOption(timeline: Timeline, width: number, t: Theme): Option {
  const wide = width >= WIDE_PX;
  const right = wide ? endLabelRoom(timeline.lines.map((l) => l.label)) : 14;
  const { lines } = timeline;
  const starts = new Map(lines.map((l) => [l, timeline.ownClock ? Math.min(...l.cell.timeline.map((p) => p.t_s)) : 0]));
  const at = (line: TimeLine, p: TimePoint) => p.t_s - starts.get(line)!;
  const forks = placeForks(lines, at);
  const last = forks.at(-1);
  const end = last ? last.offset + last.length : 1;
  const scale = scaleOf(timeline);
  const series = lines.flatMap((l) => kindSeries(l, timeline, forks, (p) => at(l, p), scale));
  return {
    ...baseOption(t),
    grid: { left: 46, right, top: 44, bottom: 46, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, [0, end], timeTicks(forks, end, width - 46 - right), 'seconds since the start'),
    yAxis: {
      ...givenAxis(t, scale.range, scale.ticks, timeline.axisName, true),
      nameGap: 24,
      splitLine: { show: true, lineStyle: { color: t.grid } },
    },
    series: [
      areas(forks, t, width - 46 - right),
      ...series,
      ...lines.map((l) => gcSeries(l, forks, (p) => at(l, p), scale)),
      ...(wide ? [endLabelSeries(namesOf(timeline, scale, end), right, right - 6, t)] : []),
    ],
  };
}

/** The value axis: where a value lies on it, its ends and its ticks. */
interface Scale {
  at: (value: number) => number;
  range: [number, number];
  ticks: { at: number; text: string }[];
}

function scaleOf({ lines, of, unit, log }: Timeline): Scale {
  const values = lines.flatMap((l) => l.cell.timeline.map(of)).filter((v): v is number => v !== null && v > 0);
  const most = Math.max(1, ...values) / unit.divisor;
  if (!log) {
    const ticks = plainTicks(most, 4);
    const top = Math.max(most * 1.04, ticks.at(-1) ?? 1);
    return { at: (v) => v / unit.divisor, range: [0, top], ticks: ticks.map((v) => ({ at: v, text: plainNumber(v) })) };
  }
  const least = Math.min(...values, most * unit.divisor) / unit.divisor;
  const ticks = decadeTicks(least * 0.8, most * 1.25).map((v) => ({ at: Math.log10(v), text: plainNumber(v) }));
  return { at: (v) => Math.log10(v / unit.divisor), range: [Math.log10(least * 0.8), Math.log10(most * 1.25)], ticks };
}

/** Each line is named at the level of its last saturating slice. */
function namesOf(timeline: Timeline, scale: Scale, end: number): EndLabel[] {
  return timeline.lines.flatMap((l) => {
    const points = l.cell.timeline.filter((p) => timeline.of(p) !== null);
    const last = points.findLast((p) => p.slice_kind === 'saturating') ?? points.at(-1);
    return last ? [{ text: l.label, colour: l.text, at: [end, scale.at(timeline.of(last)!)] as [number, number] }] : [];
  });
}

/** Seconds within each fork: its start always, then as many round ones as fit. */
export function timeTicks(forks: ForkPlace[], end: number, widthPx: number): { at: number; text: string }[] {
  const perPx = end / widthPx;
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find((s) => s / perPx >= 44) ?? 7200;
  return forks.flatMap((f) => {
    const out = [];
    for (let s = 0; s <= f.length - (s ? step * 0.4 : 0); s += step) out.push({ at: f.offset + s, text: String(s) });
    return out;
  });
}

/** The ground: each fork named above its stretch, its warm-up shaded. */
function areas(forks: ForkPlace[], t: Theme, widthPx: number): Option {
  const roomy = widthPx / Math.max(1, forks.length) > 52;
  const label = (text: string) => ({
    show: true,
    formatter: () => text,
    position: 'top',
    color: t.muted,
    fontSize: 11,
    distance: 4,
  });
  const named = forks.map((f) => [
    { xAxis: f.offset, itemStyle: { color: 'transparent' }, label: label(nameOf(f, roomy)) },
    { xAxis: f.offset + f.length },
  ]);
  const warm = forks
    .filter((f) => f.warmEnd > 0)
    .map((f) => [{ xAxis: f.offset, label: { show: false } }, { xAxis: f.offset + f.warmEnd }]);
  const aside = forks
    .filter((f) => f.aside)
    .map((f) => [
      { xAxis: f.offset, label: { show: false }, itemStyle: { color: t.aside } },
      { xAxis: f.offset + f.length },
    ]);
  return {
    type: 'line',
    data: [],
    silent: true,
    markArea: { silent: true, itemStyle: { color: t.shade }, data: [...named, ...warm, ...aside] },
  };
}

/** `start 2`, and whether it was left out. */
function nameOf(f: ForkPlace, roomy: boolean): string {
  if (!roomy) return f.aside ? `${f.fork} ×` : String(f.fork);
  return f.aside ? `start ${f.fork} × left out` : `start ${f.fork}`;
}

/** One series for each kind of slice, broken between forks. */
function kindSeries(
  l: TimeLine,
  timeline: Timeline,
  forks: ForkPlace[],
  at: (p: TimePoint) => number,
  scale: Scale,
): Option[] {
  const kinds = [...new Set(l.cell.timeline.map((p) => p.slice_kind))];
  return kinds.map((kind) => {
    const look = kindOf(kind);
    const data: { value: [number, number | null]; point?: TimePoint }[] = [];
    for (const f of forks) {
      const mine = l.cell.timeline.filter((p) => p.fork === f.fork && p.slice_kind === kind);
      for (const p of mine.sort((a, b) => a.t_s - b.t_s)) {
        const y = timeline.of(p);
        data.push({ value: [f.offset + at(p) - f.begin, y === null ? null : scale.at(y)], point: p });
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

/** Slices in which a JVM collected garbage, as strokes at the foot. */
function gcSeries(l: TimeLine, forks: ForkPlace[], at: (p: TimePoint) => number, scale: Scale): Option {
  const begins = new Map(forks.map((f) => [f.fork, f.offset - f.begin]));
  const collecting = l.cell.timeline.filter((p) => p.gc_pauses);
  return {
    type: 'line',
    name: l.label,
    data: collecting.map((p) => [begins.get(p.fork)! + at(p), scale.range[0]]),
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
  const value = timeline.of(p);
  return tip(l.label, [
    [p.phase === 'warmup' ? 'warm-up slice' : 'slice', `${p.slice_kind}, start ${p.fork}`],
    [timeline.axisName, value === null ? '–' : `${significant(value / timeline.unit.divisor)} ${timeline.unit.name}`],
    ['since the run began', `${p.t_s.toFixed(1)} s`],
    ...(p.gc_pauses
      ? ([['garbage collections', `${p.gc_pauses}, ${plainTime(p.gc_pause_ns ?? 0)}`]] as [string, string][])
      : []),
    ...(p.failed ? ([['failed', String(p.failed)]] as [string, string][]) : []),
  ]);
}
