// The server behind the proxies: a small JSON document.
const http = require("node:http");

const body = JSON.stringify({ id: 7, name: "a server behind a proxy", tags: ["small", "json", "document"] });

const server = http.createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", body.length);
  response.end(body);
});
// A proxy keeps idle connections. Node would close them after five seconds, and the proxy would answer 502.
server.keepAliveTimeout = 300_000;
server.listen(Number(process.env.PORT), "127.0.0.1");
