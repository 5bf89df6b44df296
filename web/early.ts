// Moves the page's code before its details. As a module it would wait until the browser has read the whole file.
import type { Plugin } from 'vite';

const MODULE = /<script type="module"[^>]*>([\s\S]*?)<\/script>/;
const PLACEHOLDER = '<!-- code -->';

/** Turns the inlined module of report.html into a plain script at the placeholder. */
export function earlyCode(): Plugin {
  return {
    name: 'early-code',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const page = bundle['report.html'];
        if (page?.type !== 'asset') return this.error('there is no report.html');
        const html = String(page.source);
        const code = MODULE.exec(html)?.[1];
        if (!code || !html.includes(PLACEHOLDER)) return this.error(`report.html lacks its code or ${PLACEHOLDER}`);
        const script = `<script>(() => {'use strict';${code}})()</script>`;
        page.source = html.replace(MODULE, '').replace(PLACEHOLDER, () => script);
      },
    },
  };
}
