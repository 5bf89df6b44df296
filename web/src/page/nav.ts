// The small table of contents at the side of wide screens; it marks the section in view.

import { h } from '../dom';

export interface Entry {
  id: string;
  title: string;
}

export function nav(entries: Entry[]): HTMLElement {
  const links = new Map(entries.map((e) => [e.id, h('a', { href: `#${e.id}` }, e.title)]));
  return h('nav', { 'aria-label': 'Contents' }, h('ol', {}, ...[...links.values()].map((a) => h('li', {}, a))));
}

/** Marks in the contents whichever section crosses the upper part of the screen. */
export function followSections(side: HTMLElement, sections: Element[]): void {
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const a of side.querySelectorAll('a')) {
          a.toggleAttribute('aria-current', a.getAttribute('href') === `#${entry.target.id}`);
        }
      }
    },
    { rootMargin: '-15% 0px -75% 0px' },
  );
  for (const section of sections) seen.observe(section);
}
