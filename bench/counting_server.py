"""Answers every request on ADDRESS PORT. On SIGTERM it prints how many requests it answered, and ends.

A third argument names a file: there it writes when each request arrived, in nanoseconds of the monotonic clock.
"""

import asyncio
import pathlib
import signal
import sys
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n4"
END_OF_HEAD = b"\r\n\r\n"


class CountingProtocol(asyncio.Protocol):
    answered = 0
    arrived_ns = []

    def connection_made(self, transport):
        self.transport = transport
        self.incomplete = b""

    def data_received(self, data):
        # Requests have no body.
        *heads, self.incomplete = (self.incomplete + data).split(END_OF_HEAD)
        CountingProtocol.answered += len(heads)
        CountingProtocol.arrived_ns += [time.monotonic_ns()] * len(heads)
        self.transport.write(RESPONSE * len(heads))


async def main():
    loop = asyncio.get_running_loop()
    stop_requested = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop_requested.set)
    await loop.create_server(CountingProtocol, sys.argv[1], int(sys.argv[2]))
    await stop_requested.wait()
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text("\n".join(map(str, CountingProtocol.arrived_ns)), encoding="utf-8")
    print(CountingProtocol.answered, flush=True)


asyncio.run(main())
