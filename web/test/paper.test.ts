// The built page on paper, in Chromium.

import { expect, test } from 'vitest';
import { describePages } from './pages';

/** The area of an A4 page between its margins, in pixels (style/print.css). */
const PAPER = { width: 680, height: 1032 };

describePages('the page on paper', (pages) => {
  test('prints light, with every chart and without controls', async () => {
    const { page } = await pages.open('compared', { colorScheme: 'dark' });
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.setViewportSize({ width: PAPER.width, height: PAPER.height });
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.figure-menu:visible, .controls:visible, .theme-switch:visible').count()).toBe(0);
    const trust = await page.locator('.trust').evaluate((strip) => getComputedStyle(strip).backgroundColor);
    expect(trust, 'no dark background behind dark text').toBe('rgb(253, 243, 225)');
    const charts = await page.locator('.chart').count();
    expect(await page.locator('.chart svg').count()).toBe(charts);
    const answer = (await page.locator('#answer').boundingBox())!;
    expect(answer.y + answer.height, 'the answer fits on one page').toBeLessThan(PAPER.height);
    expect(await page.locator('.answer thead').isVisible(), 'paper has the wide table').toBe(true);
    const breakAfter = (answer: Element) => getComputedStyle(answer).breakAfter;
    expect(await page.locator('#answer').evaluate(breakAfter)).toBe('page');
    const load = await pages.open('golden-load');
    await load.page.emulateMedia({ media: 'print' });
    expect(await load.page.locator('#answer').evaluate(breakAfter), 'no empty page after few lines').toBe('auto');
  });

  test('repeats table heads on the next page, prints coloured keys, and no hints about clicks', async () => {
    const { page } = await pages.open('golden-explained');
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    expect(await page.locator('.hint').count()).toBeGreaterThan(1);
    expect(await page.locator('.hint:visible').count()).toBe(0);
    const button = page.locator('#cells thead button').first();
    expect(await button.evaluate((b) => getComputedStyle(b).display), 'a box would prevent the repetition').toBe(
      'contents',
    );
    const mark = page.locator('#flame .key i').first();
    expect(await mark.evaluate((m) => getComputedStyle(m).printColorAdjust)).toBe('exact');
  });

  test('prints small multiples row by row, so that a page ends between rows', async () => {
    const { page } = await pages.open('families');
    const figure = page.locator('#throughputs .figure', { has: page.locator('.paper-rows') }).first();
    const rows = figure.locator('.paper-rows > svg');
    expect(await rows.count()).toBe(0);
    await page.setViewportSize(PAPER);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    expect(await rows.count()).toBeGreaterThan(1);
    expect(await rows.first().evaluate((row) => getComputedStyle(row).breakInside)).toBe('avoid');
    expect(await figure.evaluate((f) => getComputedStyle(f).breakInside)).toBe('auto');
    expect(await figure.locator('.chart-box').isVisible(), 'each row is printed once').toBe(false);
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    expect(await rows.count()).toBe(0);
  });
});
