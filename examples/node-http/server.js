// A server of Node's http module. LAYER=1 puts a middleware around its handler.
const http = require("node:http");

function handler(request, response) {
  response.setHeader("content-type", "text/plain");
  response.end("hello");
}

// The layer: what helmet and its like do for each response.
function withSecurityHeaders(next) {
  const headers = {
    "content-security-policy": "default-src 'self'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
  };
  return (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    next(request, response);
  };
}

const app = process.env.LAYER ? withSecurityHeaders(handler) : handler;
const server = http.createServer(app).listen(Number(process.env.PORT), "127.0.0.1");
// Node closes a connection that rests for 5 s, and a server rests while another one is measured.
server.keepAliveTimeout = 300_000;
