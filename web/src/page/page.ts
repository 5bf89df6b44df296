// Builds the page from its sections: the answer, why, charts, findings, how it was run.

import { h } from '../dom';
import { ladderFigures } from '../figures/ladder';
import { loadFigures } from '../figures/load';
import { buildModel, initialChoice, openPanels, type Model } from '../model';
import { waitForPaint } from '../paint';
import { choice, choose } from '../state';
import type { Summary } from '../summary';
import type { Details } from '../summary/details';
import { answerSection, fitsAnswerTable } from './answer';
import { crossCheckSection } from './cross_checks';
import * as charts from './details';
import { findingsList, howItWasRun } from './facts';
import { limitsSection } from './limits';
import { followLinks } from './links';
import { masthead } from './masthead';
import { markSectionInView, contentsNav, type NavEntry } from './nav';
import { CellTable } from './table';
import { profilesSection, whySection } from './why';

interface SectionSpec extends NavEntry {
  make: (model: Model) => Node;
  /** Whether the choice of scenario applies to it. */
  chart?: boolean;
  /** Whether the run has something to show here; absent: always. */
  when?: (model: Model) => boolean;
}

const hasCells = (m: Model) => m.summary.cells.length > 0;
/** A load has no other server to compare with, and no data of the server's processes. */
const isComparison = (m: Model) => hasCells(m) && m.summary.run.mode !== 'load';
/** A run that only searches for capacity has no saturating slices. */
const hasThroughput = (m: Model) => isComparison(m) && m.summary.cells.some((c) => c.throughput_per_s);
const hasLatency = (m: Model) => m.summary.cells.some((c) => c.latency.length);
const hasCrossChecks = (m: Model) => m.summary.cross_checks.length > 0;

const hasPushes = (m: Model) => m.summary.cells.some((c) => c.messages);
const hasCapacity = (m: Model) => m.summary.cells.some((c) => c.capacity);
const hasLimits = (m: Model) => !!m.summary.check;
const isLoad = (m: Model) => !!m.summary.load;
const hasLadders = (m: Model) => !!m.summary.ladders?.length;
const hasWhys = (m: Model) => !!m.summary.profiles?.whys.length;
const hasProfiles = (m: Model) => !!m.summary.profiles?.views.length;

/** The sections in the order of the page. */
function sectionSpecs(onTable: (table: CellTable) => void): SectionSpec[] {
  return [
    { id: 'limits', title: 'Limits', make: limitsSection, when: hasLimits },
    { id: 'figures', title: 'Figures', make: loadFigures, when: isLoad },
    { id: 'why', title: 'Why', make: (m) => whySection(m.summary.profiles!), when: hasWhys },
    { id: 'profiles', title: 'Profiles', make: (m) => profilesSection(m.summary.profiles!), when: hasProfiles },
    {
      id: 'ladder',
      title: 'Ladder',
      make: (m) => h('div', {}, ...m.summary.ladders!.flatMap(ladderFigures)),
      when: hasLadders,
    },
    { id: 'overheads', title: 'Overhead', make: charts.overheadSection, when: fitsAnswerTable },
    { id: 'capacities', title: 'Capacity', make: charts.capacitySection, chart: true, when: hasCapacity },
    { id: 'throughputs', title: 'Throughput', make: charts.throughputSection, chart: true, when: hasThroughput },
    { id: 'latencies', title: 'Latency', make: charts.latencySection, chart: true, when: hasLatency },
    { id: 'pushes', title: 'Pushed messages', make: charts.pushSection, chart: true, when: hasPushes },
    { id: 'cpus', title: 'CPU', make: charts.cpuSection, chart: true, when: isComparison },
    { id: 'memories', title: 'Memory', make: charts.memorySection, chart: true, when: isComparison },
    { id: 'time', title: 'Over time', make: charts.timeSection, chart: true, when: hasCells },
    { id: 'cells', title: 'All cells', make: (m) => cellsSection(m, onTable), when: isComparison },
    { id: 'noise', title: 'Noise floor', make: charts.noiseSection, when: isComparison },
    { id: 'cross-checks', title: 'Cross-checks', make: (m) => crossCheckSection(m.summary), when: hasCrossChecks },
    { id: 'findings', title: 'Findings', make: findingsList },
    { id: 'how', title: 'How it was run', make: howItWasRun },
  ];
}

function cellsSection(model: Model, onTable: (table: CellTable) => void): HTMLElement {
  const table = new CellTable(model);
  onTable(table);
  return table.element;
}

/** Shows the report in an element: first the answer, and after the next paint all other sections. */
export async function showReport(place: HTMLElement, summary: Summary, details: Details): Promise<void> {
  document.title = summary.headline.text;
  const model = buildModel(summary, details);
  choose(initialChoice(model));
  let table: CellTable | null = null;
  const specs = sectionSpecs((made) => (table = made)).filter((spec) => !spec.when || spec.when(model));
  const sections = specs.map(emptySection);
  const first = answerSection(model);
  const side = contentsNav([{ id: 'answer', title: 'Answer' }, ...specs]);
  const main = h('main', { 'aria-busy': 'true' }, masthead(summary), first);
  place.replaceChildren(h('a', { href: '#answer', class: 'skip' }, 'Skip to the answer'), side, main);
  performance.mark('tare-answer');
  await waitForPaint();
  await openPanels(model, choice.panel);
  main.append(...groupCharts(model, specs, sections), pageFooter(summary));
  for (const [i, spec] of specs.entries()) {
    sections[i]!.append(spec.make(model));
    await yieldToBrowser();
  }
  main.removeAttribute('aria-busy');
  markSectionInView(side, [first, ...sections]);
  followLinks(model, table);
}

/** Puts the chart sections and the bar that selects their scenario into one element, so that the bar stays in view. */
function groupCharts(model: Model, specs: SectionSpec[], sections: HTMLElement[]): HTMLElement[] {
  const [from, to] = [specs.findIndex((spec) => spec.chart), specs.findLastIndex((spec) => spec.chart) + 1];
  if (from < 0) return sections;
  const chartGroup = h('div', {}, charts.focusBar(model), ...sections.slice(from, to));
  return [...sections.slice(0, from), chartGroup, ...sections.slice(to)];
}

/** Lets the browser handle input between two sections. */
const yieldToBrowser = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

function emptySection({ id, title }: SectionSpec): HTMLElement {
  return h('section', { id }, h('h2', {}, h('a', { href: `#${id}` }, title)));
}

function pageFooter({ run }: Summary): HTMLElement {
  return h('footer', {}, `tare ${run.tare_version}. This page is one file; it holds all its data and asks no network.`);
}
