import { expect, test } from 'vitest';
import type { Cell, Concern, ValidityState } from '../src/summary';
import { measureOf, reasonsIn, validityIn, validityText } from '../src/validity';

const cell = (state: ValidityState, ...concerns: (Concern | undefined)[]): Cell => {
  const reasons = concerns.map((concern) => ({ text: 'x', remedy: null, ...(concern && { concerns: concern }) }));
  return { validity: { state, reasons } } as unknown as Cell;
};

test('a reason about one measure makes only its figures suspect', () => {
  const late = cell('valid', 'latency');
  const states = ['latency_p99', 'capacity', 'cpu_per_request', 'throughput', 'memory'].map((name) =>
    validityIn(late, name),
  );
  expect(states).toEqual(['suspect', 'suspect', 'valid', 'valid', 'valid']);
  expect(validityText(late)).toBe('valid, latency suspect');
  expect(reasonsIn(late, 'throughput')).toEqual([]);
});

test('a reason about everything, and one of an older file, make all figures suspect', () => {
  for (const concern of ['everything', undefined] as const) {
    const doubted = cell('suspect', concern);
    expect([validityIn(doubted, 'throughput'), validityIn(doubted, 'memory')]).toEqual(['suspect', 'suspect']);
    expect([validityText(doubted), measureOf(doubted.validity.reasons[0]!)]).toEqual(['suspect', '']);
  }
});

test('a void cell is void in every measure', () => {
  expect(validityIn(cell('void'), 'throughput')).toBe('void');
  expect(validityText(cell('void', 'latency'))).toBe('void');
});

test('each suspect measure is named once', () => {
  const two = cell('valid', 'throughput', 'latency', 'latency');
  expect(validityText(two)).toBe('valid, throughput and latency suspect');
});
