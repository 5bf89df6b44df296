// Writes a page per fixture and golden summary into test-results/pages, for viewing: npm run build && npm run fixtures.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runnerImport } from 'vite';

const { module } = await runnerImport('./fixtures/fill.ts');
const { module: fixtures } = await runnerImport('./fixtures/index.ts');
const { module: golden } = await runnerImport('./fixtures/golden.ts');
const template = readFileSync('dist/report.html', 'utf8');
mkdirSync('test-results/pages', { recursive: true });
const write = (name, summary) => {
  const path = `test-results/pages/${name}.html`;
  writeFileSync(path, module.fill(template, summary));
  console.log(path);
};
for (const [name, make] of Object.entries(fixtures.FIXTURES)) write(name, make());
for (const name of golden.GOLDEN) write(`golden-${name}`, JSON.parse(golden.goldenText(name)));
