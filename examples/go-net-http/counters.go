package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime/metrics"
)

// tellCounters answers whoever connects with the totals of Go's runtime, when tare asks for them (counters = "own").
func tellCounters() {
	prefix := os.Getenv("TARE_COUNTERS")
	if prefix == "" {
		return
	}
	// The "@" makes the name abstract: there is no file.
	listener, err := net.Listen("unix", fmt.Sprintf("@%s-%d", prefix, os.Getpid()))
	if err != nil {
		return
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		json.NewEncoder(connection).Encode(counters())
		connection.Close()
	}
}

func counters() map[string]any {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	pauses := map[string]uint64{"pauses": samples[3].Value.Uint64(), "pause_ns": 0}
	if samples[4].Value.Kind() == metrics.KindFloat64Histogram {
		pauses["pause_ns"] = uint64(total(samples[4].Value.Float64Histogram()) * 1e9)
	}
	return map[string]any{
		"allocated_bytes":      samples[0].Value.Uint64(),
		"heap_used_bytes":      samples[1].Value.Uint64(),
		"heap_committed_bytes": samples[2].Value.Uint64(),
		"collectors":           map[string]any{"Go": pauses},
	}
}

// total is the sum of a histogram of seconds, each counted as the lower end of its bucket.
func total(histogram *metrics.Float64Histogram) float64 {
	sum := 0.0
	for i, count := range histogram.Counts {
		if begin := histogram.Buckets[i]; begin > 0 {
			sum += begin * float64(count)
		}
	}
	return sum
}
