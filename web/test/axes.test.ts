// Positions of ticks and labels.

import { expect, test } from 'vitest';
import { spreadApart } from '../src/charts/end_labels';
import { clipToAxis, timeAxis, timeTicks, positionText, type TimeLine } from '../src/charts/time_axis';
import { contrast } from '../src/flame/colour';
import { DARK, LIGHT } from '../src/palette';
import type { TimePoint } from '../src/summary';
import { axisHalfWidth, scaleTicks } from '../src/charts/mini_forest';
import { decadeTicks, extent, toNines, ninesTicks, ticksFromZero, ratioTicks } from '../src/charts/ticks';

test('a ratio axis keeps 0 % and never crowds its labels', () => {
  for (const [lo, hi, px] of [
    [-0.1, 0.1, 300],
    [-1.2, 0.2, 250],
    [-0.3, 2.5, 700],
  ] as const) {
    const ticks = ratioTicks(lo, hi, px);
    expect(ticks.map((t) => t.text)).toContain('0 %');
    const places = ticks.map((t) => ((t.at - lo) / (hi - lo)) * px);
    for (let i = 1; i < places.length; i++) expect(places[i]! - places[i - 1]!).toBeGreaterThanOrEqual(46);
  }
});

test('a ratio axis leaves out a label that the edge would cut', () => {
  const [lo, hi, px] = [Math.log(0.918), Math.log(1.06), 420];
  const texts = (beside: [number, number]) => ratioTicks(lo, hi, px, beside).map((t) => t.text);
  expect(texts([20, 20])).toContain('−8 %');
  expect(texts([4, 4])).not.toContain('−8 %');
});

test('the scale of a small forest plot has the baseline and one round change on each side', () => {
  const texts = (axis: number) => scaleTicks(axis).map((t) => t.text.replace('\u00a0', ' '));
  expect(texts(axisHalfWidth([1.01], 0.05))).toEqual(['−5 %', '0', '+5 %']);
  expect(texts(axisHalfWidth([1.08], 0.05))).toEqual(['−10 %', '0', '+10 %']);
  expect(texts(axisHalfWidth([33], 0.2))).toEqual(['−90 %', '0', '+900 %']);
});

test('each estimate has a place on the axis of a small forest plot', () => {
  for (const [largest, region] of [
    [1.33, 0.02],
    [1.6, 0.02],
    [0.4, 0.05],
    [33, 0.05],
  ] as const)
    expect(axisHalfWidth([1, largest], region)).toBeGreaterThan(Math.abs(Math.log(largest)));
});

test('each nine has the same width on the log-nines axis', () => {
  expect(toNines(90)).toBeCloseTo(1);
  expect(toNines(99.999)).toBeCloseTo(5);
  expect(ninesTicks(6, 900).at(-1)!.text).toBe('99.9999');
  expect(ninesTicks(2, 300).at(-1)!.text).toBe('99');
});

test('linear ticks start at zero and reach the largest value', () => {
  expect(ticksFromZero(18.8, 5)).toEqual([0, 5, 10, 15, 20]);
  expect(ticksFromZero(0, 5)).toEqual([0, 1]);
});

test('the ends are found of more values than a function takes', () => {
  const values = Array.from({ length: 300_000 }, (_, i) => i + 2);
  expect(extent([null, 0, ...values])).toEqual([2, 300_001]);
  expect(extent([])).toEqual([1, 1]);
});

test('a wide logarithmic range shows powers of ten only', () => {
  expect(decadeTicks(1, 100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(decadeTicks(0.1, 1e5)).toHaveLength(7);
});

test('a range without a power of ten has ticks', () => {
  expect(decadeTicks(280, 354)).toEqual([280, 300, 320, 340]);
});

test('labels for the same position are moved apart within the plot and keep their order', () => {
  const placed = spreadApart([50, 50, 51, 10], 16, 0, 100);
  expect(placed[3]).toBeCloseTo(10, 0);
  const sorted = [...placed].sort((a, b) => a - b);
  for (let i = 1; i < sorted.length; i++) expect(sorted[i]! - sorted[i - 1]!).toBeGreaterThan(15.5);
  expect(placed[0]!).toBeLessThan(placed[2]!);
});

/** Two starts of 10 s, of which the second was set aside. */
function twoStarts(): TimeLine {
  const at = (fork: number, t_s: number) => ({ fork, t_s, phase: t_s % 100 < 2 ? 'warmup' : 'scored' }) as TimePoint;
  const timeline = [0, 5, 10].flatMap((t) => [at(1, t), at(2, 100 + t)]);
  return { label: 'a', mark: '', text: '', cell: { timeline, forks_set_aside: [2] } as unknown as TimeLine['cell'] };
}

test('starts are side by side on a time axis, each from its own second 0', () => {
  const axis = timeAxis([twoStarts()], false, null);
  expect(axis.forks.map((f) => [f.fork, f.length, f.aside])).toEqual([
    [1, 10, false],
    [2, 10, true],
  ]);
  expect(
    timeTicks(axis, 900)
      .map((t) => t.text)
      .filter((t) => t === '0'),
  ).toHaveLength(2);
  expect(positionText(axis, 5)).toBe('start 1, 5.0 s');
  expect(positionText(axis, axis.end)).toBe('start 2 (left out), 10.0 s');
});

test('a zoomed time axis has finer ticks and shows only its part of each start', () => {
  const axis = timeAxis([twoStarts()], false, [4, 6]);
  const ticks = timeTicks(axis, 900);
  expect(ticks.length).toBeGreaterThan(5);
  for (const { at } of ticks) expect(at >= 4 && at <= 6).toBe(true);
  expect(clipToAxis(axis, 0, 10)).toEqual([4, 6]);
  expect(clipToAxis(axis, 7, 10)).toBe(null);
});

test.each([
  ['light', LIGHT],
  ['dark', DARK],
])('every fill of a %s chart has a contrast of 3:1 with its paper', (_, t) => {
  for (const fill of [...t.series, ...t.kinds, t.baseline, t.control, t.worse, t.better, t.undecided])
    expect.soft(contrast(fill, t.paper), fill).toBeGreaterThanOrEqual(3);
  for (const ink of [...t.seriesInk, t.ink, t.muted])
    expect.soft(contrast(ink, t.paper), ink).toBeGreaterThanOrEqual(4.5);
});
