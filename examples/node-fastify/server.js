// A server of Fastify. LAYER=1 registers a plug-in that counts requests and measures how long each one took.
const fastify = require("fastify");

// The layer: two hooks, as plug-ins for metrics have.
function metrics(app, options, done) {
  const counts = new Map();
  app.addHook("onRequest", (request, reply, next) => {
    request.begin = process.hrtime.bigint();
    next();
  });
  app.addHook("onResponse", (request, reply, next) => {
    const key = `${request.method} ${request.routeOptions.url} ${reply.statusCode}`;
    const { requests, ns } = counts.get(key) ?? { requests: 0, ns: 0n };
    counts.set(key, { requests: requests + 1, ns: ns + process.hrtime.bigint() - request.begin });
    next();
  });
  done();
}
// Without this, the hooks would hold for the routes inside the plug-in only.
metrics[Symbol.for("skip-override")] = true;

const app = fastify({ logger: false });
if (process.env.LAYER) {
  app.decorateRequest("begin", null);
  app.register(metrics);
}
app.register(async (routes) => {
  routes.get("/", async (request, reply) => reply.type("text/plain").send("hello"));
});
app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
