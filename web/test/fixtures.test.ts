// The fixtures themselves, and how a summary gets into the page.

import { expect, test } from 'vitest';
import { fill, pack, PLACEHOLDERS } from '../fixtures/fill';
import { FIXTURES } from '../fixtures/index';
import { Details } from '../src/summary/details';
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

test('a filled page holds no markup from the data and gives the data back', async () => {
  const summary = FIXTURES.hostile!();
  const page = fill(`<script>${PLACEHOLDERS[0]}</script><script>${PLACEHOLDERS[1]}</script>`, summary);
  expect(page.match(/</g)).toHaveLength(4);
  const [first, parts] = [...page.matchAll(/<script>([^<]*)<\/script>/g)].map((m) => m[1]!);
  const read = await readSummary(first!);
  expect(read.cells.every((cell) => cell.timeline.length === 0)).toBe(true);
  const details = new Details(parts!.split('\n'));
  const panels = [...new Set(read.cells.map((c) => `${c.group}/${c.scenario}`))];
  const cellsOf = (key: string) => read.cells.filter((c) => `${c.group}/${c.scenario}` === key);
  await Promise.all(panels.map((key, i) => details.open(i, cellsOf(key))));
  summary.cells.forEach((cell, i) => {
    const held = read.cells[i]!;
    expect([held.id, held.command, held.timeline.length]).toEqual([cell.id, cell.command, cell.timeline.length]);
    held.timeline.forEach((point, k) => {
      const full = cell.timeline[k]!;
      expect(Math.abs(point.t_s - full.t_s)).toBeLessThan(0.006);
      expect(Math.abs(point.throughput_per_s / full.throughput_per_s - 1)).toBeLessThan(0.006);
      expect(point.cpu.map((c) => c.kind)).toEqual(full.cpu.map((c) => c.kind));
    });
    cell.latency.forEach((latency, k) => {
      const { response, starts } = held.latency[k]!;
      expect(response.percentiles.length).toBe(latency.response.percentiles.length);
      expect(response.curve.length).toBe(latency.response.curve.length);
      expect(response.curve.at(-1)!.percentile).toBe(100);
      expect(starts.length).toBe(latency.starts.length);
    });
  });
});

test('data of another schema, or none, are refused in words', async () => {
  await expect(readSummary(pack({ schema: 'tare-summary/9' }))).rejects.toThrow(
    'reads tare-summary/1, but its data says tare-summary/9',
  );
  await expect(readSummary('__TARE_SUMMARY__')).rejects.toThrow('holds no readable summary');
});
