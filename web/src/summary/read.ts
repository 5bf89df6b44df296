// How the page reads its summary.

import type { Summary } from '.';

/** The schema this page was written for. */
export const SCHEMA = 'tare-summary/1';

/** Reads the summary that stands in the page; the error says what is wrong with it. */
export function readSummary(text: string): Summary {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('This page holds no readable summary. Make it again with "tare report RUN".');
  }
  const schema = (data as { schema?: unknown } | null)?.schema;
  if (schema !== SCHEMA) {
    throw new Error(
      `This page reads ${SCHEMA}, but its data says ${String(schema)}. Use the tare that wrote the data.`,
    );
  }
  return data as Summary;
}
