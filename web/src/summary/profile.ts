// Profiled starts: why variants differ, method by method.

import type { Estimate } from '.';

/** The results of profiling starts. None of them comes from a scored slice. */
export interface Profiles {
  focus: string;
  whys: Why[];
  views: ProfileView[];
  versions: AcrossVersions[];
}

export interface Why {
  id: string;
  scenario: string;
  variant: string;
  baseline: string | null;
  sentences: WhySentence[];
}

export interface WhySentence {
  text: string;
  view: string;
  methods: { short: string; name: string }[];
}

export interface ProfileView {
  id: string;
  group: string;
  scenario: string;
  variant: string;
  baseline: string | null;
  event: string;
  unit: 'ns' | 'bytes';
  sampler: string;
  forks: number;
  steady_forks: number;
  offered_per_s: number;
  samples: number | null;
  failed_share: number;
  coverage: number | null;
  per_request: Estimate | null;
  baseline_per_request: Estimate | null;
  difference_per_request: Estimate | null;
  focus_share: Estimate | null;
  focus_own: Estimate | null;
  hot: HotFrame[];
  packages: { name: string; own: number; own_per_request: number | null }[];
  moved: MovedFrame[];
  flame: FlameColumns;
  files: string[];
}

interface Frame {
  name: string;
  short: string;
  package: string;
  kind: 'java' | 'inlined' | 'interpreted' | 'native' | 'kernel' | 'class';
}

export interface HotFrame extends Frame {
  own: Estimate;
  total: Estimate;
  own_per_request: number | null;
  total_per_request: number | null;
  caller: string | null;
  caller_share: number | null;
}

export interface MovedFrame extends Frame {
  share: Estimate;
  baseline_share: Estimate;
  difference: Estimate;
  certain: boolean;
  named: boolean;
  in_focus: boolean;
}

/** A flame graph as columns, in preorder; values are ten-millionths of each side's whole. */
export interface FlameColumns {
  names: string[];
  kinds: string;
  frame: number[];
  depth: number[];
  value: number[];
  base: number[];
  cut: number;
}

export interface AcrossVersions {
  server: string;
  scenario: string;
  event: string;
  versions: string[];
  rows: { short: string; name: string; shares: Estimate[] }[];
}
