"""A server that behaves unusually: server.py PORT [--daemon] [--grandchild] [--threads N] [--slow]."""

import argparse
import os
import socket
import threading
import time

BODY = b"4"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
STACK_BYTES = 64 << 10


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--daemon", action="store_true", help="leave the session and end the first process")
    parser.add_argument("--grandchild", action="store_true", help="answer from a grandchild in a session of its own")
    parser.add_argument("--threads", type=int, default=0, help="start so many threads that do nothing")
    parser.add_argument("--slow", action="store_true", help="send one byte per second")
    return parser.parse_args()


def leave_session(keep_first_process):
    """Forks twice and continues in the grandchild. The first process ends, or sleeps forever."""
    if os.fork() > 0:
        while keep_first_process:
            time.sleep(3600)
        os._exit(0)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)


def answer_requests(connection, is_slow):
    """Answers the requests of a connection. Each must arrive in one piece, and not together with another."""
    with connection:
        while connection.recv(65_536):
            if is_slow:
                for byte in RESPONSE:
                    connection.sendall(bytes([byte]))
                    time.sleep(1.0)
            else:
                connection.sendall(RESPONSE)


def serve_connection(connection, is_slow):
    try:
        answer_requests(connection, is_slow)
    except OSError:
        pass


def main():
    options = parse_arguments()
    threading.stack_size(STACK_BYTES)
    for _ in range(options.threads):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", options.port), backlog=1024)
    if options.daemon or options.grandchild:
        leave_session(keep_first_process=options.grandchild)
    print("ready" if options.port else f"ready on {listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve_connection, args=(connection, options.slow), daemon=True).start()


main()
