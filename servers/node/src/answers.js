// What the endpoints answer, as contract.toml has it: the work proper, the same on both sides of a comparison.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** How many routes a server named `Multi` has: `/path0` to `/path127`. */
export const MULTI_ROUTES = 128;

/** A body beyond this is refused with 413. */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** What `/text` and, as a JSON document, `/json` say. */
export const TEXT = 'Hello, World!';

export const PLAIN = 'text/plain; charset=UTF-8';

/** What an id may be: 32 bits, as on the other servers. */
export const ID = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/** That a body went beyond the limit. */
export class TooLarge extends Error {
  statusCode = 413;
}

export const get = (n, id) => String(n + id);

export const postString = (n, body) => `Ok [${n}], string length = ${body.length}`;

export const postBytes = (n, body) => `Ok [${n}], bytes length = ${body.length}`;

/** Saves a stream to a file as it arrives, tells its length, and removes it: it is not needed afterwards. */
export async function upload(stream) {
  const file = join(tmpdir(), `tare-upload-${randomUUID()}`);
  try {
    await pipeline(stream, limit(), createWriteStream(file));
    return `Ok, file length = ${(await stat(file)).size}`;
  } finally {
    await unlink(file).catch(() => {});
  }
}

function limit() {
  let length = 0;
  return new Transform({
    transform(chunk, _encoding, done) {
      length += chunk.length;
      done(length > MAX_BODY_BYTES ? new TooLarge() : null, chunk);
    },
  });
}
