// Simulates histories with six planted changes, reads them with `tare history`, opens a page, and writes HISTORY.md:
// npm run history [-- path/to/tare]. Fails if a change is missing, at the wrong run, or invented.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'prettier';
import { runnerImport } from 'vite';
import { measureFirstPaint } from './first_paint.mjs';

const HISTORIES = 20;
const RECORDS = 200;
/** The planted changes: index of the first run, and the factor of the ratio from there on. */
const PLANTED = [
  [25, 1.05],
  [60, 0.95],
  [72, 1.06],
  [110, 1.05],
  [150, 0.94],
  [185, 1.05],
];
/** Runs scatter by this share around their level. */
const SCATTER = 0.01;
const VISITS = 5;

const program = resolve(process.argv[2] ?? '../target/release/tare');
const standard = JSON.parse(readFileSync('fixtures/golden/decided.json', 'utf8'));
const { module: random } = await runnerImport('./fixtures/random.ts');
const { module: browsers } = await runnerImport('./test/browser.ts');

/** Writes summaries of runs, one per day, as `tare run` does. */
function simulate(folder, seed) {
  const { normal } = random.seededRandom(seed);
  for (let at = 0; at < RECORDS; at++) {
    const summary = structuredClone(standard);
    const id = `run-${String(at).padStart(3, '0')}`;
    const day = new Date(Date.UTC(2026, 0, 1 + at)).toISOString().replace('.000Z', 'Z');
    Object.assign(summary.run, { id, started_at: day, git_revision: `revision-${at}` });
    for (const cell of summary.cells) Object.assign(cell, { version: `1.${Math.floor(at / 50)}`, timeline: [] });
    const level = PLANTED.reduce((product, [from, factor]) => (at >= from ? product * factor : product), 1.1);
    const ratio = level * Math.exp(SCATTER * normal());
    for (const figure of summary.comparisons[0].currencies) {
      if (figure.name === 'cpu_per_request') Object.assign(figure, { ratio, lo: ratio * 0.98, hi: ratio * 1.02 });
    }
    mkdirSync(join(folder, 'runs', id), { recursive: true });
    // A run has a record, which is read only where the summary is missing.
    writeFileSync(join(folder, 'runs', id, 'record.sqlite'), '');
    writeFileSync(join(folder, 'runs', id, 'summary.json'), JSON.stringify(summary));
  }
}

/** The errors in the changes that were found. */
function findFaults(changes) {
  const missing = PLANTED.filter(([at]) => !changes.some((change) => Math.abs(change.at - at) <= 1));
  const invented = changes.filter((change) => !PLANTED.some(([at]) => Math.abs(change.at - at) <= 1));
  return [
    ...missing.map(([at]) => `the change at run ${at} was not found`),
    ...invented.map(({ at }) => `a change at run ${at} was invented`),
  ];
}

const tare = (folder, ...flags) =>
  execFileSync(program, ['history', '--dir', folder, ...flags], { encoding: 'utf8', maxBuffer: 1 << 28 });

const wrong = [];
const readMs = [];
let exact = 0;
mkdirSync('test-results/pages', { recursive: true });
const file = resolve('test-results/pages/history.html');
for (let seed = 1; seed <= HISTORIES; seed++) {
  const folder = mkdtempSync(join(tmpdir(), 'tare-history-'));
  simulate(folder, seed);
  const from = performance.now();
  const { lines } = JSON.parse(tare(folder, '--json'));
  readMs.push(performance.now() - from);
  if (lines.length !== 1 || lines[0].points.length !== RECORDS)
    throw new Error(`seed ${seed}: not one line of all runs`);
  wrong.push(...findFaults(lines[0].changes).map((fault) => `seed ${seed}: ${fault}`));
  exact += lines[0].changes.filter((change) => PLANTED.some(([at]) => change.at === at)).length;
  if (seed === 1) tare(folder, '--html', file);
  rmSync(folder, { recursive: true });
}

const browser = await browsers.launch();
const version = browser.version();
const paints = [];
for (let i = 0; i < VISITS; i++) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(pathToFileURL(file).href);
  await page.locator('svg').first().waitFor();
  paints.push(await measureFirstPaint(page));
  await page.close();
}
await browser.close();

const ms = (all) => {
  all.sort((a, b) => a - b);
  return `${Math.round(all[Math.floor(all.length / 2)])} ms | ${Math.round(all.at(-1))} ms`;
};
const planted = HISTORIES * PLANTED.length;
const missed = wrong.filter((fault) => fault.includes('not found')).length;
const text = `# Histories with planted changes

\`npm run build && npm run history\` makes this file again: ${HISTORIES} simulated histories of ${RECORDS} runs, with six changes of
5 to 6 % each, and a scatter of ${SCATTER * 100} %. \`tare history\` reads their \`summary.json\` files. The page was opened ${VISITS} times in
Chromium ${version} on ${availableParallelism()} cores.

| what | count |
| --- | --- |
| changes that are planted | ${planted} |
| found, at most one run away | ${planted - missed} |
| found in their exact place | ${exact} |
| invented | ${wrong.length - missed} |

| what | median | most |
| --- | --- | --- |
| \`tare history --json\` of ${RECORDS} runs | ${ms(readMs)} |
| first paint of the page | ${ms(paints)} |

Size of the page: ${(statSync(file).size / 1e3).toFixed(0)} kB.
`;
writeFileSync('HISTORY.md', await format(text, { parser: 'markdown' }));
console.log(text);
for (const fault of wrong) console.error(`error: ${fault}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
