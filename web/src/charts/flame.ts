// Draws a flame graph as rows of boxes with names, root below or above. src/flame computes the layout.

import type { Box } from '../flame/tree';
import { inkFor, mix } from '../flame/colour';
import type { Theme } from '../theme';
import { baseOption, HIDDEN_AXIS, tip, type Option } from './echarts';
import { markSeries, textMark, type Mark } from './marks';

const ROW_PX = 17;
/** Narrower boxes have no name. */
const NAMED_PX = 30;
/** Narrower boxes are not drawn: they cannot be distinguished, and they would make the page slow. */
export const MIN_BOX_PX = 1.5;

/** The share of its colour that an ancestor of the zoomed frame keeps. */
const PALE = 0.45;

export interface Flame {
  boxes: Box[];
  icicle: boolean;
  /** Rows of the whole graph, so that zooming keeps its height. */
  rows: number;
  name(node: number): string;
  colour(box: Box): string;
  marked(node: number): boolean;
  tip(node: number): [string, string][];
}

export const flameHeight = (rows: number): number => Math.max(4, rows) * ROW_PX + 4;

export function flameOption(flame: Flame, t: Theme): Option {
  const { boxes } = flame;
  return {
    ...baseOption(t, ({ dataIndex }) => {
      const { node } = boxes[dataIndex]!;
      return tip(flame.name(node), flame.tip(node));
    }),
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: HIDDEN_AXIS,
    yAxis: HIDDEN_AXIS,
    series: [
      markSeries(
        boxes.map((box) => String(box.node)),
        (i) => marks(flame, boxes[i]!, t),
        { progressive: 0 },
      ),
    ],
  };
}

function marks(flame: Flame, box: Box, t: Theme): Mark[] {
  const row = flame.icicle ? box.row : flame.rows - 1 - box.row;
  const y = row * ROW_PX + 2;
  // Ancestors of the zoomed frame are pale. The colour is opaque, so that the contrast of the text can be computed.
  const fill = box.above ? mix(t.paper, flame.colour(box), PALE) : flame.colour(box);
  const marked = flame.marked(box.node);
  const width = Math.max(0.5, box.width - (box.width > 3 ? 1 : 0));
  const style = {
    fill,
    ...(marked ? { stroke: t.ink, lineWidth: 1.5 } : {}),
  };
  const rect: Mark = { type: 'rect', shape: { x: box.x, y, width, height: ROW_PX - 1 }, style };
  if (width < NAMED_PX) return [rect];
  const name = flame.name(box.node);
  return [rect, textMark(box.x + 4, y + ROW_PX / 2, name, inkFor(fill), { size: 11, bold: marked, width: width - 6 })];
}
