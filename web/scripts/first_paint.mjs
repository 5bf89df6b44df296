/** The time from the start of the navigation to the first contentful paint, in ms. Chromium reports it a frame later. */
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
