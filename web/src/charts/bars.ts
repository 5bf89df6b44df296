// Bars from zero, one row per cell: one colour or stacked parts, with a whisker for the interval and a tick for a second value.

import { baseOption, givenAxis, tip, type Option } from './echarts';
import { clippedWhisker, hitMark, lineMark, rectMark, textMark, type Mark } from './marks';
import { frameRows, markY, rowTexts, rowsHeight, type RowsFrame } from './rows';
import { tickText, ticksFromZero } from './ticks';
import type { Theme } from '../theme';

/** A row; values are in the axis's unit. */
export interface BarRow {
  id: string;
  label: string;
  /** Parts of the bar from left to right; one part for a plain bar, none where there is no value. */
  parts: { value: number; colour: string; name: string }[];
  lo: number | null;
  hi: number | null;
  /** A second value, drawn as a tick: the peak. */
  tick?: number | null;
  value: string;
  tip: [string, string][];
}

export interface Bars {
  rows: BarRow[];
  axisName: string;
  /** Whether the names of the parts are shown above the bars. */
  nameParts: boolean;
}

const VALUE_PX = 132;
const NAMES_PX = 22;
/** An interval widens the axis up to this multiple of the largest bar. */
const MAX_WIDENING = 1.3;
const total = (row: BarRow) => row.parts.reduce((sum, p) => sum + p.value, 0);
const noHeadings = (bars: Bars) => bars.rows.map(() => false);

export function barsHeight(bars: Bars, width: number): number {
  return rowsHeight(noHeadings(bars), width) + (bars.nameParts ? NAMES_PX : 0);
}

export function barsOption(bars: Bars, width: number, t: Theme): Option {
  const { rows } = bars;
  const frame = frameRows(
    noHeadings(bars),
    rows.map((r) => r.label),
    width,
    VALUE_PX,
  );
  if (bars.nameParts) {
    frame.top += NAMES_PX;
    frame.tops = frame.tops.map((y) => y + NAMES_PX);
  }
  const largest = Math.max(0, ...rows.flatMap((r) => [total(r), r.tick ?? 0]));
  // With too few forks, an interval can be many times as wide as its bar. On its axis no bar could be seen.
  const max = Math.max(largest, ...rows.map((r) => Math.min(r.hi ?? 0, largest * MAX_WIDENING)));
  const ticks = ticksFromZero(max, frame.width < 420 ? 4 : 6);
  const top = Math.max(max, ticks.at(-2) ?? 0) * 1.02 || 1;
  const shown = ticks.filter((v) => v <= top).map((v) => ({ at: v, text: tickText(v) }));
  const axis = givenAxis(t, [0, top], shown, bars.axisName);
  return {
    ...baseOption(t, (p) => tip(rows[p.dataIndex]!.label, rows[p.dataIndex]!.tip)),
    grid: { left: frame.left, right: frame.right, top: frame.top, height: frame.height, outerBoundsMode: 'none' },
    xAxis: { ...axis, splitLine: { show: true, lineStyle: { color: t.grid } } },
    yAxis: { type: 'value', min: 0, max: 1, show: false },
    series: [
      {
        type: 'custom',
        clip: false,
        renderItem: (params: { dataIndex: number }, api: { coord(p: [number, number]): [number, number] }) => {
          const px = (x: number) => api.coord([x, 0])[0]!;
          const children = rowMarks(rows[params.dataIndex]!, params.dataIndex, frame, px, t);
          if (bars.nameParts && params.dataIndex === 0) children.push(...partNames(rows, frame, t));
          return { type: 'group', children };
        },
        data: rows.map((r) => ({ name: r.id, value: [total(r), 0] })),
        encode: { x: -1, y: -1 },
      },
    ],
  };
}

function rowMarks(row: BarRow, i: number, frame: RowsFrame, px: (x: number) => number, t: Theme): Mark[] {
  const y = markY(frame, i);
  const end = frame.left + frame.width + frame.right;
  const thickness = frame.narrow ? 12 : 16;
  const marks: Mark[] = [hitMark(0, frame.tops[i]!, end, frame.heights[i]!), ...rowTexts(frame, i, row, 12, t)];
  let from = 0;
  for (const part of row.parts) {
    const x = px(from);
    from += part.value;
    // A gap separates parts of similar lightness.
    const gap = row.parts.length > 1 ? 1 : 0;
    marks.push(rectMark(x, y - thickness / 2, Math.max(0.5, px(from) - x - gap), thickness, part.colour));
  }
  if (row.lo !== null && row.hi !== null) {
    const sides: [number, number] = [frame.left, frame.left + frame.width];
    // A border in the colour of the background keeps the whisker visible on a bar of any colour.
    marks.push(
      ...clippedWhisker(px(row.lo), px(row.hi), sides, y, t.paper, 3, 4.5),
      ...clippedWhisker(px(row.lo), px(row.hi), sides, y, t.ink, 1.5, 4),
    );
  }
  if (row.tick != null)
    marks.push(lineMark(px(row.tick), y - thickness / 2 - 2, px(row.tick), y + thickness / 2 + 2, t.ink, 2));
  return marks;
}

/** The names of the parts in a line above the bars, as many as fit. */
function partNames(rows: BarRow[], frame: RowsFrame, t: Theme): Mark[] {
  const parts = new Map(rows.flatMap((row) => row.parts).map((part) => [part.name, part.colour]));
  const end = frame.left + frame.width + frame.right;
  const y = frame.top - 8;
  const marks: Mark[] = [];
  let x = frame.left;
  for (const [name, colour] of parts) {
    const needs = name.length * 6.4 + 22;
    if (x + needs > end) break;
    marks.push(rectMark(x, y - 4, 8, 8, colour), textMark(x + 12, y, name, t.muted, { size: 11 }));
    x += needs;
  }
  return marks;
}
