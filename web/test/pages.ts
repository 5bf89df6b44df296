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

/** A page whose last chart data are not whole. */
const cutOff = (page: string): string => page.slice(0, page.lastIndexOf('</script>') - 100);

/** Tests of the built page in Chromium, where there is one. A page that a test opens for itself is closed after it. */
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
  private readonly shared = new Map<string, OpenedPage>();

  /** A page that several tests share. It is opened once, and each of them leaves it as it was. */
  async share(fixture: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    const key = JSON.stringify([fixture, options]);
    const opened = this.shared.get(key) ?? (await this.open(fixture, options));
    this.shared.set(key, opened);
    return opened;
  }

  /** Opens a fixture's page; `hash` is a deep link. Of a page that `isCutOff`, the last chart data are not whole. */
  async open(fixture: string, options: BrowserContextOptions = {}, hash = '', isCutOff = false): Promise<OpenedPage> {
    this.browser ??= await launch();
    const whole = this.fileOf(fixture, () => fill(this.template, summaryOf(fixture)));
    const file = isCutOff ? this.fileOf(`${fixture}-cut-off`, () => cutOff(readFileSync(whole, 'utf8'))) : whole;
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

  /** The file of a page, which is written when it is first asked for. */
  private fileOf(name: string, text: () => string): string {
    this.folder ||= mkdtempSync(join(tmpdir(), 'tare-report-'));
    this.template ||= readFileSync('dist/report.html', 'utf8');
    const file = join(this.folder, `${name}.html`);
    if (!existsSync(file)) writeFileSync(file, text());
    return file;
  }

  async closePages(): Promise<void> {
    const shared = new Set([...this.shared.values()].map(({ page }) => page.context()));
    for (const context of this.browser?.contexts() ?? []) if (!shared.has(context)) await context.close();
  }

  async close(): Promise<void> {
    await this.browser?.close();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }
}
