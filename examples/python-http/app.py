"""A server of Python's http.server. LAYER=1 puts a middleware around its handler."""

import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def hello(request):
    body = b"hello"
    request.send_response(200)
    request.send_header("Content-Type", "text/plain")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def timed(handler):
    """The layer: keeps how long the latest requests took."""
    latest = []

    def middleware(request):
        begin = time.perf_counter()
        handler(request)
        latest.append((request.path, time.perf_counter() - begin))
        del latest[:-100]

    return middleware


APP = timed(hello) if os.environ.get("LAYER") else hello


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Buffered, so that a response is one packet.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        APP(self)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
