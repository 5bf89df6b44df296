"""Answers every request on ADDRESS PORT, and prints how many it answered when it is told to end.

With a third argument, a file: it gets the time at which each request arrived, in nanoseconds of the monotonic clock.
"""

import asyncio
import pathlib
import signal
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n4"
END = b"\r\n\r\n"


class Counting(asyncio.Protocol):
    answered = 0
    arrived_ns = []

    def connection_made(self, transport):
        self.transport = transport
        self.rest = b""

    def data_received(self, data):
        # Requests have no body.
        *heads, self.rest = (self.rest + data).split(END)
        Counting.answered += len(heads)
        Counting.arrived_ns += [time.monotonic_ns()] * len(heads)
        self.transport.write(ANSWER * len(heads))


async def main():
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    await loop.create_server(Counting, sys.argv[1], int(sys.argv[2]))
    await ended.wait()
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text("\n".join(map(str, Counting.arrived_ns)), encoding="utf-8")
    print(Counting.answered, flush=True)


asyncio.run(main())
