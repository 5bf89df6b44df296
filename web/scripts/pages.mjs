// Writes one page per fixture into test-results/pages, to be looked at: npm run build && npm run fixtures.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runnerImport } from 'vite';

const { module } = await runnerImport('./fixtures/fill.ts');
const { module: fixtures } = await runnerImport('./fixtures/index.ts');
const template = readFileSync('dist/report.html', 'utf8');
mkdirSync('test-results/pages', { recursive: true });
for (const [name, make] of Object.entries(fixtures.FIXTURES)) {
  const path = `test-results/pages/${name}.html`;
  writeFileSync(path, module.fill(template, make()));
  console.log(path);
}
