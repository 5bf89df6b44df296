// A chart as a file: SVG as drawn, PNG at twice its size.

import { saveFile } from '../dom';
import type { Chart } from './echarts';

function svgText(chart: Chart): string {
  const svg = chart.getDom().querySelector('svg')!.cloneNode(true) as SVGSVGElement;
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('viewBox', `0 0 ${chart.getWidth()} ${chart.getHeight()}`);
  svg.removeAttribute('style');
  return new XMLSerializer().serializeToString(svg);
}

/** Saves what is drawn as SVG. */
export function saveSvg(chart: Chart, name: string): void {
  saveFile(`${name}.svg`, new Blob([svgText(chart)], { type: 'image/svg+xml' }));
}

/** Saves what is drawn as PNG, on the page's own ground, at twice its size. */
export async function savePng(chart: Chart, name: string, ground: string): Promise<void> {
  const scale = 2;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(chart))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = chart.getWidth() * scale;
  canvas.height = chart.getHeight() * scale;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && saveFile(`${name}.png`, blob), 'image/png');
}
