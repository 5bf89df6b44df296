// The marks of the custom charts, as shapes of ECharts: text, lines, dots, bars.

import { FONT, type Option } from './echarts';

export type Mark = Record<string, unknown>;

/** The pixels of a position on the axes. */
export type ToPx = (at: [number, number]) => [number, number];

/** The rectangle of a plot in pixels. */
export interface Plot {
  x: number;
  y: number;
  width: number;
  height: number;
}

type Draw = (index: number, px: ToPx, plot: Plot) => Mark[];

/** A series of items that consist of marks. The name of an item is the argument of `onPick`. */
export function markSeries(names: string[], draw: Draw, more: Option = {}): Option {
  return {
    type: 'custom',
    clip: false,
    encode: { x: -1, y: -1 },
    data: names.map((name) => ({ name, value: [0, 0] })),
    renderItem: ({ dataIndex, coordSys }: { dataIndex: number; coordSys: Plot }, api: { coord: ToPx }) => ({
      type: 'group',
      children: draw(dataIndex, (at) => api.coord(at), coordSys),
    }),
    ...more,
  };
}

/** Marks that belong to no item: the pointer does not find them. */
export function layer(draw: (px: ToPx, plot: Plot) => Mark[], more: Option = {}): Option {
  return markSeries([''], (_, px, plot) => draw(px, plot), { silent: true, tooltip: { show: false }, ...more });
}

interface TextOptions {
  align?: 'left' | 'center' | 'right';
  bold?: boolean;
  size?: number;
  /** Longer text is cut with an ellipsis. */
  width?: number;
  /** The colour of an outline around the letters, for text on lines. */
  halo?: string;
  /** The colour of a box behind the text. */
  background?: string;
}

export function textMark(x: number, y: number, text: string, fill: string, o: TextOptions = {}): Mark {
  return {
    type: 'text',
    silent: true,
    x,
    y,
    style: {
      text,
      fill,
      font: `${o.bold ? 600 : 400} ${o.size ?? 12}px ${FONT}`,
      align: o.align ?? 'left',
      verticalAlign: 'middle',
      ...(o.halo ? { stroke: o.halo, lineWidth: 4 } : {}),
      ...(o.background ? { backgroundColor: o.background, padding: [0, 2] } : {}),
      ...(o.width ? { width: o.width, overflow: 'truncate', ellipsis: '…' } : {}),
    },
  };
}

export function lineMark(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  stroke: string,
  width = 1,
  isDashed = false,
): Mark {
  const style = { stroke, lineWidth: width, lineCap: 'butt', ...(isDashed && { lineDash: [4, 3] }) };
  return { type: 'line', shape: { x1, y1, x2, y2 }, style };
}

const ARROW_PX = 5;

/** An interval clipped to the sides of a plot. An arrowhead shows that it continues beyond a side. */
export function clippedWhisker(
  x1: number,
  x2: number,
  { left, right }: { left: number; right: number },
  y: number,
  stroke: string,
  width = 2,
  cap = 4,
): Mark[] {
  const [from, to] = [Math.max(x1, left), Math.min(x2, right)];
  const end = (x: number, beyond: boolean, inwards: number): Mark[] =>
    beyond
      ? [-1, 1].map((side) => lineMark(x, y, x + inwards * ARROW_PX, y + (side * ARROW_PX * 4) / 5, stroke, width))
      : [lineMark(x, y - cap, x, y + cap, stroke, width * 0.75)];
  return [lineMark(from, y, to, y, stroke, width), ...end(from, x1 < left, 1), ...end(to, x2 > right, -1)];
}

/** A dot. With `hollow` it is a ring with that fill. */
export function dotMark(cx: number, cy: number, r: number, colour: string, hollow: string | null = null): Mark {
  const style = hollow ? { fill: hollow, stroke: colour, lineWidth: 1.75 } : { fill: colour };
  return { type: 'circle', shape: { cx, cy, r }, style };
}

export function rectMark(x: number, y: number, width: number, height: number, fill: string): Mark {
  return { type: 'rect', shape: { x, y, width: Math.max(0, width), height }, style: { fill } };
}

export const areaMark = (points: [number, number][], fill: string, opacity: number): Mark => ({
  type: 'polygon',
  shape: { points },
  style: { fill, opacity },
});

/** A transparent rectangle that receives the pointer events of a whole row. */
export const hitMark = (x: number, y: number, width: number, height: number): Mark =>
  rectMark(x, y, width, height, 'rgba(0,0,0,0)');
