// Measures a page of 1,000 cells in Chromium and writes the figures into LARGE.md: npm run build && npm run large.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'prettier';
import { runnerImport } from 'vite';
import { measureFirstPaint } from './first_paint.mjs';

/** Slices of each of the three starts of a cell, as in a start of two minutes. */
const SLICES = 64;
const VISITS = 5;
const FILTERS = ['scenario7', '@1.9', 'tapir 1.4.2', 'nothing'];

const { module: filling } = await runnerImport('./fixtures/fill.ts');
const { module: fixtures } = await runnerImport('./fixtures/index.ts');
const { module: browsers } = await runnerImport('./test/browser.ts');

const summary = fixtures.largeRun(SLICES);
mkdirSync('test-results/pages', { recursive: true });
const file = resolve('test-results/pages/large.html');
writeFileSync(file, filling.fill(readFileSync('dist/report.html', 'utf8'), summary));

const browser = await browsers.launch();
const version = browser.version();
const runs = [];
for (let i = 0; i < VISITS; i++) runs.push(await measure());
await browser.close();

/** Opens the page once. All times are in milliseconds, and paint and whole since the start of the navigation. */
async function measure() {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(pathToFileURL(file).href);
  await page.locator('main:not([aria-busy])').waitFor();
  const whole = await page.evaluate(() => performance.now());
  const paint = await measureFirstPaint(page);
  const filters = [];
  for (const words of FILTERS) filters.push(await page.evaluate(timeFilter, words));
  const scenario = await page.evaluate(timeScenarioChange);
  await page.close();
  return { paint, whole, filter: Math.max(...filters), scenario };
}

/** The time from typing a filter to the next frame, which shows its rows. */
async function timeFilter(words) {
  const input = document.querySelector('#cells input[type=search]');
  input.scrollIntoView();
  // Wait until the charts that were scrolled past are drawn.
  await new Promise((done) => setTimeout(done, 1000));
  const from = performance.now();
  input.value = words;
  input.dispatchEvent(new Event('input'));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - from;
}

/** The time from choosing another scenario to its charts. */
async function timeScenarioChange() {
  const select = document.querySelector('.focus-bar select');
  const from = performance.now();
  select.value = select.options[select.options.length - 1].value;
  select.dispatchEvent(new Event('change'));
  while (!document.querySelector('#over-time-g1-Scenario10')) await new Promise((done) => setTimeout(done));
  return performance.now() - from;
}

const ms = (of) => {
  const all = runs.map(of).sort((a, b) => a - b);
  return `${Math.round(all[Math.floor(all.length / 2)])} ms | ${Math.round(all.at(-1))} ms`;
};
const points = summary.cells.reduce((sum, cell) => sum + cell.timeline.length, 0);
const text = `# A page of ${summary.cells.length.toLocaleString('en')} cells

\`npm run build && npm run large\` makes this file again: a synthetic run of ${summary.cells.length.toLocaleString('en')} cells with
${points.toLocaleString('en')} slices, opened ${VISITS} times in Chromium ${version} on ${availableParallelism()} cores.

| what                                           | median | most |
| ---------------------------------------------- | ------ | ---- |
| first paint of the answer                      | ${ms((r) => r.paint)} |
| all sections made                              | ${ms((r) => r.whole)} |
| filter of the table, the slowest of ${FILTERS.length} | ${ms((r) => r.filter)} |
| charts of another scenario                     | ${ms((r) => r.scenario)} |

Size of the file: ${(statSync(file).size / 1e6).toFixed(1)} MB. As JSON the data have ${(JSON.stringify(summary).length / 1e6).toFixed(1)} MB.
`;
writeFileSync('LARGE.md', await format(text, { parser: 'markdown' }));
console.log(text);
