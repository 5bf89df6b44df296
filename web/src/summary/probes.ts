// What the probes measured of a server.

export interface Probes {
  heap_committed_peak_bytes: number | null;
  heap_after_gc_peak_bytes: number | null;
  off_heap_peak_bytes: number | null;
  metaspace_peak_bytes: number | null;
  collectors: { collector: string; pauses: number; pause_ns: number }[];
  safepoints: number | null;
  safepoint_share: number | null;
  pauses: PauseTally[];
  probe_cpu_share: number | null;
}

export interface PauseTally {
  cause: 'machine' | 'collection' | 'safepoint' | 'process';
  pauses: number;
  pause_ns: number;
  pause_max_ns: number;
}
