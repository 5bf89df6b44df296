// Paired starts: for each variant and start a line from the baseline's level to the variant's. Levels differ between starts, but
// the slopes show what the starts have in common.

import { formatSignificant } from '../format/number';
import { baseOption, HIDDEN_AXIS, tip, type Option } from './echarts';
import { dotMark, hitMark, lineMark, markSeries, textMark, type Mark } from './marks';
import { ticksBetween, tickText } from './ticks';
import type { Theme } from '../theme';

/** One variant beside the baseline; values are in the axis's unit. */
interface SlopeColumn {
  id: string;
  label: string;
  colour: string;
  starts: { fork: number; from: number; to: number; odd: boolean }[];
  /** How many starts were set aside. */
  aside: number;
  /** Mean of the baseline and of the variant. */
  means: [number | null, number | null];
}

export interface Slopes {
  columns: SlopeColumn[];
  axisName: string;
  baseline: string;
}

const LEFT_PX = 46;
const TOP_PX = 40;
const BOTTOM_PX = 40;
const PLOT_PX = 200;
const LEAST_COLUMN_PX = 150;
/** The average width of a letter below a column. */
const LETTER_PX = 7;

const columnsPerRow = (slopes: Slopes, width: number): number =>
  Math.max(1, Math.min(slopes.columns.length, Math.floor((width - LEFT_PX) / LEAST_COLUMN_PX)));
/** The height of a row of columns. A printed page may end after each row. */
export const SLOPES_ROW_PX = TOP_PX + PLOT_PX + BOTTOM_PX;

export function slopesHeight(slopes: Slopes, width: number): number {
  return Math.ceil(slopes.columns.length / columnsPerRow(slopes, width)) * SLOPES_ROW_PX;
}

export function slopesOption(slopes: Slopes, width: number, t: Theme): Option {
  const across = columnsPerRow(slopes, width);
  const columnPx = Math.min(320, (width - LEFT_PX) / across);
  const [min, max] = rangeOf(slopes);
  const y = (row: number, value: number) =>
    row * SLOPES_ROW_PX + TOP_PX + PLOT_PX * (1 - (value - min) / (max - min || 1));
  const ticks = ticksBetween(min, max);
  const ids = slopes.columns.map((c) => c.id);
  const draw = (i: number): Mark[] => {
    const [row, x] = [Math.floor(i / across), LEFT_PX + (i % across) * columnPx];
    const axis = i % across === 0 ? axisMarks(slopes, ticks, row, y, x + columnPx * across, t) : [];
    const isLast = i % across === across - 1 || i === slopes.columns.length - 1;
    const span: Span = { x, columnPx, right: isLast ? width : x + columnPx };
    return [...axis, ...columnMarks(slopes, slopes.columns[i]!, span, row, y, t)];
  };
  return {
    ...baseOption(t, (p) => columnTip(slopes, slopes.columns[p.dataIndex]!)),
    grid: { left: 0, right: 0, top: 0, bottom: 0, outerBoundsMode: 'none' },
    xAxis: HIDDEN_AXIS,
    yAxis: HIDDEN_AXIS,
    series: [markSeries(ids, draw)],
  };
}

/** The range of the levels, with a margin. It need not start at zero, because slopes are compared and not lengths. */
function rangeOf(slopes: Slopes): [number, number] {
  const levels = slopes.columns.flatMap((c) => c.starts.flatMap((s) => [s.from, s.to]));
  const [min, max] = [Math.min(...levels), Math.max(...levels)];
  const margin = (max - min || max || 1) * 0.1;
  return [Math.max(0, min - margin), max + margin];
}

type Place = (row: number, value: number) => number;

function axisMarks(slopes: Slopes, ticks: number[], row: number, y: Place, right: number, t: Theme): Mark[] {
  return [
    textMark(0, row * SLOPES_ROW_PX + 8, slopes.axisName, t.muted, { size: 11 }),
    ...ticks.flatMap((tick) => [
      lineMark(LEFT_PX, y(row, tick), right, y(row, tick), t.grid),
      textMark(LEFT_PX - 8, y(row, tick), tickText(tick), t.muted, { align: 'right', size: 11 }),
    ]),
  ];
}

/** Where a column lies, and how far to the right its names may reach. */
interface Span {
  x: number;
  columnPx: number;
  right: number;
}

function columnMarks(
  slopes: Slopes,
  column: SlopeColumn,
  { x, columnPx, right }: Span,
  row: number,
  y: Place,
  t: Theme,
): Mark[] {
  const [from, to] = [x + 26, x + columnPx - 44];
  const foot = row * SLOPES_ROW_PX + TOP_PX + PLOT_PX + 14;
  const label = column.label + (column.aside ? ` (${column.aside} left out)` : '');
  const labelPx = Math.min(label.length * LETTER_PX, columnPx - 8);
  const isCut = to + labelPx / 2 > right;
  const begins = isCut ? right - labelPx : to - labelPx / 2;
  const isCrowded = from + (slopes.baseline.length * LETTER_PX) / 2 > begins;
  /** A mean as a short stroke with its figure. */
  const meanMarks = (at: number, value: number | null): Mark[] => {
    if (value === null) return [];
    const look = { bold: true, size: 11, background: t.paper };
    const level = y(row, value);
    return [
      lineMark(at - 7, level, at + 7, level, t.ink, 2.5),
      textMark(at + 11, level, formatSignificant(value), t.ink, look),
    ];
  };
  return [
    hitMark(x, row * SLOPES_ROW_PX, columnPx, SLOPES_ROW_PX),
    ...[from, to].map((at) =>
      lineMark(at, row * SLOPES_ROW_PX + TOP_PX, at, row * SLOPES_ROW_PX + TOP_PX + PLOT_PX, t.faint),
    ),
    ...column.starts.map((s) => {
      const [a, b] = [y(row, s.from), y(row, s.to)];
      return lineMark(from, a, to, b, s.odd ? t.muted : column.colour, 1.5, s.odd);
    }),
    ...column.starts.flatMap((s) => [
      dotMark(from, y(row, s.from), 3.2, s.odd ? t.muted : t.baseline, s.odd ? t.paper : null),
      dotMark(to, y(row, s.to), 3.2, s.odd ? t.muted : column.colour, s.odd ? t.paper : null),
    ]),
    ...meanMarks(from, column.means[0]),
    ...meanMarks(to, column.means[1]),
    textMark(from, foot, slopes.baseline, t.muted, { align: 'center', size: 11, width: columnPx / 2 }),
    textMark(isCut ? right : to, isCrowded ? foot + 15 : foot, label, t.ink, {
      align: isCut ? 'right' : 'center',
      size: 11,
      width: columnPx - 8,
    }),
  ];
}

function columnTip(slopes: Slopes, column: SlopeColumn): HTMLElement {
  const rows = column.starts.map((s): [string, string] => [
    `start ${s.fork}${s.odd ? ', another mode' : ''}`,
    `${formatSignificant(s.from)} → ${formatSignificant(s.to)}`,
  ]);
  if (column.aside) rows.push(['left out', `${column.aside}: others used the cores`]);
  return tip(`${slopes.baseline} → ${column.label}`, rows);
}
