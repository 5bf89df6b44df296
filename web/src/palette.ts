// The colours of charts (Okabe–Ito, safe for colour-blind readers), light and dark. Every fill has a contrast of 3:1 with its
// paper (WCAG 2.2, 1.4.11).

/** The colours of charts. Those of the page are in style/base.css. */
export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  muted: string;
  faint: string;
  grid: string;
  band: string;
  shade: string;
  /** Background of a start that was set aside. */
  aside: string;
  /** Always the baseline, in every chart. */
  baseline: string;
  /** The second start of the baseline. */
  control: string;
  series: string[];
  /** The same hues, dark or light enough for text on paper. */
  seriesInk: string[];
  worse: string;
  better: string;
  undecided: string;
  /** Kinds of thread and of frames. */
  kinds: string[];
}

const SKY = '#56b4e9';
const ORANGE = '#e69f00';
const PURPLE = '#cc79a7';
const BLUE = '#0072b2';
const VERMILLION = '#d55e00';
const YELLOW = '#f0e442';

export const LIGHT: Theme = {
  dark: false,
  paper: '#fffefb',
  ink: '#1d1f24',
  muted: '#5f646d',
  faint: '#b9bcc2',
  grid: '#e9e7e1',
  band: 'rgba(60, 64, 72, 0.11)',
  shade: 'rgba(60, 64, 72, 0.05)',
  aside: 'rgba(213, 94, 0, 0.12)',
  baseline: '#6b7079',
  control: '#838890',
  series: ['#2a8fc9', '#b87a00', '#009268', '#c2629a', VERMILLION, '#8f8200', '#005c94'],
  seriesInk: ['#1f76a8', '#99660a', '#00704f', '#9c4a78', '#a84a00', '#7a7000', '#005f94'],
  worse: VERMILLION,
  better: BLUE,
  undecided: '#838890',
  kinds: ['#23415f', '#3f7fb0', '#8a6d1f', '#7d5a9e', '#6f757d'],
};

export const DARK: Theme = {
  dark: true,
  paper: '#15171b',
  ink: '#e8e6e1',
  muted: '#a0a4ab',
  faint: '#5b6069',
  grid: '#2a2d33',
  band: 'rgba(235, 235, 240, 0.12)',
  shade: 'rgba(235, 235, 240, 0.05)',
  aside: 'rgba(238, 122, 43, 0.18)',
  baseline: '#a3a8b0',
  control: '#6f747d',
  series: [SKY, ORANGE, '#1fbf91', PURPLE, '#ee7a2b', YELLOW, '#2f7fc4'],
  seriesInk: [SKY, ORANGE, '#2cc99b', '#dc93ba', '#f08a45', YELLOW, '#5a9fdc'],
  worse: '#f0833a',
  better: SKY,
  undecided: '#868b94',
  kinds: ['#9cc3e4', '#5f8fb8', '#c7a252', '#b08ad0', '#8a9099'],
};

/** A ratio at this logarithmic distance from 1 has the full colour, unless the run has larger ones. */
const FULL_COLOUR = Math.log(1.5);

/**
 * The strength of a ratio's colour, from 0 to 1, relative to the largest change in `ratios`. It grows with the square root, so
 * that a small change is still visible beside one that is ten times as large.
 */
export function colourStrength(ratios: number[]): (ratio: number) => number {
  const size = (ratio: number) => Math.abs(Math.log(ratio));
  const full = Math.max(FULL_COLOUR, ...ratios.map(size).filter(Number.isFinite));
  return (ratio) => Math.sqrt(Math.min(1, size(ratio) / full));
}
