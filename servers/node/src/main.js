// The servers on Node.js: its own http module alone, and fastify on top of it. `node main.js SERVER PORT` starts one.
import { MULTI_ROUTES } from './answers.js';
import { listen as fastify } from './fastify-server.js';
import { listen as http } from './http-server.js';
import { serve } from './launch.js';

await serve({
  'node.Http': (address) => http(address, 1),
  'node.HttpMulti': (address) => http(address, MULTI_ROUTES),
  'node.Fastify': (address) => fastify(address, 1),
  'node.FastifyMulti': (address) => fastify(address, MULTI_ROUTES),
});
