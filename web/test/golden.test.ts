// Checks the summaries that the program writes (fixtures/golden) against the types of the page.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GOLDEN, goldenText } from '../fixtures/golden';
import { checkSchema } from '../src/summary/read';

const FOLDER = 'test-results/golden';
const TSC = join('node_modules', '.bin', 'tsc');

/** Keys without a value in any golden summary, so that the type checker cannot check their types. */
const KEYS_WITHOUT_VALUE = [
  // No golden run lost a connection.
  'summary.cells[].connection_events',
  // Jitter has no interval over forks; facts have no source.
  'summary.cells[].messages.jitter.percentiles[].hi_ns',
  'summary.cells[].messages.jitter.percentiles[].lo_ns',
  'summary.cells[].resolved[].source',
  'summary.environment[].rows[].source',
  'summary.load.rows[].source',
];

test('golden summaries have the types that the page reads', () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // In literals, TypeScript checks for missing and extra keys, and strings against their union types.
  for (const name of GOLDEN) {
    const head = "import type { Summary } from '../../src/summary';\n";
    writeFileSync(join(FOLDER, `${name}.ts`), `${head}export const golden: Summary = ${goldenText(name)};\n`);
  }
  const config = { extends: '../../tsconfig.json', include: ['*.ts'] };
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(config));
  expect(typeErrors()).toBe('');
});

test('every key has a value in some golden summary', () => {
  const shown = new Map<string, boolean>();
  for (const name of GOLDEN) recordValues(JSON.parse(goldenText(name)), 'summary', shown);
  const never = [...shown].filter(([, hasValue]) => !hasValue).map(([path]) => path);
  expect(never.sort()).toEqual(KEYS_WITHOUT_VALUE);
});

test.each(GOLDEN)('the page reads the golden summary "%s"', (name) => {
  expect(checkSchema(JSON.parse(goldenText(name))).schema).toBe('tare-summary/1');
});

/** The messages of the type checker about the golden files; empty if there is none. */
function typeErrors(): string {
  try {
    return execFileSync(TSC, ['--project', FOLDER], { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  }
}

/** Records for each path whether it has a value. `null` and an empty list are none, because they do not show a type. */
function recordValues(value: unknown, path: string, shown: Map<string, boolean>): void {
  const hasValue = value !== null && !(Array.isArray(value) && value.length === 0);
  shown.set(path, hasValue || (shown.get(path) ?? false));
  if (Array.isArray(value)) for (const item of value) recordValues(item, `${path}[]`, shown);
  else if (value !== null && typeof value === 'object')
    for (const [key, inner] of Object.entries(value)) recordValues(inner, `${path}.${key}`, shown);
}
