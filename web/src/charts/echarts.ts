// The parts of ECharts that the page uses, and the options that all charts share.

import { CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { h } from '../dom';
import type { Theme } from '../theme';
import type { Tick } from './ticks';

echarts.use([CustomChart, LineChart, GridComponent, TooltipComponent, SVGRenderer]);

export type Option = EChartsCoreOption;
export type Chart = EChartsType;
export const FONT = "'Inter Variable', 'Helvetica Neue', Arial, sans-serif";

export function openChart(place: HTMLElement, width: number, height: number): Chart {
  return echarts.init(place, null, { renderer: 'svg', width, height });
}

type TipOf = (item: { dataIndex: number }) => HTMLElement | '';

/** The options of all charts: no animation, the font of the page, the style of the tooltip. */
export function baseOption(t: Theme, formatter?: TipOf): Option {
  return {
    animation: false,
    textStyle: { fontFamily: FONT, color: t.ink, fontSize: 12 },
    tooltip: {
      trigger: 'item',
      confine: true,
      transitionDuration: 0,
      backgroundColor: t.paper,
      borderColor: t.faint,
      borderWidth: 1,
      padding: [8, 10],
      textStyle: { color: t.ink, fontFamily: FONT, fontSize: 12 },
      formatter,
    },
  };
}

/** The content of a tooltip: a heading and lines. Everything is inserted as text, never as markup. */
export function tip(title: string, lines: [key: string, value: string][]): HTMLElement {
  const rows = lines.map(([key, value]) => h('tr', {}, h('td', {}, key), h('td', {}, value)));
  return h('div', { class: 'tip' }, h('strong', {}, title), h('table', {}, ...rows));
}

/** An axis that only gives the marks a place: from 0 to 1, without a line. */
export const HIDDEN_AXIS: Option = { type: 'value', min: 0, max: 1, show: false };

/** A value axis with the given ticks and without axis line. A vertical one has grid lines. */
export function givenAxis(t: Theme, range: [number, number], ticks: Tick[], name: string, vertical = false): Option {
  const labels = new Map(ticks.map((tick) => [tick.at, tick.text]));
  const values = ticks.map((tick) => tick.at);
  return {
    type: 'value',
    min: range[0],
    max: range[1],
    axisLine: { show: false, onZero: false },
    axisTick: { show: false, customValues: values },
    axisLabel: {
      customValues: values,
      color: t.muted,
      fontSize: 11,
      hideOverlap: true,
      showMinLabel: true,
      showMaxLabel: true,
      formatter: (value: number) => labels.get(value) ?? '',
    },
    splitLine: { show: vertical, lineStyle: { color: t.grid } },
    name,
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 12 : 28,
    nameTextStyle: { color: t.muted, fontSize: 11, align: vertical ? 'left' : 'center', padding: 0 },
  };
}
