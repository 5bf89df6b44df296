// fastify as its users write it: routes with schemas, content type parsers, handlers that return the response.
import fastify from 'fastify';

import { get, ID, MAX_BODY_BYTES, PLAIN, postBytes, postString, TEXT, upload } from './answers.js';
import { IDENTITY, IS_HTTP2, SETTINGS } from './launch.js';

/** Serves `/path0` to `/path{routes - 1}` and the others; resolves to the address that it listens on. */
export async function listen(address, routes) {
  const app = fastify({
    ...SETTINGS,
    http2: IS_HTTP2,
    // Without it fastify closes a connection of HTTP/2 that is idle for 72 seconds, and Node's http2 never does.
    http2SessionTimeout: SETTINGS.keepAliveTimeout,
    ...(IDENTITY && { https: IDENTITY }),
    bodyLimit: MAX_BODY_BYTES,
  });
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  for (let n = 0; n < routes; n++) addRoute(app, n);
  app.get('/text', (_request, reply) => reply.type(PLAIN).send(TEXT));
  app.get('/json', async () => ({ message: TEXT }));
  app.post('/echo', async (request) => request.body);
  app.register(addUploadRoute);
  await app.listen(address);
  return app.server.address();
}

const params = { type: 'object', properties: { id: { type: 'integer', ...ID } }, required: ['id'] };

function addRoute(app, n) {
  app.get(`/path${n}/:id`, { schema: { params } }, (request, reply) =>
    reply.type(PLAIN).send(get(n, request.params.id)),
  );
  app.post(`/path${n}`, (request, reply) => reply.type(PLAIN).send(postString(n, request.body)));
  app.post(`/pathBytes${n}`, (request, reply) => reply.type(PLAIN).send(postBytes(n, request.body)));
}

/** A plugin with its own content type parser, because this route reads bodies as streams. */
async function addUploadRoute(app) {
  app.removeContentTypeParser('application/octet-stream');
  app.addContentTypeParser('application/octet-stream', (_request, stream, done) => done(null, stream));
  app.post('/file', async (request, reply) => reply.type(PLAIN).send(await upload(request.body)));
}
