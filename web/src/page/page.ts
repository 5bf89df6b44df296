// The page's order: question, verdicts, overhead chart; then everything that stands behind them.

import { h } from '../dom';
import { ladderFigures } from '../figures/ladder';
import { overheadFigure } from '../figures/overhead';
import { buildModel, firstChoice, type Model } from '../model';
import { choose } from '../state';
import type { Summary } from '../summary';
import { crossChecks } from './cross_checks';
import * as details from './details';
import { again, findingsList, sectionTables, versions } from './facts';
import { followLinks } from './links';
import { masthead } from './masthead';
import { matrix } from './matrix';
import { followSections, nav, type Entry } from './nav';
import { cellTable, type CellTable } from './table';
import { verdicts } from './verdicts';
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
const forked = (m: Model) => m.summary.comparisons.some((c) => c.currencies.some((x) => x.fork_ratios.length));

const pushed = (m: Model) => m.summary.cells.some((c) => c.messages);
const searched = (m: Model) => m.summary.cells.some((c) => c.capacity);
const laddered = (m: Model) => !!m.summary.ladders?.length;
const explained = (m: Model) => !!m.summary.profiles?.whys.length;
const profiled = (m: Model) => !!m.summary.profiles?.views.length;

function rooms(table: CellTable): Room[] {
  return [
    {
      id: 'ladder',
      title: 'Ladder',
      make: (m) => h('div', {}, ...m.summary.ladders!.flatMap(ladderFigures)),
      when: laddered,
    },
    { id: 'why', title: 'Why', make: (m) => whySection(m.summary.profiles!), when: explained },
    { id: 'profiles', title: 'Profiles', make: (m) => profilesSection(m.summary.profiles!), when: profiled },
    { id: 'capacities', title: 'Capacity', make: details.capacitySection, chart: true, when: searched },
    { id: 'throughputs', title: 'Throughput', make: details.throughputSection, chart: true, when: saturated },
    { id: 'latencies', title: 'Latency', make: details.latencySection, chart: true, when: timed },
    { id: 'pushes', title: 'Pushed messages', make: details.pushSection, chart: true, when: pushed },
    { id: 'time', title: 'Over time', make: details.timeSection, chart: true, when: measured },
    { id: 'cpus', title: 'CPU', make: details.cpuSection, chart: true, when: weighed },
    { id: 'memories', title: 'Memory', make: details.memorySection, chart: true, when: weighed },
    { id: 'forks', title: 'Fork by fork', make: details.forksSection, chart: true, when: forked },
    { id: 'cells', title: 'All cells', make: () => table.element, when: weighed },
    { id: 'noise', title: 'Noise floor', make: details.noiseSection, when: weighed },
    { id: 'cross-checks', title: 'Cross-checks', make: (m) => crossChecks(m.summary), when: checked },
    { id: 'findings', title: 'Findings', make: findingsList },
    { id: 'plan', title: 'Plan', make: (m) => sectionTables(m.summary.plan) },
    { id: 'environment', title: 'Environment', make: (m) => sectionTables(m.summary.environment) },
    { id: 'versions', title: 'Versions resolved', make: (m) => sectionTables(versions(m.summary)), when: weighed },
    { id: 'again', title: 'Make it again', make: (m) => again(m.summary) },
  ];
}

/** Puts the whole report into a place of the document. */
export function showReport(place: HTMLElement, summary: Summary): void {
  document.title = `${summary.run.suite} ${summary.run.id} · tare`;
  const model = buildModel(summary);
  choose(firstChoice(model));
  const table = cellTable(model);
  const list = rooms(table).filter((room) => !room.when || room.when(model));
  const charts = list.filter((room) => room.chart).map((room) => section(room, model));
  const others = list.filter((room) => !room.chart).map((room) => section(room, model));
  const sections = [...charts, ...others];
  const first = answer(model);
  const side = nav([{ id: 'answer', title: 'Answer' }, ...list]);
  // The bar that chooses the scenario stays in view as long as the charts that it rules.
  const deep = h('div', {}, details.focusBar(model), ...charts);
  const main = h('main', {}, masthead(summary), first, deep, ...others, colophon(summary));
  place.replaceChildren(h('a', { href: '#cells', class: 'skip' }, 'Skip to the table of all cells'), side, main);
  followSections(side, [first, ...sections]);
  followLinks(model, table);
}

function section(room: Room, model: Model): HTMLElement {
  const head = h('h2', {}, h('a', { href: `#${room.id}` }, room.title));
  return h('section', { id: room.id }, head, room.make(model));
}

/** The first screen: a reader who stops after it has the answer. */
function answer(model: Model): HTMLElement {
  const place = h('section', { id: 'answer', 'aria-label': 'Answer' }, verdicts(model.summary));
  if (model.summary.comparisons.length) {
    if (model.large) place.append(matrix(model));
    place.append(overheadFigure(model));
  }
  return place;
}

function colophon({ run }: Summary): HTMLElement {
  return h('footer', {}, `tare ${run.tare_version}. This page is one file; it holds all its data and asks no network.`);
}
