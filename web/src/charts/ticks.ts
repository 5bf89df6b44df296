// The ticks of linear, logarithmic, ratio and log-nines axes.

import { formatSignedWhole } from '../format/number';

/** A position on an axis and its label. */
export interface Tick {
  at: number;
  text: string;
}

/** The smallest round step that is at least as large as `rough`. */
function roundStep(rough: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  return magnitude * ([1, 2, 2.5, 5, 10].find((m) => m * magnitude >= rough) ?? 10);
}

/** Round steps from zero that reach at least `max`. */
export function ticksFromZero(max: number, count: number): number[] {
  if (!(max > 0)) return [0, 1];
  const step = roundStep(max / count);
  const out = [];
  for (let i = 0; i * step < max + step * 0.999; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** The label of a tick, without trailing zeros. */
export function tickText(value: number): string {
  return Number(value.toPrecision(6)).toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

/** 1, 2 and 5 of each decade in a range; only the powers of ten if the range is wide. */
export function decadeTicks(min: number, max: number): number[] {
  const from = Math.floor(Math.log10(min));
  const to = Math.ceil(Math.log10(max));
  const steps = to - from > 4 ? [1] : [1, 2, 5];
  const out = [];
  for (let e = from; e <= to; e++) for (const s of steps) out.push(s * 10 ** e);
  const inside = out.filter((v) => v >= min * 0.999 && v <= max * 1.001);
  return inside.length > 1 ? inside : ticksBetween(min, max);
}

/** Round steps in a range that contains at most one power of ten. */
export function ticksBetween(min: number, max: number): number[] {
  const step = roundStep((max - min) / 4);
  const out = [];
  for (let i = Math.ceil(min / step); i * step <= max; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** A value axis: the position of a value, the ends and the ticks. */
export interface ValueScale {
  at: (value: number) => number;
  range: [number, number];
  ticks: Tick[];
}

/** The smallest and the largest of the values above zero. A load of two days has more than Math.max takes at once. */
export function extent(values: (number | null)[]): [min: number, max: number] {
  let [min, max] = [Infinity, 0];
  for (const value of values) {
    if (value === null || value <= 0) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return max > 0 ? [min, max] : [1, 1];
}

/** The axis of values between these ends, from zero or logarithmic. Its ticks are in a unit with this divisor. */
export function valueScale([min, max]: [number, number], divisor: number, log: boolean): ValueScale {
  if (!log) {
    const ticks = ticksFromZero(max / divisor, 4).map((v) => ({ at: v, text: tickText(v) }));
    const top = Math.max((max / divisor) * 1.04, ticks.at(-1)!.at);
    return { at: (v) => v / divisor, range: [0, top], ticks };
  }
  const [from, to] = [(min / divisor) * 0.8, (max / divisor) * 1.25];
  const ticks = decadeTicks(from, to).map((v) => ({ at: Math.log10(v), text: tickText(v) }));
  return { at: (v) => Math.log10(v / divisor), range: [Math.log10(from), Math.log10(to)], ticks };
}

/** Ticks of a ratio axis in per cent of the baseline, in order of preference. */
const RATIO_STEPS = [
  [100],
  [50, 200],
  [25, 75, 150, 300, 400],
  [10, 90, 110, 125, 500, 800],
  [60, 80, 120, 5, 1000, 10_100, 100_100, 1_000_100, 1],
  [70, 85, 95, 105, 115, 40, 30, 175, 250, 20],
  [98, 102, 92, 108, 97, 103, 96, 104, 94, 106, 99, 101],
];

/** Half the width of a label. */
const HALF_TICK_PX = 18;

/** Ticks at changes against the baseline, on the logarithm of the ratio: as many as fit, the roundest first, with no label cut at
 * the edge. `besidePx` is the room to the left and to the right of the axis. */
export function ratioTicks(
  lo: number,
  hi: number,
  widthPx: number,
  besidePx: [number, number] = [HALF_TICK_PX, HALF_TICK_PX],
): Tick[] {
  const at = (percent: number) => Math.log(percent / 100);
  const px = (x: number) => ((x - lo) / (hi - lo)) * widthPx;
  const kept: number[] = [];
  for (const step of RATIO_STEPS.flat()) {
    const x = at(step);
    if (x < lo || x > hi) continue;
    if (px(x) + besidePx[0] < HALF_TICK_PX || widthPx - px(x) + besidePx[1] < HALF_TICK_PX) continue;
    if (kept.every((k) => Math.abs(px(at(k)) - px(x)) >= 46)) kept.push(step);
  }
  return kept.sort((a, b) => a - b).map((p) => ({ at: at(p), text: `${formatSignedWhole(p - 100)} %` }));
}

/** The position of a percentile on the log-nines axis: 90 → 1, 99 → 2, 99.9 → 3. */
export function toNines(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** Ticks of the log-nines axis up to a number of nines; fewer if there is little room. */
export function ninesTicks(top: number, widthPx: number): Tick[] {
  const all = [0, 50, 75, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999];
  const fits = (p: number) => toNines(p) <= top + 1e-9;
  const hasRoom = widthPx / Math.max(top, 1) > 170;
  return all
    .filter((p) => fits(p) && (hasRoom || (p !== 75 && p !== 50) || (p === 50 && widthPx / top > 90)))
    .map((p) => ({ at: toNines(p), text: String(p) }));
}
