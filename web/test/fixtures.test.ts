// The fixtures, and the packing of a summary into the page.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fill, pack, PLACEHOLDERS } from '../fixtures/fill';
import { FIXTURES } from '../fixtures/index';
import { Details } from '../src/summary/details';
import { readSummary } from '../src/summary/read';

test('fixtures are reproducible', () => {
  expect(JSON.stringify(FIXTURES.compared!())).toBe(JSON.stringify(FIXTURES.compared!()));
});

test('fixtures have the expected numbers of cells and unique ids', () => {
  const expected: Record<string, number> = { sequential: 33, thousand: 1000, families: 360 };
  for (const [name, make] of Object.entries(FIXTURES)) {
    const { cells, comparisons } = make();
    const ids = new Set(cells.map((c) => c.id));
    expect(ids.size).toBe(expected[name] ?? cells.length);
    expect(cells).toHaveLength(ids.size);
    for (const c of comparisons) expect(ids.has(c.baseline_cell)).toBe(true);
  }
});

test.each(['compared', 'sequential', 'families', 'explained'])('the figures of "%s" are consistent', (name) => {
  const { cells, comparisons, run, trust, findings } = FIXTURES[name]!();
  const near = (a: number, b: number, share: number) => expect(Math.abs(a / b - 1)).toBeLessThan(share);
  for (const cell of cells) {
    const counts = cell.latency.map((l) => l.response.count).reduce((a, b) => a + b, 0);
    near(counts, cell.requests_ok, 0.01);
    near(
      cell.cpu_by_kind
        .filter((k) => k.kind !== 'jit')
        .map((k) => k.ns_per_request)
        .reduce((a, b) => a + b, 0),
      cell.cpu_ns_per_request!.value,
      0.01,
    );
    for (const { response, service, pace } of cell.latency) {
      near(response.count, pace.answers_per_s * pace.window_s, 0.01);
      service.percentiles.forEach((p, i) =>
        expect(response.percentiles[i]!.value_ns).toBeGreaterThanOrEqual(p.value_ns),
      );
      expect(response.max_ns!).toBeGreaterThanOrEqual(response.percentiles.at(-1)!.value_ns);
    }
    for (const point of cell.timeline) {
      expect(point.cpu.map((k) => k.cores).reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(1);
      expect(point.t_s).toBeLessThan(run.duration_s);
    }
    const pauses = cell.timeline.filter((p) => p.phase === 'measure').map((p) => p.gc_pauses!);
    expect(cell.gc_pauses).toBe(pauses.reduce((a, b) => a + b, 0));
  }
  for (const c of comparisons.flatMap((comparison) => comparison.currencies)) {
    near(c.ratio, c.variant_value / c.baseline_value, 0.01);
    if (c.fork_ratios.length) {
      const logs = c.fork_ratios.map(Math.log);
      near(Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length), c.ratio, 0.001);
      expect(c.lo! < c.ratio && c.ratio < c.hi!).toBe(true);
    }
  }
  expect(trust.warnings).toBe(findings.filter((f) => f.severity !== 'info').length);
});

test('the code of the built page is before the details, so that the answer does not wait for them', () => {
  const page = readFileSync('dist/report.html', 'utf8');
  const places = ['id="tare-summary"', '<script>(() => {', 'id="tare-details"'].map((part) => page.indexOf(part));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test('a filled page contains no markup from the data, and unpacks to the same data', async () => {
  const summary = FIXTURES.hostile!();
  const page = fill(`<script>${PLACEHOLDERS[0]}</script><script>${PLACEHOLDERS[1]}</script>`, summary);
  expect(page.match(/</g)).toHaveLength(4);
  const [first, parts] = [...page.matchAll(/<script>([^<]*)<\/script>/g)].map((m) => m[1]!);
  const read = await readSummary(first!);
  expect(read.cells.every((cell) => cell.timeline.length === 0)).toBe(true);
  const details = new Details(Promise.resolve(parts!.split('\n')));
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

test('a page that is cut off says so, and not that nothing was measured', async () => {
  const { cells } = FIXTURES.compared!();
  for (const parts of [[pack({ cut: 'off' }).slice(0, 8)], []])
    await expect(new Details(Promise.resolve(parts)).open(0, cells)).rejects.toThrow('This page is cut off');
});

test('an error message refuses data of another schema and missing data', async () => {
  await expect(readSummary(pack({ schema: 'tare-summary/9' }))).rejects.toThrow(
    'reads tare-summary/1, but its data says tare-summary/9',
  );
  await expect(readSummary('__TARE_SUMMARY__')).rejects.toThrow('holds no readable summary');
});
