// The first screen of the built page in Chromium: headline, trust, answer table, tiles of a load.

import { expect, test } from 'vitest';
import { FIXTURES } from '../fixtures/index';
import { describePages } from './pages';

const NARROW = { viewport: { width: 390, height: 900 } };
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

describePages('the first screen', (pages) => {
  test('has headline, trust, a row per comparison and the next step', async () => {
    const { page } = await pages.share('compared');
    const summary = FIXTURES.compared!();
    const headline = summary.headline.text;
    expect(plainText(await page.locator('h1').textContent())).toBe(headline);
    const sizes = await page.locator('h1').evaluate((h1) => [...h1.childNodes].map((part) => part.textContent!));
    expect(sizes.length, 'one statement is large').toBe(2);
    expect(sizes[0]).toMatch(/^[^;]+[;.] $/);
    expect(await page.locator('h1 .sr').textContent(), 'the semicolon at the line break is hidden').toBe('; ');
    expect(await page.title()).toBe(headline);
    expect(await page.locator('.question').textContent()).toBe(summary.run.question);
    expect(await page.locator('.trust').textContent()).toContain('USE WITH CARE');
    expect(await page.locator('.trust a').textContent()).toBe(`${summary.trust.warnings} warnings in the findings`);
    expect(await page.locator('.answer tbody tr:not(.panel)').count()).toBe(summary.comparisons.length);
    expect(await page.locator('.next pre').textContent()).toBe(summary.next!.command);
    const box = (await page.locator('.answer').boundingBox())!;
    expect(box.y + box.height).toBeLessThan(900);
  });

  test('draws a small forest plot for each measure: filled if decided, with a dot for each start', async () => {
    const { page } = await pages.share('compared');
    const first = FIXTURES.compared!().comparisons[0]!;
    const row = page.locator('.answer tbody tr:not(.panel)').first();
    expect(await row.locator('.mini-forest').count()).toBe(first.currencies.length - 1);
    const deciding = row.locator('td').first();
    expect(await deciding.locator('.start').count()).toBe(first.currencies[0]!.fork_ratios.length);
    expect(await deciding.locator('.estimate.open').count()).toBe(0);
    expect(await deciding.locator('.words').textContent()).toMatch(/✗\s.+ % more \[/);
    const band = (await deciding.locator('.band').boundingBox())!;
    expect(band.width).toBeGreaterThanOrEqual(10);
    expect(await page.locator('.answer .estimate.open').count()).toBeGreaterThan(0);
  });

  test.each([
    [1280, 'thead'],
    [390, '.panel'],
  ])('has at %i px one scale per column of small forest plots, with 0 above their baselines', async (width, place) => {
    const { page } = await (width === 390 ? pages.share('compared', NARROW) : pages.share('compared'));
    const scale = page.locator(`.answer ${place} .mini-scale:visible`).first();
    expect(await scale.locator('text').allTextContents()).toEqual(['−30\u00a0%', '0', '+30\u00a0%']);
    const letters = (await scale.locator('text').first().boundingBox())!;
    expect(letters.height, 'the numbers can be read').toBeGreaterThanOrEqual(11);
    const middleOf = async (place: string) => {
      const box = (await page.locator(place).first().boundingBox())!;
      return box.x + box.width / 2;
    };
    const zero = (await scale.locator('text').nth(1).boundingBox())!;
    expect(zero.x + zero.width / 2).toBeCloseTo(await middleOf('.answer .mini-forest .baseline'), 0);
    const columns = await page.locator('.answer tbody tr:not(.panel)').first().locator('.mini-forest').count();
    expect(await page.locator('.answer thead .mini-scale:visible').count()).toBe(place === 'thead' ? columns : 0);
  });

  test('marks each start in a small forest plot, however large the difference is', async () => {
    const { page } = await pages.open('golden-slo');
    const starts = page.locator('.answer .mini-forest').first().locator('.start');
    expect(await starts.evaluateAll((all) => all.map((start) => start.tagName))).toEqual([
      'circle',
      'circle',
      'circle',
    ]);
  });

  test('shows the baseline and its levels on a narrow screen', async () => {
    const { page } = await pages.share('compared', NARROW);
    expect(await page.locator('.answer thead').innerText()).toBe('against http4s.Vanilla');
    const first = page.locator('.answer .panel').first();
    expect(await first.locator('.level').first().isVisible()).toBe(true);
    const level = (await first.locator('.level').first().boundingBox())!;
    expect(level.height, 'a level and its unit are on one line').toBeLessThan(24);
    expect(await first.locator('.axis').first().innerText(), 'each measure says where better lies').toMatch(/◀ ▶/);
    expect(await first.locator('td').first().getAttribute('data-label')).toBe('CPU per request');
  });

  test('has the measure of the headline in the answer table', async () => {
    const { page } = await pages.share('golden-pushes');
    expect(await page.locator('h1').textContent()).toContain('p50 of pushes');
    expect(await page.locator('.answer thead').textContent()).toContain('p50 of pushes');
    expect(await page.locator('.answer .words').first().textContent()).toContain('both starts higher');
    expect(
      plainText(await page.locator('.answer .words').first().textContent()),
      'a suspect figure is marked',
    ).toContain('+8.8 % !');
  });

  test('calls the latency of pushed messages push latency', async () => {
    const { page } = await pages.share('golden-pushes');
    expect(await page.locator('#latencies h3').first().textContent()).toContain('push latency by percentile');
    expect(await page.locator('#latencies .tabs').allTextContents()).toEqual([expect.stringContaining('linear')]);
    const heads = await page.locator('#latencies thead').last().textContent();
    expect(heads, 'each percentile has the unit that suits it').toMatch(/p50, µs.*p99, ms.*max, ms/);
  });

  test('marks a start that settled in another mode', async () => {
    const { page } = await pages.open('golden-odd-start');
    const figure = page.locator('#throughputs .figure').first();
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('svg path[stroke-dasharray]').first().waitFor();
    expect(await figure.locator('.note').textContent()).toContain('Dashed: a start that settled in another mode');
  });

  test('shows the definition of a term on focus', async () => {
    const { page } = await pages.share('compared');
    await page.locator('.reading abbr').first().focus();
    const shown = await page.evaluate(() => getComputedStyle(document.activeElement!, '::after').content);
    expect(shown).toContain('server');
  });

  test('explains no table if nothing could be compared', async () => {
    const { page } = await pages.open('golden-broken');
    expect(await page.locator('.trust').textContent()).toContain('DO NOT USE');
    expect(await page.locator('.answer, .reading, #matrix').count()).toBe(0);
  });

  test('does not mark a void row as "use with care"', async () => {
    const { page } = await pages.share('interrupted', CLIPBOARD);
    const row = page.locator('.answer tbody tr:not(.panel)', { hasText: 'void' });
    expect(await row.locator('th').textContent()).toBe('http4s.TapirInterceptor0 starts, do not use');
  });

  test('draws and exports no figure of a void comparison', async () => {
    const { page } = await pages.share('interrupted', CLIPBOARD);
    expect(await page.locator('.answer thead .mini-scale').first().textContent()).not.toContain('900');
    await page.locator('#cells button', { hasText: 'Copy as CSV' }).click();
    const csv = await page.evaluate(() => navigator.clipboard.readText());
    expect(csv).toContain('http4s.TapirInterceptor,PostBytes,void,');
    expect(csv).not.toContain('0.0123');
    const heads = await page.locator('#pushes thead th').allTextContents();
    expect(heads, 'all counts of the terminal').toContain('ahead of their stamps');
    const note = await page.locator('#pushes .figure .note').textContent();
    expect(note).toContain('× Void, and not drawn: http4s.TapirInterceptor.');
  });

  test('says in an undecided run how many starts count', async () => {
    const { page } = await pages.open('golden-undecided');
    expect(await page.locator('h1').textContent()).toContain('Not decided yet');
    expect(await page.locator('.answer').textContent()).toContain('3 of 4 starts count');
    expect(await page.locator('.answer .words').first().textContent()).toContain('all 3 starts higher');
    expect(await page.locator('.answer .estimate:not(.open)').count()).toBe(0);
  });

  test('shows a load as tiles', async () => {
    const { page } = await pages.share('golden-load');
    const names = await page.locator('.tiles dt').allTextContents();
    expect(names).toEqual(['requests/s', 'p50', 'p99', 'p99.9', 'max', 'errors', 'generator busy']);
    expect(await page.locator('.tiles').textContent()).toContain('19,983');
  });

  test('counts in messages what a server pushes', async () => {
    const { page } = await pages.open('listened');
    expect(await page.locator('.tiles dt').first().textContent()).toBe('messages/s');
    expect(await page.locator('#figures').textContent(), 'as the terminal').toContain('connection reset by peer');
    await page.locator('#histogram').scrollIntoViewIfNeeded();
    await page.locator('#histogram svg').waitFor();
    expect(await page.locator('#histogram svg text').allTextContents()).toContain('messages');
  });

  test('shows the same figures of a load as the terminal', async () => {
    const { page } = await pages.share('golden-load');
    const lines = await page.locator('.lines th').allTextContents();
    for (const line of ['throughput', 'requests', 'bytes', 'connections', 'generator', 'closed loop'])
      expect(lines).toContain(line);
    expect(lines.some((line) => ['passed', 'failed'].includes(line))).toBe(true);
    const latency = await page.locator('#figures .titled').first().textContent();
    for (const word of ['response time', 'service time', 'min', 'mean', 'p50', 'p99', 'max'])
      expect(latency).toContain(word);
    expect(await page.locator('#figures .scroll[aria-label="Failed requests by class"]').textContent()).toContain(
      'timeout',
    );
    expect(await page.locator('.lines abbr').allTextContents(), 'terms are explained').toContain('throughput');
    await page.locator('#histogram').scrollIntoViewIfNeeded();
    await page.locator('#histogram svg').waitFor();
  });
});

/** The text without the characters that prevent line breaks. */
const plainText = (text: string | null): string => text!.replaceAll('\u00a0', ' ').replaceAll('\u2060', '');
