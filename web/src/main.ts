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

performance.mark('tare-begin');
void start(document.getElementById('page')!);

async function start(place: HTMLElement): Promise<void> {
  try {
    const summary = await readSummary(textOf('tare-summary'));
    const packed = waitUntilParsed().then(() => textOf('tare-details').split('\n'));
    await showReport(place, summary, new Details(packed));
    performance.measure('tare-report', 'tare-begin');
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // What is shown already stays: the answer of a page whose charts cannot be read.
    const main = place.querySelector('main');
    main?.removeAttribute('aria-busy');
    (main ?? place).prepend(h('p', { class: 'failure', role: 'alert' }, text));
    throw error;
  }
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent?.trim() ?? '';
}

/** Resolves when the browser has parsed the whole file. The details are its last part. */
function waitUntilParsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('DOMContentLoaded', () => resolve(), { once: true }));
}
