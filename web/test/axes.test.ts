// Where ticks and labels go.

import { expect, test } from 'vitest';
import { spread } from '../src/charts/end_labels';
import { decadeTicks, ninesOf, ninesTicks, plainTicks, ratioTicks } from '../src/charts/ticks';

test('a ratio axis keeps 100 % and never crowds its labels', () => {
  for (const [lo, hi, px] of [
    [-0.1, 0.1, 300],
    [-1.2, 0.2, 250],
    [-0.3, 2.5, 700],
  ] as const) {
    const ticks = ratioTicks(lo, hi, px);
    expect(ticks.map((t) => t.text)).toContain('100 %');
    const places = ticks.map((t) => ((t.at - lo) / (hi - lo)) * px);
    for (let i = 1; i < places.length; i++) expect(places[i]! - places[i - 1]!).toBeGreaterThanOrEqual(46);
  }
});

test('each nine takes the same room on the log-nines axis', () => {
  expect(ninesOf(90)).toBeCloseTo(1);
  expect(ninesOf(99.999)).toBeCloseTo(5);
  expect(ninesTicks(6, 900).at(-1)!.text).toBe('99.9999');
  expect(ninesTicks(2, 300).at(-1)!.text).toBe('99');
});

test('plain ticks begin at zero and reach the greatest value', () => {
  expect(plainTicks(18.8, 5)).toEqual([0, 5, 10, 15, 20]);
  expect(plainTicks(0, 5)).toEqual([0, 1]);
});

test('a wide logarithmic range shows powers of ten only', () => {
  expect(decadeTicks(1, 100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(decadeTicks(0.1, 1e5)).toHaveLength(7);
});

test('a range without a power of ten has ticks all the same', () => {
  expect(decadeTicks(280, 354)).toEqual([280, 300, 320, 340]);
});

test('labels that want the same place are set apart within the plot and keep their order', () => {
  const placed = spread([50, 50, 51, 10], 16, 0, 100);
  expect(placed[3]).toBeCloseTo(10, 0);
  const sorted = [...placed].sort((a, b) => a - b);
  for (let i = 1; i < sorted.length; i++) expect(sorted[i]! - sorted[i - 1]!).toBeGreaterThan(15.5);
  expect(placed[0]!).toBeLessThan(placed[2]!);
});
