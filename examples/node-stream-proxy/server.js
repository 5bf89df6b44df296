// node server.js app PORT: a stream of server-sent events, such as the tokens of a model.
// node server.js proxy PORT: the same behind a proxy, which passes on each piece at once.
// node server.js buffering PORT: the proxy keeps what comes until it has 4 KiB, as proxies do by default.
const http = require("http");

const [role, port] = process.argv.slice(2);
const EVENTS = 20, FIRST_MS = 20, GAP_MS = 5, BUFFER_BYTES = 4096;

function app(request, response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  let sent = 0;
  const send = () => {
    response.write(`data: {"token": ${sent}, "text": "lorem ipsum dolor"}\n\n`);
    sent += 1;
    if (sent === EVENTS) return response.end();
    setTimeout(send, GAP_MS);
  };
  setTimeout(send, FIRST_MS);
}

// The layer: a proxy before a server at this port.
function proxyTo(upstreamPort, buffers) {
  const agent = new http.Agent({ keepAlive: true });
  return (request, response) => {
    const { url, headers } = request;
    const sent = http.get({ host: "127.0.0.1", port: upstreamPort, path: url, headers, agent }, (upstream) => {
      response.writeHead(upstream.statusCode, upstream.headers);
      if (!buffers) return upstream.pipe(response);
      let kept = Buffer.alloc(0);
      upstream.on("data", (piece) => {
        kept = Buffer.concat([kept, piece]);
        if (kept.length < BUFFER_BYTES) return;
        response.write(kept);
        kept = Buffer.alloc(0);
      });
      upstream.on("end", () => response.end(kept));
    });
    // A user who closes the connection ends the stream behind the proxy, too.
    response.on("close", () => sent.destroy());
  };
}

const listen = (handler, port, then) => http.createServer(handler).listen(port, "127.0.0.1", then);

if (role === "app") {
  listen(app, Number(port));
} else {
  const behind = listen(app, 0, () => listen(proxyTo(behind.address().port, role === "buffering"), Number(port)));
}
