// The page's order: the answer, why, charts, findings, how it was run.

import { h } from '../dom';
import { ladderFigures } from '../figures/ladder';
import { buildModel, firstChoice, type Model } from '../model';
import { choose } from '../state';
import type { Summary } from '../summary';
import { answer, isTabled } from './answer';
import { crossChecks } from './cross_checks';
import * as details from './details';
import { findingsList, howItWasRun } from './facts';
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
const weighed = (m: Model) => measured(m) && m.summary.run.mode !== 'load';
/** A run that only searches for capacity has no such slices. */
const saturated = (m: Model) => weighed(m) && m.summary.cells.some((c) => c.throughput_per_s);
const timed = (m: Model) => m.summary.cells.some((c) => c.latency.length);
const checked = (m: Model) => m.summary.cross_checks.length > 0;

/** A large run has its chart of overheads on the first screen. */
const tabled = (m: Model) => isTabled(m) && m.summary.comparisons.some((c) => c.currencies.length > 0);
const pushed = (m: Model) => m.summary.cells.some((c) => c.messages);
const searched = (m: Model) => m.summary.cells.some((c) => c.capacity);
const laddered = (m: Model) => !!m.summary.ladders?.length;
const explained = (m: Model) => !!m.summary.profiles?.whys.length;
const profiled = (m: Model) => !!m.summary.profiles?.views.length;

/** The rooms in the order of the page: why, then the charts, then what they rest on. */
function rooms(table: CellTable): Room[] {
  return [
    { id: 'why', title: 'Why', make: (m) => whySection(m.summary.profiles!), when: explained },
    { id: 'profiles', title: 'Profiles', make: (m) => profilesSection(m.summary.profiles!), when: profiled },
    {
      id: 'ladder',
      title: 'Ladder',
      make: (m) => h('div', {}, ...m.summary.ladders!.flatMap(ladderFigures)),
      when: laddered,
    },
    { id: 'overheads', title: 'Overhead', make: details.overheadSection, chart: true, when: tabled },
    { id: 'capacities', title: 'Capacity', make: details.capacitySection, chart: true, when: searched },
    { id: 'throughputs', title: 'Throughput', make: details.throughputSection, chart: true, when: saturated },
    { id: 'latencies', title: 'Latency', make: details.latencySection, chart: true, when: timed },
    { id: 'pushes', title: 'Pushed messages', make: details.pushSection, chart: true, when: pushed },
    { id: 'cpus', title: 'CPU', make: details.cpuSection, chart: true, when: weighed },
    { id: 'memories', title: 'Memory', make: details.memorySection, chart: true, when: weighed },
    { id: 'time', title: 'Over time', make: details.timeSection, chart: true, when: measured },
    { id: 'cells', title: 'All cells', make: () => table.element, when: weighed },
    { id: 'noise', title: 'Noise floor', make: details.noiseSection, when: weighed },
    { id: 'cross-checks', title: 'Cross-checks', make: (m) => crossChecks(m.summary), when: checked },
    { id: 'findings', title: 'Findings', make: findingsList },
    { id: 'how', title: 'How it was run', make: howItWasRun },
  ];
}

/** Puts the whole report into a place of the document. */
export function showReport(place: HTMLElement, summary: Summary): void {
  document.title = summary.headline.text;
  const model = buildModel(summary);
  choose(firstChoice(model));
  const table = cellTable(model);
  const list = rooms(table).filter((room) => !room.when || room.when(model));
  const made = list.map((room) => ({ room, section: section(room, model) }));
  const firstChart = made.findIndex(({ room }) => room.chart);
  const charts = made.filter(({ room }) => room.chart).map((m) => m.section);
  const before = made.slice(0, Math.max(0, firstChart)).map((m) => m.section);
  const after = made.slice(before.length).filter(({ room }) => !room.chart);
  const first = answer(model);
  const side = nav([{ id: 'answer', title: 'Answer' }, ...list]);
  // The bar that chooses the scenario stays in view as long as the charts that it rules.
  const deep = h('div', {}, details.focusBar(model), ...charts);
  const main = h(
    'main',
    {},
    masthead(summary),
    first,
    ...before,
    deep,
    ...after.map((m) => m.section),
    colophon(summary),
  );
  place.replaceChildren(h('a', { href: '#answer', class: 'skip' }, 'Skip to the answer'), side, main);
  followSections(side, [first, ...made.map((m) => m.section)]);
  followLinks(model, table);
}

function section(room: Room, model: Model): HTMLElement {
  const head = h('h2', {}, h('a', { href: `#${room.id}` }, room.title));
  return h('section', { id: room.id }, head, room.make(model));
}

function colophon({ run }: Summary): HTMLElement {
  return h('footer', {}, `tare ${run.tare_version}. This page is one file; it holds all its data and asks no network.`);
}
