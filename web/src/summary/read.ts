// Reads the summary, and unpacks the data of the page: base64, zlib, JSON (crates/report/src/html/packed.rs).

import type { Summary } from '.';

/** The schema this page was written for. */
export const SCHEMA = 'tare-summary/1';

/** Unpacks the embedded summary; the error says what is wrong with it. */
export async function readSummary(packed: string): Promise<Summary> {
  if (!('DecompressionStream' in globalThis))
    throw new Error('This browser cannot unpack the report. Use one of 2023 or newer.');
  let data: unknown;
  try {
    data = await unpack(packed);
  } catch {
    throw new Error('This page holds no readable summary. Make it again with "tare report RUN".');
  }
  return checkSchema(data);
}

/** Returns the data as a summary if their schema is this one; else throws. */
export function checkSchema(data: unknown): Summary {
  const schema = (data as { schema?: unknown } | null)?.schema;
  if (schema !== SCHEMA) {
    throw new Error(
      `This page reads ${SCHEMA}, but its data says ${String(schema)}. Use the tare that wrote the data.`,
    );
  }
  return data as Summary;
}

export async function unpack(packed: string): Promise<unknown> {
  const letters = atob(packed.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return (await new Response(plain).json()) as unknown;
}
