// What charts show of a panel, and what stands above its rows.

import { expect, test } from 'vitest';
import { drawnCells, headOf, leftOutText, type Model, type Panel } from '../src/model';
import type { Cell, Comparison, RunInfo, ValidityState } from '../src/summary';

const cell = (variant: string, state: ValidityState): Cell => ({ variant, validity: { state } }) as unknown as Cell;
const run = (mode: RunInfo['mode']): Model => ({ summary: { run: { mode } } }) as unknown as Model;

test('a void server is drawn in no chart beside others, and is named', () => {
  const panel = { cells: [cell('bare', 'valid'), cell('a', 'void'), cell('b', 'suspect')] } as unknown as Panel;
  expect(drawnCells(run('compared'), panel).map((c) => c.variant)).toEqual(['bare', 'b']);
  expect(leftOutText(run('compared'), panel)).toBe('× Void, and not drawn: a.');
});

test('a void load is drawn: it stands alone, and shows when it failed', () => {
  const panel = { cells: [cell('http://a', 'void')] } as unknown as Panel;
  expect(drawnCells(run('load'), panel)).toHaveLength(1);
  expect(leftOutText(run('load'), panel)).toBe('');
});

test('a head above rows that name their variants does not name them too', () => {
  const panel = (title: string, ...variants: string[]): Panel => {
    const comparisons = variants.map((variant) => ({ variant }) as Comparison);
    return { title, scenario: 'Get', comparisons } as unknown as Panel;
  };
  expect(headOf(panel('http4s.Tapir · Get', 'http4s.Tapir'))).toBe('Get');
  expect(headOf(panel('netty · Get', 'netty.Tapir'))).toBe('netty · Get');
});
