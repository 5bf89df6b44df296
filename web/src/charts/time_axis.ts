// The time axis that the charts of a panel share: the starts side by side, or the zoomed part of them.

import type { Cell, TimePoint } from '../summary';
import type { Theme } from '../theme';
import type { Reading } from './cursor';
import { rectMark, type Mark } from './marks';
import type { Tick } from './ticks';

/** One variant's slices. */
export interface TimeLine {
  label: string;
  cell: Cell;
  mark: string;
  text: string;
}

export interface ForkPlace {
  fork: number;
  begin: number;
  length: number;
  offset: number;
  warmEnd: number;
  /** Whether it was set aside because other programs used the cores. */
  aside: boolean;
}

export interface TimeAxis {
  forks: ForkPlace[];
  /** The end of the last start. The first one starts at 0. */
  end: number;
  /** The visible part. */
  from: number;
  to: number;
  /** The position of a slice. */
  x(line: TimeLine, p: TimePoint): number;
}

/** The lines of a chart on their axis. */
export interface TimeLines {
  lines: TimeLine[];
  axis: TimeAxis;
}

/** The axis of some lines. With `ownClock` each cell starts at 0, because they ran one after another. */
export function timeAxis(lines: TimeLine[], ownClock: boolean, part: [number, number] | null): TimeAxis {
  const first = (l: TimeLine) => l.cell.timeline.reduce((min, p) => Math.min(min, p.t_s), Infinity);
  const begins = new Map(lines.map((l) => [l.cell, ownClock ? first(l) : 0]));
  const at = (line: TimeLine, p: TimePoint) => p.t_s - begins.get(line.cell)!;
  const forks = placeForks(lines, at);
  const shifts = new Map(forks.map((f) => [f.fork, f.offset - f.begin]));
  const last = forks.at(-1);
  const end = last ? last.offset + last.length : 1;
  const [from, to] = part ?? [0, end];
  return { forks, end, from, to, x: (line, p) => at(line, p) + shifts.get(p.fork)! };
}

/** Places the forks side by side with a gap between them. */
function placeForks(lines: TimeLine[], at: (line: TimeLine, p: TimePoint) => number): ForkPlace[] {
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

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const TICK_PX = 44;

/** Ticks at seconds since the start of each fork: 0, and as many round values as fit. */
export function timeTicks({ forks, from, to }: TimeAxis, widthPx: number): Tick[] {
  const perPx = (to - from) / widthPx;
  const step = STEPS_S.find((s) => s / perPx >= TICK_PX) ?? 7200;
  return forks.flatMap((f) => {
    const out = [];
    for (let i = 0; i * step <= f.length - (i ? step * 0.4 : 0); i++)
      out.push({ at: f.offset + i * step, text: String(Number((i * step).toFixed(1))) });
    return out.filter(({ at }) => at >= from && at <= to);
  });
}

/** The visible part of a range; null if nothing of it is visible. */
export function clipToAxis({ from, to }: TimeAxis, begin: number, end: number): [number, number] | null {
  const [a, b] = [Math.max(begin, from), Math.min(end, to)];
  return a < b || (a === b && begin === end) ? [a, b] : null;
}

/** The background of a plot: shades for warm-up and for starts that were set aside. */
export function shadeMarks(axis: TimeAxis, px: (x: number) => number, top: number, height: number, t: Theme): Mark[] {
  const shade = (from: number, to: number, colour: string): Mark[] => {
    const part = clipToAxis(axis, from, to);
    return part ? [rectMark(px(part[0]), top, px(part[1]) - px(part[0]), height, colour)] : [];
  };
  return axis.forks.flatMap((f) => [
    ...(f.warmEnd > 0 ? shade(f.offset, f.offset + f.warmEnd, t.shade) : []),
    ...(f.aside ? shade(f.offset, f.offset + f.length, t.aside) : []),
  ]);
}

/** The start at a position, and the seconds since it began: `start 2, 4.0 s`. */
export function positionText({ forks }: TimeAxis, x: number): string {
  const f = forks.findLast((fork) => x >= fork.offset) ?? forks[0];
  if (!f) return '';
  return `start ${f.fork}${f.aside ? ' (left out)' : ''}, ${Math.max(0, x - f.offset).toFixed(1)} s`;
}

/** The value of each line at a position: that of the nearest slice that has one. */
export function timeReading(
  { lines, axis }: TimeLines,
  x: number,
  value: (p: TimePoint) => number | null,
  text: (value: number) => string,
): Reading {
  const values = lines.flatMap((l): [string, string][] => {
    const points = l.cell.timeline.filter((p) => value(p) !== null);
    const away = (p: TimePoint) => Math.abs(axis.x(l, p) - x);
    const nearest = points.reduce<TimePoint | null>((best, p) => (!best || away(p) < away(best) ? p : best), null);
    return nearest ? [[l.label, text(value(nearest)!)]] : [];
  });
  return { at: positionText(axis, x), values };
}
