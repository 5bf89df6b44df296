// Crosshair and zoom of the charts, by pointer and by keyboard.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { skipReason } from './browser';
import { Pages } from './pages';

const RATE = '#over-time-g1-SimpleGet';
const TAIL = '#p99-over-time-g1-SimpleGet';

describe.skipIf(skipReason())('charts over time', () => {
  let pages: Pages;
  let page: Page;
  beforeAll(async () => {
    pages = new Pages();
    ({ page } = await pages.open('compared'));
    for (const figure of [RATE, TAIL]) {
      await page.locator(figure).scrollIntoViewIfNeeded();
      await page.locator(`${figure} svg`).waitFor();
    }
  });
  afterAll(() => pages.close());

  const readout = (figure: string) => page.locator(`${figure} .readout`).textContent();
  const ticks = (figure: string) => page.locator(`${figure} svg text`).allTextContents();

  test('share a crosshair with the values of every variant', async () => {
    const box = (await page.locator(`${RATE} .chart`).boundingBox())!;
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
    expect(await readout(RATE)).toMatch(/^start \d.*http4s\.Vanilla.+k\/s/);
    expect(await readout(TAIL)).toMatch(/^start \d.*http4s\.Vanilla.+ms/);
    expect(await page.locator('.crosshair:visible').count()).toBeGreaterThanOrEqual(2);
    await page.mouse.move(5, 5);
    expect(await readout(TAIL)).toContain('Keys');
  });

  test('zoom in together by dragging, and out by a double click', async () => {
    const before = await ticks(TAIL);
    const box = (await page.locator(`${RATE} .chart`).boundingBox())!;
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => ticks(TAIL)).not.toEqual(before);
    await page.mouse.dblclick(box.x + box.width * 0.4, y);
    await expect.poll(() => ticks(TAIL)).toEqual(before);
  });

  test('can be read and zoomed by keyboard', async () => {
    const before = await ticks(RATE);
    await page.locator(`${RATE} .chart`).focus();
    await page.keyboard.press('End');
    const last = await readout(RATE);
    await page.keyboard.press('ArrowLeft');
    expect(await readout(RATE)).not.toBe(last);
    await page.keyboard.press('+');
    await expect.poll(() => ticks(RATE)).not.toEqual(before);
    await page.keyboard.press('Escape');
    await expect.poll(() => ticks(RATE)).toEqual(before);
  });

  test('can have a logarithmic or a linear latency axis', async () => {
    const logarithmic = await ticks(TAIL);
    await page.locator('#time .tabs label', { hasText: 'linear' }).click();
    await expect.poll(() => ticks(TAIL)).not.toEqual(logarithmic);
    expect(await ticks(TAIL)).toContain('0');
    await page.locator('#time .tabs label', { hasText: 'logarithmic' }).click();
  });

  test('by percentile can be read by keyboard', async () => {
    const figure = '#latency-g1-SimpleGet';
    await page.locator(figure).scrollIntoViewIfNeeded();
    await page.locator(`${figure} svg`).waitFor();
    await page.locator(`${figure} .chart`).focus();
    await page.keyboard.press('PageDown');
    expect(await readout(figure)).toMatch(/^p\d+.*http4s\.Vanilla/);
  });
});
