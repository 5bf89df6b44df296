// A server of Express. LAYER=1 puts helmet, a middleware that adds security headers, before its routes.
const express = require("express");
const helmet = require("helmet");

const app = express();
if (process.env.LAYER) {
  app.use(helmet());
}
app.get("/", (request, response) => response.type("text/plain").send("hello"));
const server = app.listen(Number(process.env.PORT), "127.0.0.1");
// Node closes a connection that rests for 5 s, and a server rests while another one is measured.
server.keepAliveTimeout = 300_000;
