// Labels at the ends of lines. They are moved apart until none covers another; a thin leader connects each with its line.

import { layer, lineMark, textMark, type Mark, type Plot, type ToPx } from './marks';
import type { Option } from './echarts';
import type { Theme } from '../theme';

/** A label for the line that ends at (x, y), in the units of the axes. */
export interface EndLabel {
  text: string;
  colour: string;
  at: [number, number];
}

/** From this width on, lines have their names at their ends. Narrower charts have a key. */
export const NAMED_PX = 620;
const MIN_GAP_PX = 16;
const LEADER_PX = 14;
const LETTER_PX = 6.7;

/** The width that labels and their leaders need to the right of a plot, in pixels. */
export function endLabelWidth(names: string[]): number {
  return Math.min(220, Math.max(90, ...names.map((n) => n.length * LETTER_PX + LEADER_PX + 14)));
}

/** Positions near the desired ones and in the same order, at least `gap` apart, from `min` to `max`. */
export function spreadApart(desired: number[], gap: number, min: number, max: number): number[] {
  const order = desired.map((_, i) => i).sort((a, b) => desired[a]! - desired[b]!);
  const placed = order.map((i) => desired[i]!);
  // Each sweep moves neighbours apart by half of what is missing. This converges near the desired positions.
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let k = 1; k < placed.length; k++) {
      const missing = gap - (placed[k]! - placed[k - 1]!);
      if (missing > 0) {
        placed[k - 1]! -= missing / 2;
        placed[k]! += missing / 2;
      }
    }
    const over = Math.max(0, (placed.at(-1) ?? 0) - max);
    const under = Math.max(0, min - (placed[0] ?? min));
    for (let k = 0; k < placed.length; k++) placed[k]! += under - (under ? 0 : over);
  }
  const out: number[] = [];
  order.forEach((i, k) => (out[i] = placed[k]!));
  return out;
}

export function endLabelSeries(labels: EndLabel[], right: number, room: number, t: Theme): Option {
  const draw = (px: ToPx, { x, y, width, height }: Plot): Mark[] => {
    const ends = labels.map((l) => px(l.at));
    const levels = ends.map((end) => end[1]);
    const places = spreadApart(levels, MIN_GAP_PX, y, y + height);
    const from = x + width + right - room;
    return labels.flatMap((l, i) => [
      lineMark(Math.min(ends[i]![0] + 4, from), ends[i]![1], from + LEADER_PX - 4, places[i]!, t.faint, 0.75),
      textMark(from + LEADER_PX, places[i]!, l.text, l.colour, { width: room - LEADER_PX }),
    ]);
  };
  return layer(draw, { z: 4 });
}
