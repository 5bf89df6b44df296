// The rows, headings and colours of a panel.

import { expect, test } from 'vitest';
import {
  drawnCells,
  hasHiddenRows,
  hiddenRowsText,
  leftOutText,
  panelHeading,
  panelId,
  type Model,
  type Panel,
} from '../src/model';
import { colourStrength } from '../src/palette';
import { choice, choose, watch } from '../src/state';
import type { Cell, Comparison, RunInfo, ValidityState } from '../src/summary';

const cell = (variant: string, state: ValidityState): Cell => ({ variant, validity: { state } }) as unknown as Cell;
const run = (mode: RunInfo['mode']): Model => ({ summary: { run: { mode } } }) as unknown as Model;

test('charts do not draw a void server beside others, but name it', () => {
  const panel = { cells: [cell('bare', 'valid'), cell('a', 'void'), cell('b', 'suspect')] } as unknown as Panel;
  expect(drawnCells(run('compared'), panel).map((c) => c.variant)).toEqual(['bare', 'b']);
  expect(leftOutText(run('compared'), panel)).toBe('× Void, and not drawn: a.');
});

test('a void load is drawn: it stands alone, and shows when it failed', () => {
  const panel = { cells: [cell('http://a', 'void')] } as unknown as Panel;
  expect(drawnCells(run('load'), panel)).toHaveLength(1);
  expect(leftOutText(run('load'), panel)).toBe('');
});

test('a panel heading does not repeat the variants that its rows name', () => {
  const panel = (title: string, ...variants: string[]): Panel => {
    const comparisons = variants.map((variant) => ({ variant }) as Comparison);
    return { title, scenario: 'Get', comparisons } as unknown as Panel;
  };
  expect(panelHeading(panel('http4s.Tapir · Get', 'http4s.Tapir'))).toBe('Get');
  expect(panelHeading(panel('netty · Get', 'netty.Tapir'))).toBe('netty · Get');
});

test('the charts of two scenarios have two ids, in any alphabet', () => {
  const id = (key: string) => panelId('latency', { key } as Panel);
  expect(id('http4s/GET /path0')).toBe('latency-http4s-GET-path0');
  expect(id('shop/Αγορά')).not.toBe(id('shop/Λίστα'));
});

test('a chart with hidden rows says how many', () => {
  const panel = (count: number): Panel => {
    const cells = Array.from({ length: count }, (_, at) => ({ ...cell(`v${at}`, 'valid'), baseline: at === 0 }));
    return { cells } as unknown as Panel;
  };
  expect(hiddenRowsText(panel(30))).toBe('');
  expect(hiddenRowsText(panel(99))).toBe('Shows 30 of 99 servers; “every row” above the charts shows all.');
  choice.everyRow = true;
  expect(hiddenRowsText(panel(99))).toBe('');
  choice.everyRow = false;
});

test('every row can be asked for where only the ranking of all groups omits some', () => {
  const list = (length: number) => Array.from({ length }, () => ({}));
  const panel = { scenario: 'Get', cells: list(6), comparisons: list(5) };
  const families = (count: number): Model =>
    ({ large: true, scenarios: ['Get'], panels: list(count).map(() => panel) }) as unknown as Model;
  expect(hasHiddenRows(families(6))).toBe(false);
  expect(hasHiddenRows(families(7))).toBe(true);
});

test('the largest change of a run has the strongest colour, and one half as large a weaker one', () => {
  const strength = colourStrength([1.05, 1.69, 5.66]);
  expect(strength(5.66)).toBe(1);
  expect(strength(1.69)).toBeCloseTo(0.55, 2);
  expect(strength(1.05)).toBeGreaterThan(0.15);
  expect(colourStrength([1.02])(1.02)).toBeLessThan(0.25);
});

test('a chart that is gone hears of no choice', () => {
  let heard = 0;
  const unwatch = watch(['scale'], () => heard++);
  choose({ scale: 'linear' });
  unwatch();
  choose({ scale: 'log' });
  expect(heard).toBe(1);
});
