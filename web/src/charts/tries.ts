// The tries of a search: load against a measured value, both logarithmic. A dot kept the curve, a cross did not.

import { baseOption, givenAxis, tip, type Option } from './echarts';
import { endLabelWidth } from './end_labels';
import { dotMark, hitMark, layer, lineMark, markSeries, textMark, type Mark, type ToPx } from './marks';
import { decadeTicks, tickText, type Tick } from './ticks';
import type { Theme } from '../theme';

/** One try; load and value are in the units of the axes. */
export interface TryPoint {
  label: string;
  load: number;
  value: number;
  kept: boolean;
  colour: string;
  tip: [string, string][];
}

/** The largest load at which a variant keeps the curve, drawn as a vertical line with its interval. */
interface KeptLoad {
  load: number;
  lo: number | null;
  hi: number | null;
  colour: string;
}

export interface Tries {
  points: TryPoint[];
  kept: KeptLoad[];
  limit: number;
  limitText: string;
  loadName: string;
  valueName: string;
}

const LEFT_PX = 52;
const TOP_PX = 30;
const HIT_PX = 9;

export const triesHeight = (width: number): number => (width < 620 ? 280 : 320);

export function triesOption(tries: Tries, width: number, t: Theme): Option {
  const xRange = logRange([...tries.points.map((p) => p.load), ...tries.kept.map((k) => k.load)]);
  const yRange = logRange([...tries.points.map((p) => p.value), tries.limit]);
  const right = Math.min(width * 0.25, endLabelWidth([tries.limitText]));
  const points = tries.points.filter((p) => p.load > 0 && p.value > 0);
  return {
    ...baseOption(t, ({ dataIndex }) => tip(points[dataIndex]!.label, points[dataIndex]!.tip)),
    grid: { left: LEFT_PX, right, top: TOP_PX, bottom: 50, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, xRange, ticksOf(xRange), tries.loadName),
    yAxis: givenAxis(t, yRange, ticksOf(yRange), tries.valueName, true),
    series: [limitSeries(tries, t), pointSeries(points, t)],
  };
}

/** The logarithms of the smallest and the largest value, with a margin. */
function logRange(values: number[]): [number, number] {
  const logs = values.filter((v) => v > 0).map(Math.log10);
  const [min, max] = [Math.min(...logs), Math.max(...logs)];
  const margin = Math.max(0.06, (max - min) * 0.06);
  return [min - margin, max + margin];
}

function ticksOf([from, to]: [number, number]): Tick[] {
  return decadeTicks(10 ** from, 10 ** to).map((v) => ({ at: Math.log10(v), text: tickText(v) }));
}

/** The limit as a horizontal line, and the load that each variant keeps as a vertical one. */
function limitSeries(tries: Tries, t: Theme): Option {
  return layer((px, { x, y, width, height }) => {
    const limit = px([0, Math.log10(tries.limit)])[1];
    const at = (load: number) => Math.min(x + width, Math.max(x, px([Math.log10(load), 0])[0]));
    const marks = [
      lineMark(x, limit, x + width, limit, t.ink, 1.25),
      textMark(x + width + 6, limit, tries.limitText, t.ink),
    ];
    for (const { load, lo, hi, colour } of tries.kept.filter((k) => k.load > 0)) {
      marks.push(lineMark(at(load), y, at(load), y + height, colour, 1.5));
      if (lo !== null && hi !== null)
        marks.push(lineMark(at(Math.max(lo, 1e-9)), y + height, at(hi), y + height, colour, 4));
    }
    return marks;
  });
}

function pointSeries(points: TryPoint[], t: Theme): Option {
  const draw = (i: number, px: ToPx): Mark[] => {
    const point = points[i]!;
    const [x, y] = px([Math.log10(point.load), Math.log10(point.value)]);
    const hit = hitMark(x - HIT_PX, y - HIT_PX, 2 * HIT_PX, 2 * HIT_PX);
    return [hit, ...(point.kept ? [kept(x, y, point, t)] : crossMarks(x, y, point))];
  };
  const names = points.map((p) => p.label);
  return markSeries(names, draw);
}

const kept = (x: number, y: number, point: TryPoint, t: Theme): Mark => ({
  ...dotMark(x, y, 4.5, point.colour),
  style: { fill: point.colour, stroke: t.paper, lineWidth: 1 },
});

const crossMarks = (x: number, y: number, { colour }: TryPoint): Mark[] => [
  lineMark(x - 4, y - 4, x + 4, y + 4, colour, 1.75),
  lineMark(x - 4, y + 4, x + 4, y - 4, colour, 1.75),
];
