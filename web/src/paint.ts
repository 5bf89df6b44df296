// Waits until the browser has painted the page.

/** How long a hidden page waits, because a browser does not paint it. */
const HIDDEN_MS = 300;

/** Resolves after the next paint, or after HIDDEN_MS. */
export function waitForPaint(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, HIDDEN_MS);
  });
}
