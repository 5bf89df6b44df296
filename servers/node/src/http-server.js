// The baseline: Node's http module alone. It has no router, so a map finds the route.
import { createServer } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';

import { get, ID, MAX_BODY_BYTES, PLAIN, postBytes, postString, TEXT, TooLarge, upload } from './answers.js';
import { IDENTITY, IS_HTTP2, SETTINGS } from './launch.js';

/** Serves `/path0` to `/path{routes - 1}` and the others; resolves to the address that it listens on. */
export function listen(address, routes) {
  const table = buildTable(routes);
  const handle = (request, response) => {
    answer(table, request, response)?.catch((error) => refuse(response, error.statusCode ?? 500));
  };
  const server = create(handle);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => resolve(server.address()));
  });
}

function create(handle) {
  if (IDENTITY) return createSecureServer(IDENTITY, handle);
  return IS_HTTP2 ? createHttp2Server(handle) : createServer(SETTINGS, handle);
}

/** The routes by path: the number of those with an id, and the handlers of the others. */
function buildTable(routes) {
  const numbers = new Map(Array.from({ length: routes }, (_, n) => [`/path${n}`, n]));
  const gets = new Map([
    ['/text', (response) => sendText(response, TEXT)],
    ['/json', (response) => sendJson(response, { message: TEXT })],
  ]);
  const posts = new Map([
    ['/echo', echo],
    ['/file', async (request, response) => sendText(response, await upload(request))],
  ]);
  for (const [path, n] of numbers) {
    posts.set(path, async (request, response) => {
      sendText(response, postString(n, (await readBody(request)).toString()));
    });
    posts.set(`/pathBytes${n}`, async (request, response) => {
      sendText(response, postBytes(n, await readBody(request)));
    });
  }
  return { numbers, gets, posts };
}

/** Answers a request. Returns a promise only where its body is read. */
function answer({ numbers, gets, posts }, request, response) {
  const path = request.url.split('?', 1)[0];
  if (request.method === 'POST') {
    const post = posts.get(path);
    return post ? post(request, response) : refuse(response, 404);
  }
  if (request.method !== 'GET') return refuse(response, 404);
  const plain = gets.get(path);
  if (plain) return plain(response);
  const slash = path.lastIndexOf('/');
  const n = numbers.get(path.slice(0, slash));
  const id = parseId(path.slice(slash + 1));
  return n === undefined || id === undefined ? refuse(response, 404) : sendText(response, get(n, id));
}

function parseId(text) {
  const number = Number(text);
  return /^-?\d+$/.test(text) && number >= ID.minimum && number <= ID.maximum ? number : undefined;
}

async function echo(request, response) {
  const sent = (await readBody(request)).toString();
  let order;
  try {
    order = JSON.parse(sent);
  } catch {
    return refuse(response, 400);
  }
  sendJson(response, order);
}

function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let length = 0;
    request.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BODY_BYTES) reject(new TooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(chunks, length)));
    request.on('error', reject);
  });
}

const sendText = (response, body) => send(response, PLAIN, body);

const sendJson = (response, document) => send(response, 'application/json', JSON.stringify(document));

function send(response, contentType, body) {
  response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function refuse(response, status) {
  response.writeHead(status, { 'content-length': 0, ...(status === 413 && !IS_HTTP2 ? { connection: 'close' } : {}) });
  response.end();
}
