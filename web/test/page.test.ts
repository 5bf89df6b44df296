// The built page in Chromium: charts, links, tables, themes, keyboard.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FIXTURES } from '../fixtures/index';
import { describePages, Pages } from './pages';

const NARROW = { viewport: { width: 390, height: 844 } };
/** The comparisons of the page "families". */
const COMPARISONS = FIXTURES.families!().comparisons;

describePages('the page', (pages) => {
  test('has its sections in the order of its contents, which are visible at every width', async () => {
    const { page } = await pages.open('explained');
    for (const width of [390, 768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const links = await page.locator('nav a').evaluateAll((all) => all.map((a) => a.getAttribute('href')!.slice(1)));
      const places = await page.evaluate(
        (ids) => ids.map((id) => document.getElementById(id)!.getBoundingClientRect().top),
        links,
      );
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(links.slice(0, 2)).toEqual(['answer', 'why']);
      const [overhead, bar] = [page.locator('#overheads'), page.locator('.focus-bar')];
      expect((await overhead.boundingBox())!.y, 'the bar is above the charts whose scenario it selects').toBeLessThan(
        (await bar.boundingBox())!.y,
      );
      expect(await page.locator('nav').isVisible()).toBe(true);
      expect(await page.locator('nav a[aria-current="true"]').count()).toBe(1);
    }
  });

  test('shows the figures of another tool beside its own, with a ratio where the tool is precise enough', async () => {
    const { page } = await pages.open('sequential');
    const checks = await page.locator('#cross-checks').textContent();
    expect(checks).toContain('wrk 4.1.0');
    expect(checks).toContain('× 0.97');
    expect(checks).toMatch(/p506\.00 ms6\.\d\d ms–/);
    expect(checks).toContain('cannot be asked this');
    const other = await pages.share('compared');
    expect(await other.page.locator('#cross-checks').count()).toBe(0);
  });

  test('shows the limits of a check first, each with its verdict and the reason if it is open', async () => {
    const { page } = await pages.open('checked');
    expect(await page.locator('main > section').nth(1).getAttribute('id')).toBe('limits');
    const limits = await page.locator('#limits').textContent();
    expect(limits).toContain('A limit is exceeded: exit code 3.');
    expect(limits).toContain('+6.4 % [+5.6, +7.2] CPU/request✗ regressed');
    expect(limits).toContain('–? undecidedbytes are not measured here');
    expect(limits).toContain('[from, to]: the 90 % confidence interval;');
    const other = await pages.share('compared');
    expect(await other.page.locator('#limits').count()).toBe(0);
  });

  test('shows other currencies of a large run when asked, and says which side is better', async () => {
    const { page } = await pages.share('families');
    await page.locator('#overhead').scrollIntoViewIfNeeded();
    await page.locator('#overhead svg').waitFor();
    expect(await page.locator('#overhead svg').textContent()).toContain('← better');
    await page.locator('#overhead .tabs label', { hasText: 'throughput' }).click();
    expect(await page.locator('#overhead h3').textContent()).toContain('Throughput');
    expect(await page.locator('#overhead svg').textContent()).toContain('better →');
    await page.locator('#overhead .tabs label').first().click();
  });

  test('lists the latency of the A/A control only if there is no other variant', async () => {
    const variants = async (fixture: string) => {
      const { page } = await pages.share(fixture);
      return page.locator('#latencies .titled').first().locator('tbody th').allTextContents();
    };
    expect(await variants('again')).toEqual(['http4s.Vanilla', 'http4s.Vanilla (again)']);
    expect(await variants('compared')).not.toContain('http4s.Vanilla (again)');
  });

  test('marks percentiles without an interval over starts, in the table and by a thin line', async () => {
    const { page } = await pages.open('golden-decided');
    const row = page.locator('#latencies .titled').first().locator('tbody tr').first();
    const [p50, , , , p99] = await row.locator('td').allTextContents();
    expect(p50).toMatch(/^\d+ \[\d+, \d+\]$/);
    expect(p99).toMatch(/^[\d.]+ \?$/);
    const figure = page.locator('#latencies .figure').first();
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('svg').waitFor();
    const thin = figure.locator('path[stroke-width="0.8"]:not([stroke-opacity])');
    expect(await thin.count()).toBeGreaterThan(0);
    expect(await figure.locator('.note').textContent()).toContain('Where a line becomes thin');
    await page.locator('#latencies .tabs label', { hasText: 'service time' }).click();
    expect(await row.locator('td').nth(4).textContent()).not.toContain('?');
  });

  test('says from when a response time counts: a closed loop has no intended start', async () => {
    const { page } = await pages.open('golden-decided');
    const note = page.locator('#latencies .figure .note').first();
    expect(await note.textContent()).toContain('from the intended start');
    await page.locator('#latencies .tabs label', { hasText: 'saturating' }).click();
    expect(await note.textContent()).toMatch(/^closed, 128 users; from when its user was free to send it\./);
  });

  test('shows in the key the line style of each line', async () => {
    const { page } = await pages.share('compared', NARROW);
    const figure = page.locator('#latency-g1-SimpleGet');
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('svg').waitFor();
    const strokeOf = (name: string) =>
      figure
        .locator('.key li', { hasText: new RegExp(`^${name}$`) })
        .locator('i')
        .evaluate((mark) => getComputedStyle(mark).borderTopStyle);
    expect(await strokeOf('http4s\\.Vanilla')).toBe('solid');
    expect(await strokeOf('http4s\\.Vanilla \\(again\\)')).toBe('dashed');
  });

  test('keeps the names of slopes within the chart on a narrow screen', async () => {
    const { page } = await pages.share('compared', NARROW);
    await Pages.drawAll(page);
    const cut = await page.locator('#throughputs .chart svg').evaluateAll((all) =>
      all.flatMap((svg) => {
        const { left, right } = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll('text')].map((text) => ({ text, box: text.getBoundingClientRect() }));
        return boxes.filter(({ box }) => box.left < left || box.right > right + 1).map(({ text }) => text.textContent);
      }),
    );
    expect(cut).toEqual([]);
  });

  test('marks the first section again after a jump to the top', async () => {
    const { page } = await pages.share('compared', NARROW);
    const marked = () => page.locator('nav [aria-current="true"]').textContent();
    await page.evaluate(() => document.getElementById('throughputs')!.scrollIntoView());
    await expect.poll(marked).toBe('Throughput');
    await page.evaluate(() => scrollTo(0, 0));
    await expect.poll(marked).toBe('Answer');
  });

  test('shows hostile text as text', async () => {
    const { page, consoleErrors } = await pages.open('hostile');
    await Pages.drawAll(page);
    expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
    expect(await page.locator('#page img, #page script').count()).toBe(0);
    expect(await page.locator('#findings').textContent()).toContain('<img src=x onerror="window.pwned=1">');
    await page.locator('#overhead-throughput svg').hover();
    await page.evaluate(() => (location.hash = `cell=${encodeURIComponent('g1/SimpleGet/http4s.Vanilla')}`));
    expect(await page.locator('.cell-detail').textContent()).toContain('<img src=x');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
    expect(consoleErrors).toEqual([]);
  });

  test('with 1,000 cells can be read, filtered and unpacked by scenario', async () => {
    const { page } = await pages.open('thousand', NARROW);
    const frame = page.locator('#matrix .scroll');
    const shade = () => frame.evaluate((box) => Number(getComputedStyle(box, '::after').opacity));
    await expect.poll(shade, { message: 'a shadow beside the overview, until it is scrolled to its end' }).toBe(1);
    await frame.evaluate((box) => (box.scrollLeft = box.scrollWidth));
    await expect.poll(shade).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await page.locator('tr[data-cell]').count()).toBe(60);
    expect(await page.locator('#cells .count').textContent()).toBe('1000 cells');
    expect(await page.locator('.matrix td').count()).toBe(1000);
    await page.locator('#cells input[type=search]').fill('scenario7 @1.9.9');
    expect(await page.locator('tr[data-cell]').count()).toBe(1);
    await page.locator('#cells input[type=search]').fill('');
    await page.locator('#cells button', { hasText: 'Show all 1000 rows' }).click();
    expect(await page.locator('tr[data-cell]').count()).toBe(1000);
    const last = await page.locator('tr[data-cell]').last().getAttribute('data-cell');
    await page.evaluate((id) => (location.hash = `cell=${encodeURIComponent(id!)}`), last);
    await expect.poll(() => inView(page.locator('tr.target').boundingBox())).toBe(true);
    expect(await page.locator('tr.target').getAttribute('data-cell')).toBe(last);
    // The chart data of another scenario are unpacked when it is chosen.
    await page.locator('.focus-bar select').selectOption('g1/Scenario10');
    await page.locator('#over-time-g1-Scenario10').scrollIntoViewIfNeeded();
    await page.locator('#over-time-g1-Scenario10 svg').waitFor();
  });

  test('says that it is cut off when a scenario is chosen whose charts it lacks', async () => {
    const { page } = await pages.open('thousand', {}, '', true);
    expect(await page.locator('.failure').count()).toBe(0);
    for (const scenario of ['g1/Scenario10', 'g1/Scenario1', 'g1/Scenario10'])
      await page.locator('.focus-bar select').selectOption(scenario);
    await page.locator('.failure', { hasText: 'This page is cut off' }).waitFor();
    expect(await page.locator('.failure').count()).toBe(1);
  });

  test('opens a comparison from the overview matrix', async () => {
    const { page } = await pages.open('families');
    const cell = COMPARISONS.at(-1)!;
    await page.locator(`.matrix a[href="#open=${encodeURIComponent(cell.cell)}"]`).click();
    await page.locator('#overhead svg', { hasText: cell.variant.slice(0, 20) }).waitFor();
    await expect.poll(() => page.locator('.focus-bar select').inputValue()).toBe(`${cell.group}/${cell.scenario}`);
  });

  test('does not draw a void server over time, and says so', async () => {
    const { page } = await pages.open('golden-broken');
    const figure = page.locator('#time .figure').first();
    await figure.scrollIntoViewIfNeeded();
    expect(await figure.locator('.note').textContent()).toContain('× Void, and not drawn: http4s.Tapir.');
    expect(await figure.locator('.key').textContent()).not.toContain('Tapir');
  });

  test('follows deep links to cells and charts', async () => {
    const id = 'g1/PostBytes/http4s.Tapir';
    const { page } = await pages.open('compared', {}, `#cell=${encodeURIComponent(id)}`);
    await page.locator('.cell-detail').waitFor();
    expect(await page.locator('tr.target').getAttribute('data-cell')).toBe(id);
    await expect.poll(() => inView(page.locator('tr.target').boundingBox())).toBe(true);
    await page.evaluate(() => (location.hash = 'latency-g1-PostBytes'));
    await expect.poll(() => inView(page.locator('#latency-g1-PostBytes').boundingBox())).toBe(true);
  });

  test('follows links to charts of scenarios that are not shown, when it opens and later', async () => {
    const { page } = await pages.open('thousand', {}, '#allocation-g1-Scenario10');
    const scenario = page.locator('.focus-bar select');
    await page.locator('#allocation-g1-Scenario10').waitFor();
    expect(await scenario.inputValue()).toBe('g1/Scenario10');
    await page.evaluate(() => (location.hash = 'rss-over-time-g1-Scenario9'));
    await page.locator('#rss-over-time-g1-Scenario9').waitFor();
    expect(await scenario.inputValue()).toBe('g1/Scenario9');
  });

  test('closes the details of a cell, and opens them again by the same link', async () => {
    const id = 'g1/PostBytes/http4s.Tapir';
    const { page } = await pages.open('compared', {}, `#cell=${encodeURIComponent(id)}`);
    await page.locator('.cell-detail .close').click();
    expect(await page.locator('.cell-detail').count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.closest('tr')?.dataset.cell)).toBe(id);
    await page.keyboard.press('Enter');
    await page.locator('.cell-detail').waitFor();
    await page.locator('#cells thead button', { hasText: 'throughput' }).click();
    expect(await page.locator('.cell-detail').count()).toBe(0);
    await page.locator(`.answer a[href="#cell=${encodeURIComponent(id)}"]`).click();
    await page.locator('.cell-detail').waitFor();
  });

  test('sorts and filters its table, and exports what is shown', async () => {
    const { page } = await pages.open('compared', { permissions: ['clipboard-read', 'clipboard-write'] });
    const names = () =>
      page.locator('tr[data-cell]:visible').evaluateAll((rows) => rows.map((r) => r.getAttribute('data-cell')));
    await page.locator('#cells thead button', { hasText: 'throughput' }).click();
    expect(await page.locator('#cells th[aria-sort=descending]').count()).toBe(1);
    expect((await names())[0]).toContain('SimpleGet/http4s.Vanilla');
    await page.locator('#cells thead button', { hasText: 'throughput' }).click();
    expect((await names())[0]).toBe('g1/PostBytes/http4s.TapirInterceptor');
    await page.locator('#cells input[type=search]').fill('tapir post');
    expect(await names()).toHaveLength(2);
    expect(await page.locator('#cells .count').textContent()).toBe('2 of 8 cells');
    await page.locator('#cells button', { hasText: 'Copy as Markdown' }).click();
    const markdown = await page.evaluate(() => navigator.clipboard.readText());
    expect(markdown.trim().split('\n')).toHaveLength(4);
    expect(markdown).toContain('http4s.TapirInterceptor');
    await page.locator('#cells button', { hasText: 'Copy as CSV' }).click();
    const csv = await page.evaluate(() => navigator.clipboard.readText());
    expect(csv.split('\n')[0]).toContain('throughput_per_s');
  });

  test.each([
    ['compared', '#overhead-throughput', 'scenario'],
    ['families', '#matrix', 'variant'],
  ])('of "%s" saves %s as SVG, PNG and CSV', async (name, figure, firstHead) => {
    const { page, consoleErrors } = await pages.share(name);
    const begins = { SVG: '<svg', PNG: '\u0089PNG', CSV: firstHead };
    for (const [label, magic] of Object.entries(begins)) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator(`${figure} .figure-menu button`, { hasText: label }).click(),
      ]);
      expect(readFileSync(await download.path(), 'latin1').slice(0, magic.length)).toBe(magic);
    }
    expect(consoleErrors).toEqual([]);
  });

  test('saves a PNG as large as the browser can draw it, or says that it can draw none', async () => {
    const { page, consoleErrors } = await pages.open('families');
    const row = page.locator('#matrix tbody tr').last();
    await row.evaluate((tr) => (tr.style.height = '33000px'));
    const png = page.locator('#matrix .figure-menu button', { hasText: 'PNG' });
    const [download] = await Promise.all([page.waitForEvent('download'), png.click()]);
    const height = readFileSync(await download.path()).readUInt32BE(20);
    expect(height).toBeGreaterThan(33_000);
    expect(height).toBeLessThan(40_000);
    await page.evaluate(() => {
      HTMLCanvasElement.prototype.toBlob = (done) => done(null);
    });
    await png.click();
    await page.locator('#matrix .figure-menu button', { hasText: 'Too large: use SVG' }).waitFor();
    expect(consoleErrors).toEqual([]);
  });

  test('saves the headings of the overview at their places, also if it is scrolled', async () => {
    const { page } = await pages.share('families');
    const frame = page.locator('#matrix .scroll');
    await frame.evaluate((box) => (box.scrollTop = 300));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#matrix .figure-menu button', { hasText: 'SVG' }).click(),
    ]);
    const svg = readFileSync(await download.path(), 'utf8');
    expect(Number(/<text [^>]*\by="([\d.]+)"[^>]*>variant</.exec(svg)![1])).toBeLessThan(60);
    expect(svg, 'its letters are on the paper of their theme').toContain('fill="#fffefb"');
    expect(await frame.evaluate((box) => box.scrollTop)).toBe(300);
    await frame.evaluate((box) => (box.scrollTop = 0));
  });

  test('of a large run counts the verdicts in the chosen measure', async () => {
    const { page } = await pages.share('families');
    const counted = async () =>
      (await page.locator('#matrix .counts b').allTextContents()).reduce((sum, n) => sum + Number(n), 0);
    const worse = page.locator('#matrix .counts li').first();
    expect(await counted()).toBe(COMPARISONS.length);
    const before = await worse.textContent();
    await page.locator('#matrix .tabs label').nth(1).click();
    expect(await counted()).toBe(COMPARISONS.length);
    expect(await worse.textContent()).not.toBe(before);
    await page.locator('#matrix .tabs label', { hasText: 'allocated' }).click();
    expect(await counted()).toBe(COMPARISONS.length);
    expect(await page.locator('#matrix .counts').textContent()).toContain('30 not measured');
    expect(await page.locator('#matrix table').textContent()).not.toContain('void');
    const [overview, next] = [page.locator('#matrix'), page.locator('.next')];
    expect((await overview.boundingBox())!.y).toBeLessThan((await next.boundingBox())!.y);
    await page.locator('#matrix .tabs label').first().click();
  });

  test('takes the theme of the system, or the one that the reader chose', async () => {
    const { page } = await pages.open('compared', { colorScheme: 'dark' });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await background()).toBe('rgb(21, 23, 27)');
    const chart = page.locator('#overhead-throughput svg text').first();
    await chart.waitFor();
    const ink = await chart.getAttribute('fill');
    await page.locator('.theme-switch').click();
    expect(await background()).toBe('rgb(255, 254, 251)');
    expect(await chart.getAttribute('fill')).not.toBe(ink);
    await page.reload();
    await page.locator('main:not([aria-busy])').waitFor();
    expect(await background()).toBe('rgb(255, 254, 251)');
  });

  test('does not scroll the titles of tables, and gives the facts of a profile the width of the screen', async () => {
    const { page } = await pages.open('golden-explained', NARROW);
    expect(await page.locator('#profiles .titled > h3').count()).toBe(3);
    const cut = await page
      .locator('.titled > h3')
      .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth));
    expect(cut).toEqual([]);
    const widths = await page
      .locator('.profile-facts td')
      .evaluateAll((all) => all.map((td) => td.getBoundingClientRect().width));
    expect(Math.min(...widths)).toBeGreaterThan(300);
  });

  test('can be reached by keyboard', async () => {
    const { page } = await pages.open('compared');
    const reached = new Set<string>();
    for (let i = 0; i < 400 && !reached.has('again'); i++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement?.closest('[id]')?.id ?? ''));
    }
    for (const id of ['answer', 'overhead-throughput', 'latencies', 'cells', 'again'])
      expect([...reached]).toContain(id);
    const large = await pages.share('families');
    await large.page.locator('#overhead .tabs input').first().focus();
    await large.page.keyboard.press('ArrowRight');
    expect(await large.page.locator('#overhead h3').textContent()).toContain('Throughput');
    await large.page.keyboard.press('ArrowLeft');
  });

  test('says if nothing was measured', async () => {
    const { page } = await pages.open('empty');
    expect(await page.locator('h1').textContent()).toContain('Nothing was measured');
  });
});

/** Whether the top of a box is on the screen. */
async function inView(box: Promise<{ y: number } | null>): Promise<boolean> {
  const y = (await box)?.y ?? -1;
  return y >= 0 && y < 900;
}
