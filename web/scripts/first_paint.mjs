/** Milliseconds from the start of the navigation to the first contentful paint. Chromium reports it a frame after the page is ready. */
export function measureFirstPaint(page) {
  return page.evaluate(
    () =>
      new Promise((done) => {
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntriesByName('first-contentful-paint')) done(entry.startTime);
        });
        observer.observe({ type: 'paint', buffered: true });
      }),
  );
}
