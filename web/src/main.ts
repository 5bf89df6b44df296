// Starts the page: reads the embedded summary and shows the report, or what is wrong with it.

import './style/base.css';
import './style/answer.css';
import './style/charts.css';
import './style/facts.css';
import './style/nav.css';
import './style/tables.css';
import './style/print.css';
import { h } from './dom';
import { showReport } from './page/page';
import { Details } from './summary/details';
import { readSummary } from './summary/read';

const page = document.getElementById('page')!;
// Also what fails later: the charts of a scenario are read when the reader chooses it.
window.addEventListener('unhandledrejection', ({ reason }) => showFailure(page, reason));

performance.mark('tare-begin');
void start(page);

async function start(place: HTMLElement): Promise<void> {
  const summary = await readSummary(textOf('tare-summary'));
  const packed = waitUntilParsed().then(() => textOf('tare-details').split('\n'));
  await showReport(place, summary, new Details(packed));
  performance.measure('tare-report', 'tare-begin');
}

/** Shows an error. What is on the page already stays: the answer of a page whose charts cannot be read. */
function showFailure(place: HTMLElement, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  const main = place.querySelector('main');
  main?.removeAttribute('aria-busy');
  place.querySelector('.failure')?.remove();
  (main ?? place).prepend(h('p', { class: 'failure', role: 'alert' }, text));
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent?.trim() ?? '';
}

/** Resolves when the browser has parsed the whole file. The details are its last part. */
function waitUntilParsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('DOMContentLoaded', () => resolve(), { once: true }));
}
