package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// collections is kept, because reading them for the first time allocates some kilobytes.
var collections debug.GCStats

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
	}
	metrics.Read(samples)
	debug.ReadGCStats(&collections)
	pauses := map[string]int64{"pauses": collections.NumGC, "pause_ns": collections.PauseTotal.Nanoseconds()}
	return map[string]any{
		"allocated_bytes":      samples[0].Value.Uint64(),
		"heap_used_bytes":      samples[1].Value.Uint64(),
		"heap_committed_bytes": samples[2].Value.Uint64(),
		"collectors":           map[string]any{"Go": pauses},
	}
}
