// When the browser has shown what the page has so far.

/** How long a hidden page waits: it shows nothing. */
const HIDDEN_MS = 300;

/** Resolves after the next picture of the page. */
export function waitForPaint(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, HIDDEN_MS);
  });
}
