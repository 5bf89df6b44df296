// Marks that the custom charts draw: text, lines, dots, bars. Plain shapes in ECharts' form.

import { FONT } from './echarts';

export type Mark = Record<string, unknown>;

interface TextOptions {
  align?: 'left' | 'center' | 'right';
  bold?: boolean;
  size?: number;
  /** Cut with an ellipsis beyond this width. */
  width?: number;
  /** Ground colour drawn around the letters, where they stand on lines. */
  halo?: string;
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
      ...(o.width ? { width: o.width, overflow: 'truncate', ellipsis: '…' } : {}),
    },
  };
}

export function lineMark(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1): Mark {
  return { type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: width, lineCap: 'butt' } };
}

/** An interval: a line with short ends. */
export function whisker(x1: number, x2: number, y: number, stroke: string, width = 2, cap = 4): Mark[] {
  return [
    lineMark(x1, y, x2, y, stroke, width),
    lineMark(x1, y - cap, x1, y + cap, stroke, width * 0.75),
    lineMark(x2, y - cap, x2, y + cap, stroke, width * 0.75),
  ];
}

/** A dot, hollow where the value has no interval. */
export function dotMark(cx: number, cy: number, r: number, colour: string, hollow: string | null = null): Mark {
  const style = hollow ? { fill: hollow, stroke: colour, lineWidth: 1.75 } : { fill: colour };
  return { type: 'circle', shape: { cx, cy, r }, style };
}

export function rectMark(x: number, y: number, width: number, height: number, fill: string): Mark {
  return { type: 'rect', shape: { x, y, width: Math.max(0, width), height }, style: { fill } };
}

/** A transparent strip that makes a whole row answer to the pointer. */
export function hitMark(x: number, y: number, width: number, height: number): Mark {
  return { type: 'rect', shape: { x, y, width, height }, style: { fill: 'rgba(0,0,0,0)' } };
}
