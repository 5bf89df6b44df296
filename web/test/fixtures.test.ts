// The fixtures themselves, and how a summary gets into the page.

import { expect, test } from 'vitest';
import { fill, PLACEHOLDER } from '../fixtures/fill';
import { FIXTURES } from '../fixtures/index';
import { readSummary } from '../src/summary/read';

test('fixtures are the same each time they are made', () => {
  expect(JSON.stringify(FIXTURES.compared!())).toBe(JSON.stringify(FIXTURES.compared!()));
});

test('fixtures have the shapes that their names promise', () => {
  expect(FIXTURES.sequential!().cells).toHaveLength(33);
  expect(FIXTURES.thousand!().cells).toHaveLength(1000);
  expect(FIXTURES.families!().cells).toHaveLength(360);
  for (const make of Object.values(FIXTURES)) {
    const summary = make();
    const ids = summary.cells.map((c) => c.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const c of summary.comparisons) expect(ids).toContain(c.baseline_cell);
  }
});

test('a filled page holds no markup from the data and gives the data back', () => {
  const summary = FIXTURES.hostile!();
  const page = fill(`<script type="application/json">${PLACEHOLDER}</script>`, summary);
  expect(page.match(/</g)).toHaveLength(2);
  expect(readSummary(page.slice(page.indexOf('>') + 1, page.lastIndexOf('</')))).toEqual(
    JSON.parse(JSON.stringify(summary)),
  );
});

test('a summary of another schema is refused in words', () => {
  expect(() => readSummary('{"schema":"tare-summary/9"}')).toThrow(
    'reads tare-summary/1, but its data says tare-summary/9',
  );
  expect(() => readSummary('__TARE_SUMMARY__')).toThrow('holds no readable summary');
});
