// What holds for every page: its charts are drawn and described, and axe-core finds no violation, on wide and on narrow screens.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FIXTURES } from '../fixtures/index';
import { describePages, GOLDEN_PAGES, Pages } from './pages';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Pages with the parts of a golden one, and no others. */
const LIKE_OTHERS = [
  'compared',
  'again',
  'sequential',
  'explained',
  'profiled',
  'stacks',
  'hostile',
  'empty',
  'listened',
  'golden-odd-start',
  'golden-slo-alone',
];
/** Pages that differ from another one in these parts alone. */
const OWN_PARTS: Record<string, string[]> = {
  checked: ['#answer', '#limits'],
  interrupted: ['#answer', '#pushes', '#cells', '#findings'],
};
const DARK = ['golden-decided', 'golden-load', 'golden-explained', 'families'];
const NARROW = [...DARK, 'compared', 'sequential', 'interrupted', 'hostile', 'empty'];

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** Rows of a chart's hidden table that axe-core sees. The others are alike: up to 300, of 14 cells. */
const TABLE_ROWS = 4;

async function shortenTables(page: Page): Promise<void> {
  await page.evaluate((count) => {
    for (const body of document.querySelectorAll<HTMLTableSectionElement>('.figure .sr tbody'))
      for (const row of [...body.rows].slice(count)) row.remove();
  }, TABLE_ROWS);
}

/** What axe-core finds in these parts of a page, by all of its rules or by those named. */
async function violations(page: Page, parts = ['html'], rules?: string[]): Promise<string[]> {
  await shortenTables(page);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const asked = { parts, rules };
  const found = await page.evaluate(async ({ parts, rules }) => {
    type Options = { resultTypes: string[]; preload: boolean; runOnly?: string[] };
    const { axe } = window as unknown as {
      axe: { run(context: { include: string[] }, options: Options): Promise<{ violations: Violation[] }> };
    };
    // Without the details of what is right, and without fetching style sheets, which are in the page.
    const options = { resultTypes: ['violations'], preload: false };
    return (await axe.run({ include: parts }, rules ? { ...options, runOnly: rules } : options)).violations;
  }, asked);
  const describeNode = (n: Violation['nodes'][number]) => `${n.target.join(' ')} — ${n.failureSummary}`;
  return found.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map(describeNode).join('; ')}`);
}

/** Waits until the charts are drawn at a new size of the page: observers are called after a frame has begun. */
async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The figures whose chart is not drawn, has no title, no text alternative, or no table. */
function incompleteFigures(page: Page): Promise<string[]> {
  return page.locator('.figure:has(.chart)').evaluateAll((figures) => {
    const isComplete = (figure: Element) =>
      figure.querySelector('.chart svg path') !== null &&
      figure.querySelector('h3')!.textContent!.length > 5 &&
      figure.querySelector('.chart')!.getAttribute('aria-label')!.length > 20 &&
      figure.querySelector('.sr tbody tr') !== null;
    return figures.filter((figure) => !isComplete(figure)).map((figure) => figure.id);
  });
}

describePages('every page', (pages) => {
  test.each([...Object.keys(FIXTURES), ...GOLDEN_PAGES])(
    '"%s" draws and describes its charts, uses no network, fits narrow screens, and is accessible',
    async (name) => {
      const { page, consoleErrors, requests } = await pages.open(name);
      await Pages.drawAll(page);
      expect(await incompleteFigures(page)).toEqual([]);
      if (!LIKE_OTHERS.includes(name)) expect(await violations(page, OWN_PARTS[name])).toEqual([]);
      if (DARK.includes(name)) {
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await violations(page, ['html'], ['color-contrast', 'link-in-text-block'])).toEqual([]);
        await page.emulateMedia({ colorScheme: 'light' });
      }
      if (NARROW.includes(name)) {
        await page.setViewportSize({ width: 360, height: 740 });
        await nextFrame(page);
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
        if (DARK.includes(name)) expect(await violations(page)).toEqual([]);
      }
      expect(consoleErrors).toEqual([]);
      expect(requests).toEqual([]);
    },
  );
});
