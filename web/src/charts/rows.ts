// Charts with rows on one axis. Wide screens: label left, value right of the mark. Narrow screens: both above the mark.

import type { Theme } from '../theme';
import { baseOption, givenAxis, HIDDEN_AXIS, tip, type Option } from './echarts';
import { hitMark, markSeries, textMark, type Mark, type ToPx } from './marks';
import type { Tick } from './ticks';

/** A row: a heading, or a label with a mark and a value. */
export interface ChartRow {
  /** The text of a heading, for instance a scenario. */
  head?: string;
  /** The argument of `onPick` after a click, usually the id of a cell. */
  id: string;
  label: string;
  /** The text at the right. */
  value: string;
  tip: [string, string][];
}

/** Below this width, labels are above their marks. */
const NARROW_PX = 600;
const ROW_PX = 30;
const NARROW_ROW_PX = 46;
const HEAD_PX = 34;
const TOP_PX = 6;
const BOTTOM_PX = 50;
/** Between a label and the plot. */
const GAP_PX = 12;

export interface RowsFrame {
  narrow: boolean;
  /** The sides of the plot, and its width. */
  left: number;
  right: number;
  width: number;
  /** Tops and heights of the rows, in pixels from the chart's top. */
  tops: number[];
  heights: number[];
  chartWidth: number;
  labelWidth: number;
}

const rowPx = (row: ChartRow, width: number): number =>
  row.head !== undefined ? HEAD_PX : width < NARROW_PX ? NARROW_ROW_PX : ROW_PX;

/** Height of a chart with these rows, with some pixels `above` them. */
export function rowsHeight(rows: ChartRow[], width: number, above = 0): number {
  return rows.reduce((sum, row) => sum + rowPx(row, width), TOP_PX + above + BOTTOM_PX);
}

/** Lays out rows in a chart of a given width, with `valueWidth` for the values at the right. */
export function frameRows(rows: ChartRow[], chartWidth: number, valueWidth: number, above = 0): RowsFrame {
  const narrow = chartWidth < NARROW_PX;
  const longest = Math.max(0, ...rows.map((row) => row.label.length));
  const labelWidth = narrow ? chartWidth - 150 : Math.min(longest * 6.9 + 18, chartWidth * 0.34);
  const heights = rows.map((row) => rowPx(row, chartWidth));
  let y = TOP_PX + above;
  const tops = heights.map((height) => (y += height) - height);
  const left = narrow ? 4 : labelWidth;
  const right = chartWidth - (narrow ? 12 : valueWidth);
  return { narrow, left, right, width: right - left, tops, heights, chartWidth, labelWidth };
}

/** The middle of a row's mark: below its label where narrow. */
export function markY(frame: RowsFrame, index: number): number {
  const middle = frame.tops[index]! + frame.heights[index]! / 2;
  return frame.narrow ? middle + 11 : middle;
}

/** The chart: an axis with grid lines below the rows, and in each row its texts and the marks that `draw` gives it. */
export function rowsOption<R extends ChartRow>(
  rows: R[],
  frame: RowsFrame,
  axis: { range: [number, number]; ticks: Tick[]; name: string },
  draw: (row: R, index: number, px: (x: number) => number) => Mark[],
  t: Theme,
): Option {
  const { left, right, chartWidth } = frame;
  const top = frame.tops[0] ?? TOP_PX;
  const height = frame.heights.reduce((a, b) => a + b, 0);
  const ids = rows.map((row) => row.id);
  const marksOf = (i: number, px: ToPx): Mark[] => {
    const [row, y, rowHeight] = [rows[i]!, frame.tops[i]!, frame.heights[i]!];
    const hit = row.head === undefined ? [hitMark(0, y, chartWidth, rowHeight)] : [];
    const marks = draw(row, i, (x) => px([x, 0])[0]);
    return [...hit, ...marks, ...rowTexts(row, y + rowHeight / 2, frame, t)];
  };
  return {
    ...baseOption(t, ({ dataIndex }) => rowTip(rows[dataIndex]!)),
    grid: { left, right: chartWidth - right, top, height, outerBoundsMode: 'none' },
    xAxis: {
      ...givenAxis(t, axis.range, axis.ticks, axis.name),
      splitLine: { show: true, lineStyle: { color: t.grid } },
    },
    yAxis: HIDDEN_AXIS,
    series: [markSeries(ids, marksOf)],
  };
}

const rowTip = (row: ChartRow): HTMLElement | '' => (row.head === undefined ? tip(row.label, row.tip) : '');

/** A heading, or a row's label and its value beside the plot or above the mark. */
function rowTexts({ head, label, value }: ChartRow, middle: number, frame: RowsFrame, t: Theme): Mark[] {
  const { narrow, left, right, labelWidth, chartWidth } = frame;
  if (head !== undefined) return [textMark(0, middle + 3, head, t.ink, { bold: true, width: right, halo: t.paper })];
  if (narrow)
    return [
      textMark(left, middle - 10, label, t.ink, { width: labelWidth, halo: t.paper }),
      textMark(right, middle - 10, value, t.muted, { align: 'right', halo: t.paper }),
    ];
  const from = right + GAP_PX + 2;
  return [
    textMark(left - GAP_PX, middle, label, t.ink, { align: 'right', width: labelWidth - GAP_PX }),
    textMark(from, middle, value, t.muted, { width: chartWidth - from }),
  ];
}

/** Labels and values of the first 40 rows, without headings: the text alternative of their chart. */
export function rowsInWords(rows: ChartRow[]): string {
  const shown = rows.filter((row) => row.head === undefined).slice(0, 40);
  return shown.map((row) => `${row.label}: ${row.value}`).join('; ');
}
