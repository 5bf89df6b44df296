// A small API gateway: it checks a key, numbers each request, and hands it on to UPSTREAM.
const http = require("node:http");

const [host, port] = process.env.UPSTREAM.split(":");
const agent = new http.Agent({ keepAlive: true });
let handed = 0;

function answer(response, status) {
  response.writeHead(status, { "content-type": "text/plain" });
  response.end(http.STATUS_CODES[status]);
}

function handOn(request, response) {
  if (request.headers["x-api-key"] !== "example") return answer(response, 401);
  const { method, url: path, headers } = request;
  const onward = http.request({ host, port, agent, method, path, headers }, (upstream) => {
    response.writeHead(upstream.statusCode, { ...upstream.headers, "x-request-number": String(++handed) });
    upstream.pipe(response);
  });
  onward.on("error", () => answer(response, 502));
  request.pipe(onward);
}

const server = http.createServer(handOn);
// As long as the server behind it: users who wait for their turn keep their connections.
server.keepAliveTimeout = 300_000;
server.listen(Number(process.env.PORT), "127.0.0.1");
