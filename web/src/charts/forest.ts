// The ratio chart (forest plot): a row per comparison, with the estimate and its interval on a logarithmic axis of changes.

import { baseOption, givenAxis, tip, type Option } from './echarts';
import { clippedWhisker, dotMark, hitMark, lineMark, textMark, type Mark } from './marks';
import { frameRows, markY, rowTexts, rowsHeight, type RowsFrame } from './rows';
import { ratioTicks } from './ticks';
import type { Theme } from '../theme';

/** A row: either a heading, or a variant. */
export interface ForestRow {
  /** A heading names the scenario. */
  head?: string;
  /** The argument of `onPick` after a click, usually the id of a cell. */
  id: string;
  label: string;
  ratio: number | null;
  lo: number | null;
  hi: number | null;
  /** The text at the right. */
  value: string;
  colour: string;
  /** Whether the comparison is undecided. Then the estimate is a ring. */
  open?: boolean;
  /** A small dot for each start. */
  dots?: number[];
  tip: [string, string][];
}

export interface Forest {
  rows: ForestRow[];
  /** Region of practical equivalence: 0.02 is ±2 %. */
  region: number;
  axisName: string;
}

const VALUE_PX = 168;
const isPositive = (v: number | null | undefined): v is number => typeof v === 'number' && Number.isFinite(v) && v > 0;

export function forestHeight(rows: ForestRow[], width: number): number {
  return rowsHeight(
    rows.map((r) => r.head !== undefined),
    width,
  );
}

/** An interval widens the axis up to this multiple of the largest estimate. */
const MAX_WIDENING = 3;

/** The range of the axis, as logarithms: all estimates, with a margin. Intervals widen it only up to a bound: with too few forks
 * one can be so wide that all else would shrink to a line. */
export function forestRange(forest: Forest): [number, number] {
  const logs = (values: (number | null)[]) => values.filter(isPositive).map(Math.log);
  const estimates = logs(forest.rows.flatMap((r) => [r.ratio, ...(r.dots ?? [])]));
  const bound = Math.max(Math.log(1.1), 5 * forest.region, MAX_WIDENING * Math.max(0, ...estimates.map(Math.abs)));
  const ends = logs(forest.rows.flatMap((r) => [r.lo, r.hi])).map((x) => Math.min(bound, Math.max(-bound, x)));
  const min = Math.min(Math.log(Math.min(1 - 2 * forest.region, 0.95)), ...estimates, ...ends);
  const max = Math.max(Math.log(Math.max(1 + 2 * forest.region, 1.05)), ...estimates, ...ends);
  const margin = (max - min) * 0.05;
  return [min - margin, max + margin];
}

export function forestOption(forest: Forest, width: number, t: Theme): Option {
  const { rows } = forest;
  const frame = frameRows(
    rows.map((r) => r.head !== undefined),
    rows.map((r) => r.label),
    width,
    VALUE_PX,
  );
  const range = forestRange(forest);
  const ticks = ratioTicks(range[0], range[1], frame.width, [frame.left, frame.right]);
  const axis = givenAxis(t, range, ticks, forest.axisName);
  const band = [Math.log(1 - forest.region), Math.log(1 + forest.region)] as const;
  return {
    ...baseOption(t, (p) => rowTip(rows[p.dataIndex]!)),
    grid: { left: frame.left, right: frame.right, top: frame.top, height: frame.height, outerBoundsMode: 'none' },
    xAxis: { ...axis, splitLine: { show: true, lineStyle: { color: t.grid } } },
    yAxis: { type: 'value', min: 0, max: 1, show: false },
    series: [
      {
        type: 'custom',
        clip: false,
        renderItem: (params: { dataIndex: number }, api: { coord(p: [number, number]): [number, number] }) =>
          rowMarks(rows[params.dataIndex]!, params.dataIndex, frame, (x) => api.coord([x, 0])[0]!, t),
        data: rows.map((r) => ({ name: r.id, value: [r.ratio ?? 1, 0] })),
        encode: { x: -1, y: -1 },
        markArea: { silent: true, itemStyle: { color: t.band }, data: [[{ xAxis: band[0] }, { xAxis: band[1] }]] },
      },
    ],
  };
}

function rowTip(row: ForestRow): HTMLElement | '' {
  return row.head === undefined ? tip(row.label, row.tip) : '';
}

function rowMarks(row: ForestRow, i: number, frame: RowsFrame, px: (x: number) => number, t: Theme): Mark {
  const [top, bottom] = [frame.tops[i]!, frame.tops[i]! + frame.heights[i]!];
  const baseline = lineMark(px(0), top, px(0), bottom, t.baseline, 1.5);
  if (row.head !== undefined) {
    const y = (top + bottom) / 2 + 3;
    return {
      type: 'group',
      children: [
        baseline,
        textMark(0, y, row.head, t.ink, { bold: true, width: frame.left + frame.width, halo: t.paper }),
      ],
    };
  }
  const y = markY(frame, i);
  const end = frame.left + frame.width + frame.right;
  const texts = rowTexts(frame, i, row, 14, t);
  const rule = lineMark(frame.left, y, frame.left + frame.width, y, t.grid);
  const hit = hitMark(0, top, end, frame.heights[i]!);
  const sides: [number, number] = [frame.left, frame.left + frame.width];
  return { type: 'group', children: [hit, rule, baseline, ...texts, ...estimateMarks(row, y, px, sides, t)] };
}

function estimateMarks(
  row: ForestRow,
  y: number,
  px: (x: number) => number,
  sides: [number, number],
  t: Theme,
): Mark[] {
  if (!isPositive(row.ratio)) return [];
  const x = px(Math.log(row.ratio));
  const interval = isPositive(row.lo) && isPositive(row.hi);
  // The dots of the starts are below the interval, as in the answer table.
  const at = row.dots ? y - 4 : y;
  const ends = interval ? clippedWhisker(px(Math.log(row.lo!)), px(Math.log(row.hi!)), sides, at, row.colour) : [];
  const starts = (row.dots ?? []).filter(isPositive).map((d) => {
    const dot = dotMark(px(Math.log(d)), y + 7, 3, row.colour);
    return { ...dot, style: { fill: row.colour, opacity: 0.6 } };
  });
  return [...ends, ...starts, dotMark(x, at, 5, row.colour, row.open || !interval ? t.paper : null)];
}
