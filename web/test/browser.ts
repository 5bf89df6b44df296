// Finds and starts Chromium for the tests, or says why it cannot.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

// Without a window system first: it starts faster and draws the same.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium's path: $CHROMIUM, or the first of its usual names on the PATH. */
export function findChromium(): string | null {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : null;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) if (folder && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

/** Why the tests in a browser cannot run, or null where they can. */
export function skipReason(): string | null {
  if (findChromium()) return null;
  const named = process.env.CHROMIUM;
  return named
    ? `$CHROMIUM says ${named}, which is not there`
    : `there is no ${NAMES.join(', ')} on the PATH; install Chromium or set CHROMIUM to its path`;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium()!, args: FLAGS });
}
