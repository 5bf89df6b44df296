// The layout of charts with rows. Wide screens: label left, value right of the mark. Narrow screens: both above the mark.

import { textMark, type Mark } from './marks';
import type { Theme } from '../theme';

/** Below this width, labels are above their marks. */
const NARROW_PX = 600;
const ROW_PX = 30;
const NARROW_ROW_PX = 46;
const HEAD_PX = 34;

export interface RowsFrame {
  narrow: boolean;
  /** Margins of the plot. */
  left: number;
  right: number;
  top: number;
  bottom: number;
  width: number;
  height: number;
  /** Top of each row in pixels from the chart's top. */
  tops: number[];
  heights: number[];
  labelWidth: number;
}

const isNarrow = (width: number): boolean => width < NARROW_PX;
const rowPx = (head: boolean, width: number): number => (head ? HEAD_PX : isNarrow(width) ? NARROW_ROW_PX : ROW_PX);

const TOP_PX = 6;
const BOTTOM_PX = 50;

/** Height of a chart with these rows (true: a heading). */
export function rowsHeight(heads: boolean[], width: number): number {
  return heads.reduce((sum, head) => sum + rowPx(head, width), TOP_PX + BOTTOM_PX);
}

/** Lays out rows in a chart of a given width, with `valueWidth` for the values at the right. */
export function frameRows(heads: boolean[], labels: string[], width: number, valueWidth: number): RowsFrame {
  const narrow = isNarrow(width);
  const longest = Math.max(0, ...labels.map((l) => l.length));
  const labelWidth = narrow ? width - 150 : Math.min(longest * 6.9 + 18, width * 0.34);
  const tops: number[] = [];
  let y = TOP_PX;
  for (const head of heads) {
    tops.push(y);
    y += rowPx(head, width);
  }
  const left = narrow ? 4 : labelWidth;
  const right = narrow ? 12 : valueWidth;
  return {
    narrow,
    left,
    right,
    top: TOP_PX,
    bottom: BOTTOM_PX,
    width: width - left - right,
    height: y - TOP_PX,
    tops,
    heights: heads.map((head) => rowPx(head, width)),
    labelWidth,
  };
}

/** The middle of a row's mark: below its label where narrow. */
export function markY(frame: RowsFrame, index: number): number {
  const middle = frame.tops[index]! + frame.heights[index]! / 2;
  return frame.narrow ? middle + 11 : middle;
}

/** A row's label and its value, beside the plot or above the mark; `gap` is between label and plot. */
export function rowTexts(
  frame: RowsFrame,
  index: number,
  { label, value }: { label: string; value: string },
  gap: number,
  t: Theme,
): Mark[] {
  const { narrow, left, width, labelWidth } = frame;
  const [y, right] = [frame.tops[index]! + frame.heights[index]! / 2 - (narrow ? 10 : 0), left + width];
  if (narrow)
    return [
      textMark(left, y, label, t.ink, { width: labelWidth, halo: t.paper }),
      textMark(right, y, value, t.muted, { align: 'right', halo: t.paper }),
    ];
  return [
    textMark(left - gap, y, label, t.ink, { align: 'right', width: labelWidth - gap }),
    textMark(right + gap + 2, y, value, t.muted, { width: frame.right - gap - 2 }),
  ];
}
