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
  /** What the run must have for it. */
  when: unknown;
}

/** The sections that the run has something to show for, in the order of the page. */
function sectionSpecs(model: Model, onTable: (table: CellTable) => void): SectionSpec[] {
  const { summary } = model;
  const { cells, check, cross_checks, ladders, load, profiles, run } = summary;
  /** A load has no other server to compare with, and no data of the server's processes. */
  const isComparison = cells.length > 0 && run.mode !== 'load';
  /** A run that only searches for capacity has no saturating slices. */
  const hasThroughput = isComparison && cells.some((c) => c.throughput_per_s);
  const hasLatency = cells.some((c) => c.latency.length);
  const hasPushes = cells.some((c) => c.messages);
  const hasCapacity = cells.some((c) => c.capacity);
  const specs: SectionSpec[] = [
    { id: 'limits', title: 'Limits', make: limitsSection, when: check },
    { id: 'figures', title: 'Figures', make: loadFigures, when: load },
    { id: 'why', title: 'Why', make: () => whySection(profiles!), when: profiles?.whys.length },
    { id: 'profiles', title: 'Profiles', make: () => profilesSection(profiles!), when: profiles?.views.length },
    {
      id: 'ladder',
      title: 'Ladder',
      make: () => h('div', {}, ...ladders!.flatMap(ladderFigures)),
      when: ladders?.length,
    },
    { id: 'overheads', title: 'Overhead', make: charts.overheadSection, when: fitsAnswerTable(model) },
    { id: 'capacities', title: 'Capacity', make: charts.capacitySection, chart: true, when: hasCapacity },
    { id: 'throughputs', title: 'Throughput', make: charts.throughputSection, chart: true, when: hasThroughput },
    { id: 'latencies', title: 'Latency', make: charts.latencySection, chart: true, when: hasLatency },
    { id: 'pushes', title: 'Pushed messages', make: charts.pushSection, chart: true, when: hasPushes },
    { id: 'cpus', title: 'CPU', make: charts.cpuSection, chart: true, when: isComparison },
    { id: 'memories', title: 'Memory', make: charts.memorySection, chart: true, when: isComparison },
    { id: 'time', title: 'Over time', make: charts.timeSection, chart: true, when: cells.length },
    { id: 'cells', title: 'All cells', make: (m) => cellsSection(m, onTable), when: isComparison },
    { id: 'noise', title: 'Noise floor', make: charts.noiseSection, when: isComparison },
    { id: 'cross-checks', title: 'Cross-checks', make: () => crossCheckSection(summary), when: cross_checks.length },
    { id: 'findings', title: 'Findings', make: findingsList, when: true },
    { id: 'how', title: 'How it was run', make: howItWasRun, when: true },
  ];
  return specs.filter((spec) => spec.when);
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
  const specs = sectionSpecs(model, (made) => (table = made));
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
