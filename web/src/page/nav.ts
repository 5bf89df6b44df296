// The table of contents: a list beside the text on wide screens, a scrolling bar on narrow ones. It marks the current section.

import { h } from '../dom';

export interface NavEntry {
  id: string;
  title: string;
}

export function contentsNav(entries: NavEntry[]): HTMLElement {
  const links = entries.map((e) => h('a', { href: `#${e.id}` }, e.title));
  links[0]?.setAttribute('aria-current', 'true');
  return h('nav', { 'aria-label': 'Contents' }, h('ol', {}, ...links.map((a) => h('li', {}, a))));
}

/** A section becomes the current one when its top is above this share of the screen height. */
const CURRENT_ABOVE = 0.25;

/** Marks the current section in the contents. At the top of the page it is the first one. */
export function markSectionInView(side: HTMLElement, sections: Element[]): void {
  const mark = (id: string) => {
    for (const a of side.querySelectorAll('a')) {
      if (a.getAttribute('href') === `#${id}`) a.setAttribute('aria-current', 'true');
      else a.removeAttribute('aria-current');
    }
    keepInView(side);
  };
  const hasBegun = (section: Element) => section.getBoundingClientRect().top < innerHeight * CURRENT_ABOVE;
  const observer = new IntersectionObserver(() => mark((sections.findLast(hasBegun) ?? sections[0]!).id), {
    rootMargin: `0px 0px ${(CURRENT_ABOVE - 1) * 100}% 0px`,
  });
  for (const section of sections) observer.observe(section);
}

/** Scrolls the bar until the marked link is visible. */
function keepInView(side: HTMLElement): void {
  const list = side.querySelector('ol')!;
  const marked = side.querySelector<HTMLElement>('[aria-current]');
  if (!marked || list.scrollWidth <= list.clientWidth) return;
  list.scrollLeft = marked.offsetLeft - (list.clientWidth - marked.offsetWidth) / 2;
}
