"""A server of Starlette. LAYER=1 puts a middleware around its routes."""

import os
import time
import uuid

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route


class RequestIds:
    """The layer: gives each request an id and a time, as a middleware of ASGI."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begin = time.perf_counter()
        request_id = uuid.uuid4().hex.encode()

        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                took = f"app;dur={(time.perf_counter() - begin) * 1000:.3f}".encode()
                message["headers"] += [(b"x-request-id", request_id), (b"server-timing", took)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


async def hello(request):
    return PlainTextResponse("hello")


app = Starlette(routes=[Route("/", hello)])
if os.environ.get("LAYER"):
    app.add_middleware(RequestIds)

if __name__ == "__main__":
    import uvicorn

    port = int(os.environ["PORT"])
    # A server rests while another one is measured, and uvicorn closes a connection that rests for 5 s.
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="warning", timeout_keep_alive=300)
