// The answers of the endpoints, as in contract.toml: the application's work, the same on both sides of a comparison.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The number of routes of a server named `Multi`: `/path0` to `/path127`. */
export const MULTI_ROUTES = 128;

/** A longer body is refused with 413. */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** The text of `/text`, and of `/json` as a JSON document. */
export const TEXT = 'Hello, World!';

export const PLAIN = 'text/plain; charset=UTF-8';

/** The range of an id: 32 bits, as on the other servers. */
export const ID = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/** A body that is longer than the limit. */
export class TooLarge extends Error {
  statusCode = 413;
}

export const get = (n, id) => String(n + id);

export const postString = (n, body) => `Ok [${n}], string length = ${body.length}`;

export const postBytes = (n, body) => `Ok [${n}], bytes length = ${body.length}`;

/** Saves a stream to a file as it arrives, returns its length, and removes the file. */
export async function upload(stream) {
  const file = join(tmpdir(), `tare-upload-${randomUUID()}`);
  try {
    await pipeline(stream, limitLength(), createWriteStream(file));
    return `Ok, file length = ${(await stat(file)).size}`;
  } finally {
    await unlink(file).catch(() => {});
  }
}

function limitLength() {
  let length = 0;
  return new Transform({
    transform(chunk, _encoding, done) {
      length += chunk.length;
      done(length > MAX_BODY_BYTES ? new TooLarge() : null, chunk);
    },
  });
}
