// Bars from zero, one row per cell: one colour or stacked parts, with a whisker for the interval and a tick for a second value.

import { LIGHT, type Theme } from '../palette';
import type { Option } from './echarts';
import type { FigureSpec } from './figure';
import { clippedWhisker, lineMark, rectMark, textMark, type Mark } from './marks';
import { frameRows, markY, rowsHeight, rowsInWords, rowsOption, type ChartRow, type RowsFrame } from './rows';
import { tickText, ticksFromZero } from './ticks';

/** A row; values are in the axis's unit. */
export interface BarRow extends ChartRow {
  /** Parts of the bar from left to right; one part for a plain bar, none where there is no value. */
  parts: { value: number; colour: string; name: string }[];
  lo: number | null;
  hi: number | null;
  /** A second value, drawn as a tick: the peak. */
  tick?: number | null;
}

export interface Bars {
  rows: BarRow[];
  axisName: string;
  /** Whether the names of the parts are shown above the bars. */
  nameParts?: boolean;
}

const VALUE_PX = 132;
const NAMES_PX = 22;
/** An interval widens the axis up to this multiple of the largest bar. */
const MAX_WIDENING = 1.3;
const total = (row: BarRow) => row.parts.reduce((sum, p) => sum + p.value, 0);
const namesPx = (bars: Bars): number => (bars.nameParts ? NAMES_PX : 0);

export function barsSpec(bars: (t: Theme) => Bars): Pick<FigureSpec, 'height' | 'draw' | 'alternative'> {
  return {
    height: (width) => rowsHeight(bars(LIGHT).rows, width, namesPx(bars(LIGHT))),
    draw: (width, t) => barsOption(bars(t), width, t),
    alternative: () => rowsInWords(bars(LIGHT).rows),
  };
}

function barsOption(bars: Bars, width: number, t: Theme): Option {
  const { rows } = bars;
  const frame = frameRows(rows, width, VALUE_PX, namesPx(bars));
  const largest = Math.max(0, ...rows.flatMap((r) => [total(r), r.tick ?? 0]));
  // With too few forks, an interval can be many times as wide as its bar. On its axis no bar could be seen.
  const max = Math.max(largest, ...rows.map((r) => Math.min(r.hi ?? 0, largest * MAX_WIDENING)));
  const ticks = ticksFromZero(max, frame.width < 420 ? 4 : 6);
  const top = Math.max(max, ticks.at(-2) ?? 0) * 1.02 || 1;
  const shown = ticks.filter((v) => v <= top).map((v) => ({ at: v, text: tickText(v) }));
  const draw = (row: BarRow, i: number, px: (x: number) => number) => [
    ...barMarks(row, markY(frame, i), frame, px, t),
    ...(bars.nameParts && i === 0 ? partNames(rows, frame, t) : []),
  ];
  return rowsOption(rows, frame, { range: [0, top], ticks: shown, name: bars.axisName }, draw, t);
}

function barMarks(row: BarRow, y: number, frame: RowsFrame, px: (x: number) => number, t: Theme): Mark[] {
  const thickness = frame.narrow ? 12 : 16;
  const marks: Mark[] = [];
  let from = 0;
  for (const part of row.parts) {
    const x = px(from);
    from += part.value;
    // A gap separates parts of similar lightness.
    const gap = row.parts.length > 1 ? 1 : 0;
    marks.push(rectMark(x, y - thickness / 2, Math.max(0.5, px(from) - x - gap), thickness, part.colour));
  }
  if (row.lo !== null && row.hi !== null) {
    // A border in the colour of the background keeps the whisker visible on a bar of any colour.
    marks.push(
      ...clippedWhisker(px(row.lo), px(row.hi), frame, y, t.paper, 3, 4.5),
      ...clippedWhisker(px(row.lo), px(row.hi), frame, y, t.ink, 1.5, 4),
    );
  }
  if (row.tick != null)
    marks.push(lineMark(px(row.tick), y - thickness / 2 - 2, px(row.tick), y + thickness / 2 + 2, t.ink, 2));
  return marks;
}

/** The names of the parts in a line above the bars, as many as fit. */
function partNames(rows: BarRow[], frame: RowsFrame, t: Theme): Mark[] {
  const parts = new Map(rows.flatMap((row) => row.parts).map((part) => [part.name, part.colour]));
  const y = frame.tops[0]! - 8;
  const marks: Mark[] = [];
  let x = frame.left;
  for (const [name, colour] of parts) {
    const needs = name.length * 6.4 + 22;
    if (x + needs > frame.chartWidth) break;
    marks.push(rectMark(x, y - 4, 8, 8, colour), textMark(x + 12, y, name, t.muted, { size: 11 }));
    x += needs;
  }
  return marks;
}
