// Deep links: #cell=ID opens a cell, #open=ID a comparison of the overview, and #ID any section or chart.

import { panelId, showPanel, type Model, type Panel } from '../model';
import { choice, choose } from '../state';
import type { CellTable } from './table';

function decodeHash(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Opens the target of the address, now and after each change. */
export function followLinks(model: Model, table: CellTable | null): void {
  const go = () => {
    const hash = decodeHash(location.hash.slice(1));
    if (hash.startsWith('cell=')) table?.open(hash.slice(5));
    else if (hash.startsWith('flame=')) openFlame(hash.slice(6));
    else if (hash.startsWith('open=')) void openComparison(model, hash.slice(5));
    else if (hash) void scrollToElement(model, hash);
  };
  window.addEventListener('hashchange', go);
  // A browser reports no change if a link leads to the address that the page has already.
  document.addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.hash && link.hash === location.hash) go();
  });
  go();
}

/** Shows a profile, `ID` or `ID&find=NAME`, with that method marked. */
function openFlame(hash: string): void {
  const [view, find] = hash.split('&find=');
  choose({ view: view!, find: find ?? '', zoom: -1 });
  document.getElementById('flame')?.scrollIntoView({ block: 'start' });
}

/** Brings the panel of a cell into focus and highlights its variant. */
async function openComparison(model: Model, id: string): Promise<void> {
  const cell = model.cells.get(id);
  if (!cell) return;
  choose({ highlights: [cell.variant] });
  await showPanel(model, `${cell.group}/${cell.scenario}`);
  document.getElementById('overhead')?.scrollIntoView({ block: 'start' });
}

/** Scrolls to an element. If it is a chart of a panel that is not in focus, brings the panel into focus first. */
async function scrollToElement(model: Model, id: string): Promise<void> {
  if (!document.getElementById(id)) {
    const panel = panelOfChart(model, id);
    if (panel && choice.panel) await showPanel(model, panel.key);
  }
  document.getElementById(id)?.scrollIntoView({ block: 'start' });
}

/** The panel of a chart, by the chart's id: `latency-http4s-Get`, `tries-http4s-Get-1`. */
function panelOfChart({ panels }: Model, id: string): Panel | undefined {
  const found = panels.filter((panel) => `${id}-`.includes(`${panelId('', panel)}-`));
  return found.sort((a, b) => b.key.length - a.key.length)[0];
}
