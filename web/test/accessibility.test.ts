// axe-core finds no violation, in the light and the dark theme, on wide and narrow screens.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipReason } from './browser';
import { Pages } from './pages';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = [
  'golden-decided',
  'golden-undecided',
  'golden-equivalent',
  'golden-broken',
  'golden-load',
  'golden-pushes',
  'golden-profile',
  'golden-explained',
  'golden-slo',
  'golden-ladder',
  'golden-sequential',
  'interrupted',
  'checked',
  'families',
  'thousand',
];
const NARROW = { viewport: { width: 390, height: 844 } };

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

const skipped = skipReason();
describe.skipIf(skipped)('axe-core', () => {
  let pages: Pages;
  beforeAll(() => {
    pages = new Pages();
  });
  afterAll(() => pages.close());

  test.each([
    ...PAGES.map((kind) => [kind, {}] as const),
    ...['golden-decided', 'golden-load', 'golden-explained', 'families'].flatMap((kind) => [
      [kind, { colorScheme: 'dark' }] as const,
      [kind, NARROW] as const,
    ]),
  ])('finds no violation in "%s" with %j', async (kind, options) => {
    const { page } = await pages.open(kind, options);
    await Pages.drawAll(page);
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      type Options = { resultTypes: string[]; preload: boolean };
      const { axe } = window as unknown as {
        axe: { run(options: Options): Promise<{ violations: Violation[] }> };
      };
      // Without the details of what is right, and without fetching style sheets, which are in the page.
      return (await axe.run({ resultTypes: ['violations'], preload: false })).violations;
    });
    const found = violations.map(
      (v) =>
        `${v.id}: ${v.nodes
          .slice(0, 3)
          .map((n) => `${n.target.join(' ')} — ${n.failureSummary}`)
          .join('; ')}`,
    );
    expect(found).toEqual([]);
    await page.context().close();
  });
});
