// A server of Go's net/http. LAYER=1 puts a middleware around its handler.
package main

import (
	"log"
	"net/http"
	"os"
	"sync/atomic"
)

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Write([]byte("hello"))
}

// The layer: counts requests, and answers 500 when the handler panics.
func withRecovery(next http.Handler) http.Handler {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "internal error", http.StatusInternalServerError)
			}
		}()
		requests.Add(1)
		next.ServeHTTP(w, r)
	})
}

func main() {
	go tellCounters()
	var handler http.Handler = http.HandlerFunc(hello)
	if os.Getenv("LAYER") != "" {
		handler = withRecovery(handler)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), handler))
}
