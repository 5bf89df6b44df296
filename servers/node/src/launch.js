// The life of every server: its name and port as arguments; one line on standard output once it listens; the end by SIGTERM.

/** Servers under test are never reachable from another machine. */
const HOST = '127.0.0.1';

/** What both sides of a comparison run with: Node's own defaults, except where a comment says why not. */
export const SETTINGS = {
  // A connection rests while it is the other servers' turn; the default of five seconds would close it meanwhile.
  keepAliveTimeout: 600_000,
  // fastify's default; Node's own of five minutes would make it look after connections that the other does not look after.
  requestTimeout: 0,
};

/** Room for thousands of users who come at once; the default is 511. */
const BACKLOG = 4096;

/**
 * Has the server that the arguments name open the port that they name (0 = any free one), and says which port it got.
 *
 * A wrong argument ends the process with exit code 2, a port in use with 1, each with one line on standard error.
 */
export async function serve(servers) {
  const [name, port, ...more] = process.argv.slice(2);
  const listen = servers[name];
  if (!listen || more.length > 0) exit(2, `expected SERVER PORT, with a server of ${Object.keys(servers).join(', ')}`);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    exit(2, `"${port}" is not a port: give a number from 0 to 65535`);
  try {
    const address = await listen({ host: HOST, port: Number(port), backlog: BACKLOG });
    console.log(`tare: ready on ${HOST}:${address.port}`);
  } catch (error) {
    exit(1, `cannot listen on ${HOST}:${port}: ${error.message}`);
  }
}

function exit(code, message) {
  console.error(`error: ${message}`);
  process.exit(code);
}
