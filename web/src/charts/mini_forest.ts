// A small forest plot for a cell of the answer table: a dot for each start, the interval, the region as a band.
// It is plain SVG in the colours of the page, so it appears at once, follows the theme and can be printed.

import { svgElement } from '../dom';
import { formatSignedWhole } from '../format/number';
import type { Currency } from '../summary';
import type { Tick } from './ticks';

const WIDTH = 168;
const HEIGHT = 30;
const SCALE_HEIGHT = 22;
const EDGE = 8;
const LINE_Y = 12;
const STARTS_Y = 24;
const ARROW = 4.5;
/** The width of the band of the region that estimates near it are drawn for. Narrow columns shrink the chart by up to a quarter. */
const BAND_PX = 14;
const LEAST_BAND_PX = 3;

/** Half the width of an axis around 1, as a logarithm: ±10 %, or three times the largest estimate as far as BAND_PX allows. Each
 * estimate has a place on it. */
export function axisHalfWidth(ratios: number[], region: number): number {
  const largest = Math.max(0, ...ratios.map((ratio) => Math.abs(Math.log(ratio))));
  const widest = (Math.log(1 + region) * (WIDTH - 2 * EDGE)) / BAND_PX;
  return Math.max(Math.log(1.1), Math.min(3 * largest, Math.max(widest, 1.2 * largest)));
}

/** Pairs of changes for the ticks of a scale. The widest pair that fits is used. */
const SCALE_STEPS: [lower: number, higher: number][] = [
  [-1, 1],
  [-2, 2],
  [-5, 5],
  [-10, 10],
  [-20, 20],
  [-30, 30],
  [-50, 100],
  [-75, 300],
  [-90, 900],
];
const HALF_TICK = 18;

/** The ticks of a scale, at logarithms of the ratio. */
export function scaleTicks(halfWidth: number): Tick[] {
  const room = (halfWidth * (WIDTH / 2 - HALF_TICK)) / (WIDTH / 2 - EDGE);
  const at = (percent: number) => Math.log1p(percent / 100);
  const widest = SCALE_STEPS.findLast((pair) => pair.every((percent) => Math.abs(at(percent)) <= room)) ?? [];
  const tick = (percent: number): Tick => ({ at: at(percent), text: `${formatSignedWhole(percent)}\u00a0%` });
  return [...widest.map(tick), { at: 0, text: '0' }].sort((a, b) => a.at - b.at);
}

/** The scale of the small forest plots in a column: a line with numbers. */
export function miniScale(halfWidth: number): SVGSVGElement {
  const middle = WIDTH / 2;
  const svg = svgElement('svg', {
    viewBox: `0 0 ${WIDTH} ${SCALE_HEIGHT}`,
    class: 'mini-scale',
    'aria-hidden': 'true',
  });
  svg.append(svgElement('line', { x1: EDGE, x2: WIDTH - EDGE, y1: SCALE_HEIGHT - 1, y2: SCALE_HEIGHT - 1 }));
  for (const tick of scaleTicks(halfWidth)) {
    const x = middle + (tick.at / halfWidth) * (middle - EDGE);
    const text = svgElement('text', { x, y: SCALE_HEIGHT - 8 });
    text.textContent = tick.text;
    svg.append(svgElement('line', { x1: x, x2: x, y1: SCALE_HEIGHT - 5, y2: SCALE_HEIGHT - 1 }), text);
  }
  return svg;
}

/** The estimate is a ring unless the comparison is decided. */
export function miniForest(figure: Currency, isDecided: boolean, halfWidth: number, region: number): SVGSVGElement {
  const middle = WIDTH / 2;
  const x = (ratio: number) => middle + (Math.log(ratio) / halfWidth) * (middle - EDGE);
  const clamp = (px: number) => Math.min(WIDTH - EDGE, Math.max(EDGE, px));
  const svg = svgElement('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'mini-forest', 'aria-hidden': 'true' });
  const half = Math.max(LEAST_BAND_PX / 2, x(1 + region) - middle);
  svg.append(
    svgElement('rect', { class: 'band', x: middle - half, y: 0, width: 2 * half, height: HEIGHT }),
    svgElement('line', { class: 'baseline', x1: middle, x2: middle, y1: 0, y2: HEIGHT }),
  );
  const beyond = (px: number, y: number, size: number) => arrow(clamp(px), y, px < middle ? -1 : 1, size);
  const dot = (px: number, y: number, r: number, arrowSize: number, className: string) => {
    const mark = px === clamp(px) ? svgElement('circle', { cx: px, cy: y, r }) : beyond(px, y, arrowSize);
    mark.setAttribute('class', className);
    return mark;
  };
  if (figure.lo !== null && figure.hi !== null) {
    const ends = [x(figure.lo), x(figure.hi)] as const;
    svg.append(
      svgElement('line', { class: 'interval', x1: clamp(ends[0]), x2: clamp(ends[1]), y1: LINE_Y, y2: LINE_Y }),
      ...ends.filter((px) => px !== clamp(px)).map((px) => beyond(px, LINE_Y, 1)),
    );
  }
  for (const start of figure.fork_ratios) svg.append(dot(x(start), STARTS_Y, 2.2, 0.7, 'start'));
  svg.append(dot(x(figure.ratio), LINE_Y, 5, 1.5, isDecided ? 'estimate' : 'estimate open'));
  return svg;
}

/** An arrowhead at the end of the axis, for a value beyond it. */
function arrow(x: number, y: number, towards: -1 | 1, size: number): SVGElement {
  const [tip, back, rise] = [x + towards * ARROW * size, x - towards * ARROW * 0.4 * size, ARROW * size];
  const points = `${tip},${y} ${back},${y - rise} ${back},${y + rise}`;
  return svgElement('polygon', { class: 'arrow', points });
}
