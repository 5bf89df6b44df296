// The ratio chart (forest plot): a row per comparison, with the estimate and its interval on a logarithmic axis of changes.

import { LIGHT, type Theme } from '../palette';
import type { Option } from './echarts';
import type { FigureSpec } from './figure';
import { clippedWhisker, dotMark, lineMark, rectMark, type Mark } from './marks';
import { frameRows, markY, rowsHeight, rowsInWords, rowsOption, type ChartRow, type RowsFrame } from './rows';
import { ratioTicks } from './ticks';

/** A row: either a heading, or a variant. */
export interface ForestRow extends ChartRow {
  ratio: number | null;
  lo: number | null;
  hi: number | null;
  colour: string;
  /** Whether the comparison is undecided. Then the estimate is a ring. */
  open?: boolean;
  dots?: number[];
}

export interface Forest {
  rows: ForestRow[];
  /** Region of practical equivalence: 0.02 is ±2 %. */
  region: number;
  /** What is compared, and on which side it is better. */
  label: string;
  higherIsBetter: boolean;
}

const VALUE_PX = 168;
const isPositive = (v: number | null | undefined): v is number => typeof v === 'number' && Number.isFinite(v) && v > 0;

export function forestSpec(forest: (t: Theme) => Forest): Pick<FigureSpec, 'height' | 'draw' | 'alternative'> {
  return {
    height: (width) => rowsHeight(forest(LIGHT).rows, width),
    draw: (width, t) => forestOption(forest(t), width, t),
    alternative: () => rowsInWords(forest(LIGHT).rows),
  };
}

/** An interval widens the axis up to this multiple of the largest estimate. */
const MAX_WIDENING = 3;

/** The range of the axis, as logarithms: all estimates, with a margin. Intervals widen it only up to a bound: with too few forks
 * one can be so wide that all else would shrink to a line. */
function forestRange(forest: Forest): [number, number] {
  const logs = (values: (number | null)[]) => values.filter(isPositive).map(Math.log);
  const estimates = logs(forest.rows.flatMap((r) => [r.ratio, ...(r.dots ?? [])]));
  const bound = Math.max(Math.log(1.1), 5 * forest.region, MAX_WIDENING * Math.max(0, ...estimates.map(Math.abs)));
  const ends = logs(forest.rows.flatMap((r) => [r.lo, r.hi])).map((x) => Math.min(bound, Math.max(-bound, x)));
  const min = Math.min(Math.log(Math.min(1 - 2 * forest.region, 0.95)), ...estimates, ...ends);
  const max = Math.max(Math.log(Math.max(1 + 2 * forest.region, 1.05)), ...estimates, ...ends);
  const margin = (max - min) * 0.05;
  return [min - margin, max + margin];
}

/** The name of the axis, which says where better lies. */
function axisName({ label, higherIsBetter }: Forest, narrow: boolean): string {
  const what = narrow ? 'change' : `${label}, change (log)`;
  return higherIsBetter ? `← worse    ${what}    better →` : `← better    ${what}    worse →`;
}

function forestOption(forest: Forest, width: number, t: Theme): Option {
  const { rows, region } = forest;
  const frame = frameRows(rows, width, VALUE_PX);
  const range = forestRange(forest);
  const ticks = ratioTicks(range[0], range[1], frame.width, [frame.left, width - frame.right]);
  const axis = { range, ticks, name: axisName(forest, frame.narrow) };
  const draw = (row: ForestRow, i: number, px: (x: number) => number): Mark[] => {
    const [top, height] = [frame.tops[i]!, frame.heights[i]!];
    const [from, to] = [px(Math.log(1 - region)), px(Math.log(1 + region))];
    const band = rectMark(from, top, to - from, height, t.band);
    const baseline = lineMark(px(0), top, px(0), top + height, t.baseline, 1.5);
    if (row.head !== undefined) return [band, baseline];
    const y = markY(frame, i);
    const rule = lineMark(frame.left, y, frame.right, y, t.grid);
    return [band, rule, baseline, ...estimateMarks(row, y, px, frame, t)];
  };
  return rowsOption(rows, frame, axis, draw, t);
}

function estimateMarks(row: ForestRow, y: number, px: (x: number) => number, frame: RowsFrame, t: Theme): Mark[] {
  if (!isPositive(row.ratio)) return [];
  const x = px(Math.log(row.ratio));
  const interval = isPositive(row.lo) && isPositive(row.hi);
  // The dots of the starts are below the interval, as in the answer table.
  const at = row.dots ? y - 4 : y;
  const ends = interval ? clippedWhisker(px(Math.log(row.lo!)), px(Math.log(row.hi!)), frame, at, row.colour) : [];
  const starts = (row.dots ?? []).filter(isPositive).map((d) => {
    const dot = dotMark(px(Math.log(d)), y + 7, 3, row.colour);
    return { ...dot, style: { fill: row.colour, opacity: 0.6 } };
  });
  return [...ends, ...starts, dotMark(x, at, 5, row.colour, row.open || !interval ? t.paper : null)];
}
