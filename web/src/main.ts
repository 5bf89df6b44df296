// Starts the page: reads the summary that stands in it and shows the report, or says in words why it cannot.

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
const place = document.getElementById('page')!;
const textOf = (id: string) => document.getElementById(id)?.textContent?.trim() ?? '';
try {
  const summary = await readSummary(textOf('tare-summary'));
  await showReport(place, summary, new Details(textOf('tare-details').split('\n')));
  performance.measure('tare-report', 'tare-begin');
} catch (error) {
  place.replaceChildren(
    h('p', { class: 'failure', role: 'alert' }, error instanceof Error ? error.message : String(error)),
  );
  throw error;
}
