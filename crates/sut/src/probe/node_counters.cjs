// Loaded into a Node server before the application (NODE_OPTIONS=--require). Tells the totals of V8's heap to whoever
// connects, and does nothing meanwhile, except that V8 notes each collection. Crate tare-sut, probe/counter_socket.rs.
"use strict";
const net = require("node:net");
const v8 = require("node:v8");
const { isMainThread } = require("node:worker_threads");
const { PerformanceObserver, performance } = require("node:perf_hooks");

const prefix = process.env.TARE_COUNTERS;

// More stops than this between two answers are not told: the answer must stay short.
const MOST_STOPS = 20_000;

// Begin and end of each collection since the last answer, in nanoseconds of CLOCK_MONOTONIC, which is process.hrtime's.
function stops() {
  const zero = Number(process.hrtime.bigint()) - performance.now() * 1e6;
  const at = (ms) => Math.round(zero + ms * 1e6);
  let told = [];
  const note = (entries) => {
    for (const { startTime, duration } of entries) {
      if (told.length <= MOST_STOPS) told.push([at(startTime), at(startTime + duration)]);
    }
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  return () => {
    note(observer.takeRecords());
    const all = told.length <= MOST_STOPS ? told : undefined;
    told = [];
    return all;
  };
}

function counters() {
  let allocated = 0;
  let base = 0;
  let profiler = null;
  const collectors = {};
  const stopsSoFar = stops();

  // What the heap grew by between collections. V8 knows its size before and after each of them.
  function count(used) {
    let before = base;
    for (const { gcType, cost, beforeGC, afterGC } of profiler.stop().statistics) {
      allocated += Math.max(0, beforeGC.heapStatistics.usedHeapSize - before);
      before = afterGC.heapStatistics.usedHeapSize;
      const of = (collectors[gcType] ??= { pauses: 0, pause_ns: 0 });
      of.pauses += 1;
      of.pause_ns += Math.round(cost * 1000);
    }
    allocated += Math.max(0, used - before);
  }

  return () => {
    // Read first, and again at the end: what this function itself allocates does not count.
    const used = v8.getHeapStatistics().used_heap_size;
    if (profiler) count(used);
    profiler = new v8.GCProfiler();
    profiler.start();
    const heap = v8.getHeapStatistics();
    base = heap.used_heap_size;
    return {
      allocated_bytes: allocated,
      heap_used_bytes: heap.used_heap_size,
      heap_committed_bytes: heap.total_heap_size,
      collectors,
      stops: stopsSoFar(),
    };
  };
}

// GCProfiler came with Node 18.15.
if (prefix && isMainThread && v8.GCProfiler) {
  const read = counters();
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.end(JSON.stringify(read()));
  });
  server.on("error", () => {});
  // Exclusive: a worker of a cluster listens by itself, and not through its parent.
  server.listen({ path: `\0${prefix}-${process.pid}`, exclusive: true });
  server.unref();
}
