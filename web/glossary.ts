// Reads docs/GLOSSARY.md when the page is built: the words that the page explains, with their definitions.

import { readFileSync } from 'node:fs';

/** The page says *start* for a fork and *measure* for a currency. */
const OTHER_NAMES: Record<string, string> = { fork: 'start', currency: 'measure' };

/** Words of everyday use, or without a place on the page, are not explained. */
const EXPLAINED = new Set([
  'A/A control',
  'allocation',
  'baseline',
  'bottleneck',
  'capacity',
  'closed loop',
  'CPU per request',
  'currency',
  'curve',
  'e-BH',
  'fork',
  'generator',
  'hiccup',
  'intended start',
  'interval',
  'jitter',
  'ladder',
  'noise floor',
  'open loop',
  'overhead',
  'own share',
  'pause',
  'percentile',
  'push latency',
  'region',
  'response time',
  'saturating',
  'send lag',
  'service time',
  'set aside',
  'stamp lag',
  'steady',
  'SUSPECT',
  'throughput',
  'total share',
  'VALID',
  'verdict',
  'VOID',
  'warm-up',
]);

/** Word → definition, as plain text. */
export function readGlossary(file: string): Record<string, string> {
  const words: Record<string, string> = {};
  for (const row of readFileSync(file, 'utf8').matchAll(/^\| (\*\*.+?\*\*) \| (.+) \|$/gm)) {
    const definition = row[2]!.replace(/[*`]/g, '').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
    for (const [, word] of row[1]!.matchAll(/\*\*(.+?)\*\*/g))
      if (EXPLAINED.has(word!)) words[OTHER_NAMES[word!] ?? word!] = definition;
  }
  return words;
}
