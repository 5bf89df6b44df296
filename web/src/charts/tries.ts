// The tries of a search: load against a measured value, both logarithmic. A dot kept the curve, a cross did not.

import { baseOption, givenAxis, tip, type Option } from './echarts';
import { endLabelWidth } from './end_labels';
import { dotMark, hitMark, lineMark, textMark, type Mark } from './marks';
import { decadeTicks, tickText } from './ticks';
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
export interface KeptLoad {
  label: string;
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
    ...baseOption(t, ({ dataIndex, seriesName }) => {
      const point = points[dataIndex];
      return point && seriesName === 'tries' ? tip(point.label, point.tip) : '';
    }),
    grid: { left: LEFT_PX, right, top: TOP_PX, bottom: 50, outerBoundsMode: 'none' },
    xAxis: givenAxis(t, xRange, ticksOf(xRange), tries.loadName),
    yAxis: {
      ...givenAxis(t, yRange, ticksOf(yRange), tries.valueName, true),
      axisLine: { show: false, onZero: false },
      splitLine: { show: true, lineStyle: { color: t.grid } },
    },
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

function ticksOf([from, to]: [number, number]): { at: number; text: string }[] {
  return decadeTicks(10 ** from, 10 ** to).map((v) => ({ at: Math.log10(v), text: tickText(v) }));
}

interface Place {
  coord(p: [number, number]): [number, number];
}

interface Plot {
  coordSys: { x: number; y: number; width: number; height: number };
}

/** The limit as a horizontal line, and the load that each variant keeps as a vertical one. */
function limitSeries(tries: Tries, t: Theme): Option {
  return {
    type: 'custom',
    silent: true,
    clip: false,
    tooltip: { show: false },
    encode: { x: -1, y: -1 },
    data: [[0, 0]],
    renderItem: ({ coordSys: { x, y, width, height } }: Plot, api: Place) => {
      const limit = api.coord([0, Math.log10(tries.limit)])[1];
      const marks: Mark[] = [
        lineMark(x, limit, x + width, limit, t.ink, 1.25),
        textMark(x + width + 6, limit, tries.limitText, t.ink),
      ];
      for (const kept of tries.kept.filter((k) => k.load > 0)) {
        const at = (load: number) => Math.min(x + width, Math.max(x, api.coord([Math.log10(load), 0])[0]));
        const line = lineMark(at(kept.load), y, at(kept.load), y + height, kept.colour, 1.5);
        marks.push(line);
        if (kept.lo !== null && kept.hi !== null)
          marks.push(lineMark(at(Math.max(kept.lo, 1e-9)), y + height, at(kept.hi), y + height, kept.colour, 4));
      }
      return { type: 'group', children: marks };
    },
  };
}

function pointSeries(points: TryPoint[], t: Theme): Option {
  return {
    type: 'custom',
    name: 'tries',
    clip: false,
    encode: { x: -1, y: -1 },
    data: points.map((p) => ({ name: p.label, value: [Math.log10(p.load), Math.log10(p.value)] })),
    renderItem: (params: { dataIndex: number }, api: Place) => {
      const point = points[params.dataIndex]!;
      const [x, y] = api.coord([Math.log10(point.load), Math.log10(point.value)]);
      const hit = hitMark(x - HIT_PX, y - HIT_PX, 2 * HIT_PX, 2 * HIT_PX);
      return { type: 'group', children: [hit, ...(point.kept ? [kept(x, y, point, t)] : crossMarks(x, y, point))] };
    },
  };
}

const kept = (x: number, y: number, point: TryPoint, t: Theme): Mark => ({
  ...dotMark(x, y, 4.5, point.colour),
  style: { fill: point.colour, stroke: t.paper, lineWidth: 1 },
});

const crossMarks = (x: number, y: number, { colour }: TryPoint): Mark[] => [
  lineMark(x - 4, y - 4, x + 4, y + 4, colour, 1.75),
  lineMark(x - 4, y + 4, x + 4, y - 4, colour, 1.75),
];
