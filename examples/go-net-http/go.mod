module example.org/go-net-http

go 1.21
