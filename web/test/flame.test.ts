// The flame graph: its layout, its search, and its behaviour in Chromium.

import { describe, expect, test } from 'vitest';
import { flameOf } from '../fixtures/profile';
import { seededRandom } from '../fixtures/random';
import { contrast, differenceColour, inkFor, KINDS, kindColour, mix } from '../src/flame/colour';
import { DARK, LIGHT } from '../src/palette';
import { calleesOf, callersOf } from '../src/flame/sandwich';
import { layOutBoxes, matchNames, shareOf, buildTree, WHOLE } from '../src/flame/tree';
import type { FlameColumns } from '../src/summary';
import { describePages } from './pages';

/** main ─ a (60 %: b 40 %, c 10 %) and d (30 %). */
const COLUMNS: FlameColumns = {
  names: ['main', 'x.A.a', 'x.B.b', 'x.C.c', 'y.D.d'],
  kinds: 'njjij',
  frame: [0, 1, 2, 3, 4],
  depth: [0, 1, 2, 2, 1],
  value: [1, 0.6, 0.4, 0.1, 0.3].map((v) => v * WHOLE),
  base: [],
  cut: 0,
};

describe('the tree of a flame graph', () => {
  const tree = buildTree(COLUMNS);
  test('has the end and the parent of each node', () => {
    expect([...tree.end]).toEqual([5, 4, 3, 4, 5]);
    expect([...tree.parent]).toEqual([-1, 0, 1, 1, 0]);
  });
  test('is laid out with children side by side within their parent', () => {
    const boxes = layOutBoxes(tree, COLUMNS.value, -1, 1000, 1);
    expect(boxes.map((b) => [b.node, Math.round(b.x), Math.round(b.width), b.row])).toEqual([
      [0, 0, 1000, 0],
      [1, 0, 600, 1],
      [2, 0, 400, 2],
      [3, 400, 100, 2],
      [4, 600, 300, 1],
    ]);
  });
  test('gives the zoomed node and its ancestors the whole width', () => {
    const boxes = layOutBoxes(tree, COLUMNS.value, 1, 600, 1);
    expect(boxes.map((b) => [b.node, b.above, Math.round(b.x), Math.round(b.width)])).toEqual([
      [0, true, 0, 600],
      [1, false, 0, 600],
      [2, false, 0, 400],
      [3, false, 400, 100],
    ]);
  });
  test('omits boxes that are too narrow, with their children, without moving others', () => {
    const boxes = layOutBoxes(tree, COLUMNS.value, -1, 100, 35);
    expect(boxes.map((b) => b.node)).toEqual([0, 1, 2]);
  });
  test('counts a match within a match once in a share', () => {
    expect(shareOf(tree, COLUMNS.value, matchNames(COLUMNS, 'x.'))).toBeCloseTo(0.6);
    expect(shareOf(tree, COLUMNS.value, matchNames(COLUMNS, '/\\.(b|d)$/'))).toBeCloseTo(0.7);
    expect(shareOf(tree, COLUMNS.value, matchNames(COLUMNS, '/(/'))).toBe(0);
    expect(shareOf(tree, COLUMNS.value, matchNames(COLUMNS, '  '))).toBe(0);
  });
  test('of 50,000 stacks has fewer than 12,000 boxes', () => {
    const columns = flameOf(seededRandom(1), 50_000);
    expect(columns.frame.length).toBeGreaterThan(50_000);
    expect(layOutBoxes(buildTree(columns), columns.value, -1, 1000, 1.5).length).toBeLessThan(12_000);
  });
});

/** main ─ a (c 20 %), b (c 10 %, which calls d 4 %, c again 2 %). */
const RECURSIVE: FlameColumns = {
  names: ['main', 'a', 'b', 'c', 'd'],
  kinds: 'njjjj',
  frame: [0, 1, 3, 2, 3, 4, 3],
  depth: [0, 1, 2, 1, 2, 3, 3],
  value: [1, 0.5, 0.2, 0.4, 0.1, 0.04, 0.02].map((v) => v * WHOLE),
  base: [],
  cut: 0,
};

describe('a method between its callers and its callees', () => {
  const tree = buildTree(RECURSIVE);
  const rows = ({ names, frame, depth, value }: FlameColumns) =>
    frame.map((f, i) => [names[f], depth[i], Number((value[i]! / WHOLE).toFixed(3))]);
  test('has its callees merged over all occurrences, including itself', () => {
    expect(rows(calleesOf(tree, 3))).toEqual([
      ['c', 0, 0.3],
      ['d', 1, 0.04],
      ['c', 1, 0.02],
    ]);
  });
  test('gives its callers the cost of the method', () => {
    expect(rows(callersOf(tree, 3))).toEqual([
      ['c', 0, 0.3],
      ['a', 1, 0.2],
      ['main', 2, 0.2],
      ['b', 1, 0.1],
      ['main', 2, 0.1],
    ]);
  });
  test('that does not occur has cost 0 and no callers', () => {
    expect(rows(callersOf(buildTree(COLUMNS), 9))).toEqual([[undefined, 0, 0]]);
  });
});

