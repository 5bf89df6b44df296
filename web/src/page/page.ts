// The page's order: the answer, why, charts, findings, how it was run.

import { h } from '../dom';
import { ladderFigures } from '../figures/ladder';
import { loadFigures } from '../figures/load';
import { buildModel, firstChoice, openPanels, type Model } from '../model';
import { painted } from '../paint';
import { choice, choose } from '../state';
import type { Summary } from '../summary';
import type { Details } from '../summary/details';
import { answer, isTabled } from './answer';
import { crossChecks } from './cross_checks';
import * as charts from './details';
import { findingsList, howItWasRun } from './facts';
import { limitsSection } from './limits';
import { followLinks } from './links';
import { masthead } from './masthead';
import { followSections, nav, type Entry } from './nav';
import { cellTable, type CellTable } from './table';
import { profilesSection, whySection } from './why';

interface Room extends Entry {
  make: (model: Model) => Node;
  /** Ruled by the choice of scenario. */
  chart?: boolean;
  /** Left out when it has nothing to show. */
  when?: (model: Model) => boolean;
}

const measured = (m: Model) => m.summary.cells.length > 0;
/** One load on one URL has no others beside it, and says nothing of the server's own processes. */
const compared = (m: Model) => measured(m) && m.summary.run.mode !== 'load';
/** A run that only searches for capacity has no such slices. */
const saturated = (m: Model) => compared(m) && m.summary.cells.some((c) => c.throughput_per_s);
const timed = (m: Model) => m.summary.cells.some((c) => c.latency.length);
const checked = (m: Model) => m.summary.cross_checks.length > 0;

const pushed = (m: Model) => m.summary.cells.some((c) => c.messages);
const searched = (m: Model) => m.summary.cells.some((c) => c.capacity);
const limited = (m: Model) => !!m.summary.check;
const loaded = (m: Model) => !!m.summary.load;
const laddered = (m: Model) => !!m.summary.ladders?.length;
const explained = (m: Model) => !!m.summary.profiles?.whys.length;
const profiled = (m: Model) => !!m.summary.profiles?.views.length;

/** The rooms in the order of the page: limits, the figures of a load, why, then the charts, then what they rest on. */
function rooms(keep: (table: CellTable) => void): Room[] {
  return [
    { id: 'limits', title: 'Limits', make: (m) => limitsSection(m.summary.check!), when: limited },
    { id: 'figures', title: 'Figures', make: loadFigures, when: loaded },
    { id: 'why', title: 'Why', make: (m) => whySection(m.summary.profiles!), when: explained },
    { id: 'profiles', title: 'Profiles', make: (m) => profilesSection(m.summary.profiles!), when: profiled },
    {
      id: 'ladder',
      title: 'Ladder',
      make: (m) => h('div', {}, ...m.summary.ladders!.flatMap(ladderFigures)),
      when: laddered,
    },
    { id: 'overheads', title: 'Overhead', make: charts.overheadSection, when: isTabled },
    { id: 'capacities', title: 'Capacity', make: charts.capacitySection, chart: true, when: searched },
    { id: 'throughputs', title: 'Throughput', make: charts.throughputSection, chart: true, when: saturated },
    { id: 'latencies', title: 'Latency', make: charts.latencySection, chart: true, when: timed },
    { id: 'pushes', title: 'Pushed messages', make: charts.pushSection, chart: true, when: pushed },
    { id: 'cpus', title: 'CPU', make: charts.cpuSection, chart: true, when: compared },
    { id: 'memories', title: 'Memory', make: charts.memorySection, chart: true, when: compared },
    { id: 'time', title: 'Over time', make: charts.timeSection, chart: true, when: measured },
    { id: 'cells', title: 'All cells', make: (m) => tableOf(m, keep), when: compared },
    { id: 'noise', title: 'Noise floor', make: charts.noiseSection, when: compared },
    { id: 'cross-checks', title: 'Cross-checks', make: (m) => crossChecks(m.summary), when: checked },
    { id: 'findings', title: 'Findings', make: findingsList },
    { id: 'how', title: 'How it was run', make: howItWasRun },
  ];
}

function tableOf(model: Model, keep: (table: CellTable) => void): HTMLElement {
  const table = cellTable(model);
  keep(table);
  return table.element;
}

/** Puts the whole report into a place of the document: the answer at once, the rest when the browser has shown it. */
export async function showReport(place: HTMLElement, summary: Summary, details: Details): Promise<void> {
  document.title = summary.headline.text;
  const model = buildModel(summary, details);
  choose(firstChoice(model));
  let table: CellTable | null = null;
  const list = rooms((made) => (table = made)).filter((room) => !room.when || room.when(model));
  const sections = list.map(emptySection);
  const first = answer(model);
  const side = nav([{ id: 'answer', title: 'Answer' }, ...list]);
  const main = h('main', { 'aria-busy': 'true' }, masthead(summary), first);
  place.replaceChildren(h('a', { href: '#answer', class: 'skip' }, 'Skip to the answer'), side, main);
  performance.mark('tare-answer');
  await painted();
  await openPanels(model, choice.panel);
  main.append(...inOrder(model, list, sections), colophon(summary));
  for (const [i, room] of list.entries()) {
    sections[i]!.append(room.make(model));
    await pause();
  }
  main.removeAttribute('aria-busy');
  followSections(side, [first, ...sections]);
  followLinks(model, table);
}

/** The sections; the bar that chooses the scenario stays in view as long as the charts that it rules. */
function inOrder(model: Model, list: Room[], sections: HTMLElement[]): HTMLElement[] {
  const [from, to] = [list.findIndex((room) => room.chart), list.findLastIndex((room) => room.chart) + 1];
  if (from < 0) return sections;
  const deep = h('div', {}, charts.focusBar(model), ...sections.slice(from, to));
  return [...sections.slice(0, from), deep, ...sections.slice(to)];
}

/** Lets the browser answer the reader between two sections. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

function emptySection({ id, title }: Room): HTMLElement {
  return h('section', { id }, h('h2', {}, h('a', { href: `#${id}` }, title)));
}

function colophon({ run }: Summary): HTMLElement {
  return h('footer', {}, `tare ${run.tare_version}. This page is one file; it holds all its data and asks no network.`);
}
