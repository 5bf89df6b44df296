// The data of a cell that only charts show. They stay packed, one part per panel, until the reader opens the panel.
// A mirror of crates/report/src/html/packed.rs.

import type { Cell, TimePoint } from './cell';
import type { CurvePoint, Latency } from './latency';
import { unpack } from './read';

/** Percentiles in ten-millionths of a per cent, and the value at each, in ns. */
export type PackedCurve = [percentiles: number[], values: number[]];

/** What no chart shows of a point: summary.json has it. */
type NotPacked = 'cpu_ns_per_request' | 'jit_share' | 'heap_used_bytes';

/** The points of a timeline by columns. */
type PackedTimes = { [K in Exclude<keyof TimePoint, NotPacked | 't_s' | 'cpu'>]: TimePoint[K][] } & {
  /** Time since the previous point, in hundredths of a second. */
  after_cs: number[];
  /** Cores by kind of thread. */
  cores: Record<string, number[]>;
};

const DISTRIBUTIONS = ['response', 'service', 'send_lag', 'machine_hiccups', 'jvm_hiccups'] as const;

export type PackedCurves = { starts: [fork: number, curve: PackedCurve][] } & Record<
  (typeof DISTRIBUTIONS)[number],
  PackedCurve | null
>;

export interface ChartDetails {
  timeline: PackedTimes;
  /** In the order of the cell's latencies. */
  curves: PackedCurves[];
  command: string;
}

/** The packed parts of a page, in the order of its panels. */
export class Details {
  private readonly opened = new Map<number, Promise<void>>();

  /** `parts` resolves later: a browser shows the answer before it has read them. */
  constructor(private readonly parts: Promise<string[]>) {}

  /** Unpacks the chart data of a panel into its cells, once. */
  open(panel: number, cells: Cell[]): Promise<void> {
    let opening = this.opened.get(panel);
    if (!opening) this.opened.set(panel, (opening = this.unpack(panel, cells)));
    return opening;
  }

  private async unpack(panel: number, cells: Cell[]): Promise<void> {
    const parts = await this.parts;
    const packed = parts[panel];
    const data = packed ? await unpack(packed).catch(() => null) : null;
    if (!data) throw new Error('This page is cut off: it lacks charts. Make it again with "tare report RUN".');
    const details = data as Record<string, ChartDetails>;
    for (const cell of cells) {
      const { timeline, curves, command } = details[cell.id]!;
      cell.timeline = pointsOf(timeline);
      cell.command = command;
      cell.latency.forEach((latency, i) => addCurves(latency, curves[i]!));
    }
    parts[panel] = '';
  }
}

function pointsOf(columns: PackedTimes): TimePoint[] {
  const kinds = Object.entries(columns.cores);
  let at_cs = 0;
  return columns.after_cs.map((after, i) => ({
    t_s: (at_cs += after) / 100,
    fork: columns.fork[i]!,
    phase: columns.phase[i]!,
    slice_kind: columns.slice_kind[i]!,
    throughput_per_s: columns.throughput_per_s[i]!,
    p50_ns: columns.p50_ns[i]!,
    p99_ns: columns.p99_ns[i]!,
    cpu: kinds.map(([kind, values]) => ({ kind, cores: values[i]! })),
    rss_bytes: columns.rss_bytes[i]!,
    heap_after_gc_bytes: columns.heap_after_gc_bytes[i]!,
    gc_pauses: columns.gc_pauses[i]!,
    gc_pause_ns: columns.gc_pause_ns[i]!,
    failed: columns.failed[i]!,
    cpu_ns_per_request: null,
    jit_share: null,
    heap_used_bytes: null,
  }));
}

function addCurves(latency: Latency, curves: PackedCurves): void {
  for (const name of DISTRIBUTIONS) {
    const curve = curves[name];
    if (curve) latency[name]!.curve = curvePoints(curve);
  }
  latency.starts = curves.starts.map(([fork, curve]) => ({ fork, percentiles: curvePoints(curve) }));
}

const curvePoints = ([percentiles, values]: PackedCurve): CurvePoint[] =>
  percentiles.map((percentile, i) => ({ percentile: percentile / 1e7, value_ns: values[i]! }));
