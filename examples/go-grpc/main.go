// A server of grpc-go with the standard health service. LAYER=1 puts an interceptor around every call. TLS names a PEM file
// with a certificate and its private key.
package main

import (
	"context"
	"log"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// The layer: counts and times calls, and logs those that fail.
func observed() grpc.UnaryServerInterceptor {
	var calls, busyNanos atomic.Int64
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		begin := time.Now()
		answer, err := next(ctx, request)
		calls.Add(1)
		busyNanos.Add(int64(time.Since(begin)))
		if err != nil {
			slog.Error("call failed", "method", info.FullMethod, "error", err)
		}
		return answer, err
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	var options []grpc.ServerOption
	if os.Getenv("LAYER") != "" {
		options = append(options, grpc.ChainUnaryInterceptor(observed()))
	}
	if file := os.Getenv("TLS"); file != "" {
		identity, err := credentials.NewServerTLSFromFile(file, file)
		if err != nil {
			log.Fatal(err)
		}
		options = append(options, grpc.Creds(identity))
	}
	server := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(server, health.NewServer())
	log.Fatal(server.Serve(listener))
}
