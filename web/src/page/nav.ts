// The table of contents: a list at the side of wide screens, a bar that scrolls on narrow ones. It marks the section in view.

import { h } from '../dom';

export interface Entry {
  id: string;
  title: string;
}

export function nav(entries: Entry[]): HTMLElement {
  const links = entries.map((e) => h('a', { href: `#${e.id}` }, e.title));
  links[0]?.setAttribute('aria-current', 'true');
  return h('nav', { 'aria-label': 'Contents' }, h('ol', {}, ...links.map((a) => h('li', {}, a))));
}

/** Marks in the contents whichever section crosses the upper part of the screen. */
export function followSections(side: HTMLElement, sections: Element[]): void {
  const mark = (id: string) => {
    for (const a of side.querySelectorAll('a')) {
      if (a.getAttribute('href') === `#${id}`) a.setAttribute('aria-current', 'true');
      else a.removeAttribute('aria-current');
    }
    keepInView(side);
  };
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) mark(entry.target.id);
    },
    { rootMargin: '-15% 0px -75% 0px' },
  );
  for (const section of sections) seen.observe(section);
}

/** Scrolls a bar so far that the marked link can be seen. */
function keepInView(side: HTMLElement): void {
  const list = side.querySelector('ol')!;
  const marked = side.querySelector<HTMLElement>('[aria-current]');
  if (!marked || list.scrollWidth <= list.clientWidth) return;
  list.scrollLeft = marked.offsetLeft - (list.clientWidth - marked.offsetWidth) / 2;
}