test('colours of a difference go from blue over grey to orange', () => {
  const t = { grid: '#e9e7e1', worse: '#d55e00', better: '#0072b2' } as Parameters<typeof differenceColour>[1];
  expect([differenceColour(1, t), differenceColour(0, t), differenceColour(-1, t)]).toEqual([
    t.worse,
    t.grid,
    t.better,
  ]);
  expect(mix('#000000', '#ffffff', 0.5)).toBe('#808080');
});

test.each([
  ['light', LIGHT],
  ['dark', DARK],
])('names on %s frames have a contrast of at least 4.5:1, even on pale ones', (_, t) => {
  const parts = Array.from({ length: 41 }, (_, i) => i / 20 - 1);
  const fills = [...KINDS.map(([letter]) => kindColour(letter, t)), ...parts.map((part) => differenceColour(part, t))];
  for (const fill of fills.flatMap((f) => [f, mix(t.paper, f, 0.45)]))
    expect.soft(contrast(inkFor(fill), fill), fill).toBeGreaterThanOrEqual(4.5);
});

describePages('the flame graph on the page', (pages) => {
  test('is linked from the methods in the sentences above it', async () => {
    const { page } = await pages.open('explained');
    expect(await page.locator('.why p').count()).toBe(2);
    await page.locator('.why code').first().click();
    await page.locator('#flame svg').waitFor();
    expect(await page.locator('#flame .note').textContent()).toMatch(/Marked: .+\s% is in the frames found/);
    const search = page.locator('#flame input[type=search]');
    expect(await search.inputValue(), 'the mark can be seen and removed').not.toBe('');
    await search.fill('');
    expect(await page.locator('#flame .note').textContent()).not.toContain('Marked:');
  });

  test('can be searched, inverted, drawn as a difference and zoomed', async () => {
    const { page } = await pages.open('profiled');
    await page.locator('#flame').scrollIntoViewIfNeeded();
    await page.locator('#flame svg').waitFor();
    // Sorted, because a redraw may change the order of the elements.
    const words = async () => (await page.locator('#flame svg text').allTextContents()).sort().join('\n');
    await page.locator('#flame input[type=search]').fill('/parse$/');
    expect(await page.locator('#flame .note').textContent()).toContain('Marked:');
    await page.locator('#flame select').selectOption('more');
    expect(await page.locator('#flame h3').textContent()).toContain('more (orange) and less (blue)');
    const before = await words();
    const box = (await page.locator('#flame .chart').boundingBox())!;
    await page.mouse.click(box.x + box.width / 3, box.y + box.height - 30);
    await expect.poll(words).not.toBe(before);
    await page.locator('#flame button', { hasText: 'Whole' }).click();
    await expect.poll(words).toBe(before);
    await page.locator('#flame label', { hasText: 'root above' }).click();
    expect(await words()).not.toBe('');
  });

  test('zooms by keyboard to what is found', async () => {
    const { page } = await pages.open('profiled');
    const callers = page.locator('#flame button', { hasText: 'Callers and callees' });
    expect(await callers.isDisabled()).toBe(true);
    const search = page.locator('#flame input[type=search]');
    await search.fill('/parse$/');
    await search.press('Enter');
    expect(await callers.isDisabled()).toBe(false);
    await callers.press('Enter');
    expect(await page.locator('#callers h3').textContent()).toMatch(/^Who calls .*parse$/);
  });

  test('shows callers and callees of a method, even by keyboard', async () => {
    const { page } = await pages.share('profiled');
    const method = page.locator('.methods .method').first();
    const name = (await method.textContent())!;
    await method.focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#callers h3').textContent()).toBe(`Who calls ${name}`);
    expect(await page.locator('#callees h3').textContent()).toBe(`What ${name} calls`);
    await page.locator('#callees svg').waitFor();
    await page.locator('#callers button', { hasText: 'Close' }).click();
    expect(await page.locator('#callees').count()).toBe(0);
  });

  test('has a key of its colours, even for a difference', async () => {
    const { page } = await pages.share('profiled');
    await page.locator('#flame').scrollIntoViewIfNeeded();
    await page.locator('#flame svg').waitFor();
    expect(await page.locator('#flame .key li').count()).toBeGreaterThan(2);
    await page.locator('#flame select').selectOption('more');
    expect(await page.locator('#flame .key').textContent()).toMatch(/more than .+no difference.*less than/);
    await page.locator('#flame select').selectOption('variant');
  });

  test('changes with its tables when another profile is chosen', async () => {
    const { page } = await pages.share('profiled');
    const heads = () => page.locator('#profiles .titled h3').allTextContents();
    expect((await heads()).length).toBe(3);
    const profile = page.locator('#profiles > div > .controls select');
    const first = await profile.inputValue();
    await profile.selectOption({ index: 0 });
    expect((await heads()).length).toBe(2);
    await profile.selectOption(first);
  });

  test('draws 50,000 stacks, and no name becomes markup', async () => {
    const { page, consoleErrors } = await pages.open('stacks');
    await page.locator('#flame').scrollIntoViewIfNeeded();
    await page.locator('#flame svg').waitFor();
    expect(await page.locator('#flame svg path').count()).toBeGreaterThan(100);
    expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
    expect(consoleErrors).toEqual([]);
  });
});
