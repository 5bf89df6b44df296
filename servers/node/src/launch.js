// Starts a server from the command line. The server prints a line when it listens. SIGTERM ends it.

/** Servers under test are reachable from another machine only where tare asks for it. */
const HOST = process.env.TARE_ADDRESS ?? '127.0.0.1';

const { TARE_PROTOCOL: protocol, TARE_CERTIFICATE: pem } = process.env;

/** Whether the server speaks HTTP/2 instead of HTTP/1.1: `h2c` without TLS, `h2` over TLS. */
export const IS_HTTP2 = ['h2c', 'h2'].includes(protocol);

/** The certificate and its private key, where the server speaks HTTP/2 over TLS. */
export const IDENTITY = protocol === 'h2' ? { key: pem, cert: pem } : undefined;

/** The settings of both sides of a comparison: Node's defaults, except where a comment gives the reason. */
export const SETTINGS = {
  // A connection is idle while other servers have their turn. The default limit of five seconds would close it.
  keepAliveTimeout: 600_000,
  // fastify's default. With Node's default of five minutes, only one of the two sides would time requests out.
  requestTimeout: 0,
};

/** Enough for thousands of users who connect at once; the default is 511. */
const BACKLOG = 4096;

/**
 * Starts the server in the arguments on the port in the arguments (0 = any free one), and prints the actual port.
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
