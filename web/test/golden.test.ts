// The summaries that the program writes (fixtures/golden), held against the page's types.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GOLDEN, goldenText } from '../fixtures/golden';
import { checkSchema } from '../src/summary/read';

const FOLDER = 'test-results/golden';
const TSC = join('node_modules', '.bin', 'tsc');

/** What no golden summary shows, so that the type checker cannot hold its type against anything. */
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
  // As literals, objects must have exactly the keys of their type, and strings must be among those that it names.
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
  for (const name of GOLDEN) noteValues(JSON.parse(goldenText(name)), 'summary', shown);
  const never = [...shown].filter(([, some]) => !some).map(([path]) => path);
  expect(never.sort()).toEqual(KEYS_WITHOUT_VALUE);
});

test.each(GOLDEN)('the page reads the golden summary "%s"', (name) => {
  expect(checkSchema(JSON.parse(goldenText(name))).schema).toBe('tare-summary/1');
});

/** What the type checker says of the golden files; empty when it finds nothing. */
function typeErrors(): string {
  try {
    return execFileSync(TSC, ['--project', FOLDER], { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  }
}

/** Notes for each path whether any value stands there: `null` and an empty list say nothing of their type. */
function noteValues(value: unknown, path: string, shown: Map<string, boolean>): void {
  const some = value !== null && !(Array.isArray(value) && value.length === 0);
  shown.set(path, some || (shown.get(path) ?? false));
  if (Array.isArray(value)) for (const item of value) noteValues(item, `${path}[]`, shown);
  else if (value !== null && typeof value === 'object')
    for (const [key, inner] of Object.entries(value)) noteValues(inner, `${path}.${key}`, shown);
}
