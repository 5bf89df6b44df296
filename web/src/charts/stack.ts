// CPU by kind of thread over time: one strip per variant, in each a bar per slice, stacked by kind, forks side by side.

import { baseOption, givenAxis, HIDDEN_AXIS, tip, type Option } from './echarts';
import { hitMark, layer, lineMark, markSeries, rectMark, textMark, type Mark } from './marks';
import { extent, tickText } from './ticks';
import type { Margins } from './cursor';
import { shadeMarks, timeTicks, type TimeLines } from './time_axis';
import { formatSignificant } from '../format/number';
import type { TimePoint } from '../summary';
import { threadColour } from './thread_kinds';
import type { Theme } from '../theme';

/** Strips of one panel; every strip has the same scale. */
export interface Stack extends TimeLines {
  /** Kinds of thread from bottom to top. */
  kinds: string[];
}

const HEAD_PX = 26;
const STRIP_PX = 92;
const LABEL_PX = 20;
const FOOT_PX = 46;
const LEFT_PX = 34;
const RIGHT_PX = 12;
export const STACK_MARGINS: Margins = { left: LEFT_PX, right: RIGHT_PX, top: HEAD_PX, bottom: FOOT_PX };

export const stackHeight = (stack: Stack): number => HEAD_PX + stack.lines.length * STRIP_PX + FOOT_PX;

interface Bar {
  strip: number;
  x: number;
  point: TimePoint;
}

export const coresOf = (p: TimePoint): number => p.cpu.reduce((sum, kind) => sum + kind.cores, 0);

/** The cores that one kind of thread kept busy. */
export const coresOfKind = (p: TimePoint, kind: string): number => p.cpu.find((k) => k.kind === kind)?.cores ?? 0;

export function stackOption(stack: Stack, width: number, t: Theme): Option {
  const { axis } = stack;
  const plot = width - LEFT_PX - RIGHT_PX;
  const bars = stack.lines.flatMap((l, strip) =>
    l.cell.timeline
      .map((point): Bar => ({ strip, x: axis.x(l, point), point }))
      .filter(({ x }) => x >= axis.from && x <= axis.to),
  );
  const max = Math.max(0.1, extent(bars.map((b) => coresOf(b.point)))[1]);
  const inner = STRIP_PX - LABEL_PX;
  const foot = (strip: number) => HEAD_PX + (strip + 1) * STRIP_PX;
  const thickness = Math.max(1, Math.min(7, (plot / Math.max(1, bars.length / stack.lines.length)) * 0.8));
  const marksOf = (bar: Bar, px: (x: number) => number): Mark[] => {
    const x = px(bar.x) - thickness / 2;
    let y = foot(bar.strip);
    const parts = stack.kinds.flatMap((kind) => {
      const height = (coresOfKind(bar.point, kind) / max) * inner;
      y -= height;
      return height > 0 ? [rectMark(x, y, thickness, height, threadColour(kind, t))] : [];
    });
    return [hitMark(x, foot(bar.strip) - inner, thickness, inner), ...parts];
  };
  return {
    ...baseOption(t, (p) => barTip(stack, bars[p.dataIndex]!)),
    grid: { ...STACK_MARGINS, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, [axis.from, axis.to], timeTicks(axis, plot), 'seconds since the start'),
    yAxis: HIDDEN_AXIS,
    series: [
      layer((px) => backgroundMarks(stack, max, width, (x) => px([x, 0])[0], t)),
      markSeries(
        bars.map((b) => stack.lines[b.strip]!.cell.id),
        (i, px) => marksOf(bars[i]!, (x) => px([x, 0])[0]),
      ),
    ],
  };
}

/** The marks behind the bars: names of the kinds, and for each strip its name, shades and scale. */
function backgroundMarks(stack: Stack, max: number, width: number, px: (x: number) => number, t: Theme): Mark[] {
  const marks: Mark[] = [];
  let x = LEFT_PX;
  for (const kind of stack.kinds) {
    marks.push(rectMark(x, 4, 8, 8, threadColour(kind, t)), textMark(x + 12, 8, kind, t.muted, { size: 11 }));
    x += kind.length * 6.4 + 26;
  }
  stack.lines.forEach((l, strip) => {
    const bottom = HEAD_PX + (strip + 1) * STRIP_PX;
    const top = bottom - STRIP_PX + LABEL_PX;
    marks.push(
      ...shadeMarks(stack.axis, px, top, bottom - top, t),
      textMark(LEFT_PX, top - 9, l.label, l.text, { width: width - LEFT_PX - RIGHT_PX }),
      lineMark(LEFT_PX, bottom, width - RIGHT_PX, bottom, t.grid, 1),
      textMark(LEFT_PX - 6, top + 4, tickText(Number(formatSignificant(max))), t.muted, {
        align: 'right',
        size: 11,
      }),
      textMark(LEFT_PX - 6, bottom - 4, '0', t.muted, { align: 'right', size: 11 }),
    );
  });
  return marks;
}

function barTip(stack: Stack, bar: Bar): HTMLElement {
  const rows = bar.point.cpu.map((k): [string, string] => [k.kind, `${formatSignificant(k.cores)} cores`]);
  const sample = `${bar.point.phase === 'warmup' ? 'warm-up, ' : ''}${bar.point.slice_kind}, start ${bar.point.fork}`;
  return tip(stack.lines[bar.strip]!.label, [['sample', sample], ...rows]);
}
