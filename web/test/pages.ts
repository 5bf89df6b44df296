// Makes pages from fixtures and opens them in Chromium from disk. Records console errors and network requests.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, describe } from 'vitest';
import { fill } from '../fixtures/fill';
import { goldenText, GOLDEN } from '../fixtures/golden';
import { FIXTURES } from '../fixtures/index';
import type { Summary } from '../src/summary';
import { launch, skipReason } from './browser';

/** A page with its console errors and its network requests. */
export interface OpenedPage {
  page: Page;
  consoleErrors: string[];
  requests: string[];
}

/** The names of the pages with golden summaries. */
export const GOLDEN_PAGES = GOLDEN.map((name) => `golden-${name}`);

/** The summary of a page: a fixture or a golden one. */
function summaryOf(page: string): Summary {
  const golden = GOLDEN.find((name) => page === `golden-${name}`);
  return golden ? (JSON.parse(goldenText(golden)) as Summary) : FIXTURES[page]!();
}

/** Tests of the built page in Chromium, where there is one. The pages of a test are closed after it. */
export function describePages(name: string, tests: (pages: Pages) => void): void {
  const skipped = skipReason();
  if (skipped) console.warn(`SKIPPED: the tests of ${name} in a browser, because ${skipped}.`);
  describe.skipIf(skipped)(name, () => {
    const pages = new Pages();
    afterEach(() => pages.closePages());
    afterAll(() => pages.close());
    tests(pages);
  });
}

export class Pages {
  private browser: Browser | null = null;
  private folder = '';
  private template = '';

  /** Opens a fixture's page; `hash` is a deep link. Of a page that `isCutOff`, the last chart data are not whole. */
  async open(fixture: string, options: BrowserContextOptions = {}, hash = '', isCutOff = false): Promise<OpenedPage> {
    this.browser ??= await launch();
    this.folder ||= mkdtempSync(join(tmpdir(), 'tare-report-'));
    this.template ||= readFileSync('dist/report.html', 'utf8');
    const file = join(this.folder, `${fixture}${isCutOff ? '-cut-off' : ''}.html`);
    if (!existsSync(file)) {
      const whole = fill(this.template, summaryOf(fixture));
      writeFileSync(file, isCutOff ? whole.slice(0, whole.lastIndexOf('</script>') - 100) : whole);
    }
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const opened: OpenedPage = { page, consoleErrors: [], requests: [] };
    page.on('console', (m) => ['error', 'warning'].includes(m.type()) && opened.consoleErrors.push(m.text()));
    page.on('pageerror', (e) => opened.consoleErrors.push(String(e)));
    page.on('request', (r) => /^(file|data|blob):/.test(r.url()) || opened.requests.push(r.url()));
    await page.goto(pathToFileURL(file).href + hash);
    await page.locator('main:not([aria-busy])').waitFor();
    return opened;
  }

  /** Scrolls through the page until every chart is drawn. In one call, because each call waits for a still page. */
  static async drawAll(page: Page): Promise<void> {
    const missing = await page.evaluate(async (mostFrames) => {
      const charts = [...document.querySelectorAll('.figure .chart')];
      const isDrawn = (chart: Element) => chart.querySelector('svg') !== null;
      for (const chart of charts) {
        if (!isDrawn(chart)) chart.scrollIntoView();
        for (let frame = 0; !isDrawn(chart) && frame < mostFrames; frame++) await new Promise(requestAnimationFrame);
      }
      return charts.filter((chart) => !isDrawn(chart)).map((chart) => chart.closest('.figure')!.id);
    }, 600);
    if (missing.length) throw new Error(`not drawn within 600 frames: ${missing.join(', ')}`);
  }

  async closePages(): Promise<void> {
    for (const context of this.browser?.contexts() ?? []) await context.close();
  }

  async close(): Promise<void> {
    await this.browser?.close();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }
}
