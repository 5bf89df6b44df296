// Reads the terms that the page explains, and their definitions, from docs/GLOSSARY.md at build time.

import { readFileSync } from 'node:fs';

/** Glossary term → the word that the page uses for it. */
const PAGE_WORDS: Record<string, string> = { fork: 'start', currency: 'measure' };

/** The terms that the page explains. Everyday words, and terms that the page does not use, are left out. */
const EXPLAINED = new Set([
  'A/A control',
  'baseline',
  'bottleneck',
  'capacity',
  'closed loop',
  'CPU per request',
  'currency',
  'curve',
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

/** Term → definition as plain text, from a glossary in Markdown. */
export function readGlossary(file: string): Record<string, string> {
  const definitions: Record<string, string> = {};
  for (const row of readFileSync(file, 'utf8').matchAll(/^\| (\*\*.+?\*\*) \| (.+) \|$/gm)) {
    const definition = row[2]!.replace(/[*`]/g, '').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
    for (const [, word] of row[1]!.matchAll(/\*\*(.+?)\*\*/g))
      if (EXPLAINED.has(word!)) definitions[PAGE_WORDS[word!] ?? word!] = definition;
  }
  return definitions;
}
