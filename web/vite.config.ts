// Builds report.html, with its code, style and typeface inlined, into one file that needs no network.
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';
import { earlyCode } from './early.ts';
import { readGlossary } from './glossary.ts';

export default defineConfig({
  define: { __GLOSSARY__: JSON.stringify(readGlossary('../docs/GLOSSARY.md')) },
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), earlyCode()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 1_000_000,
    chunkSizeWarningLimit: 1_000,
    rollupOptions: { input: 'report.html' },
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each test file starts its own browser.
    maxWorkers: 2,
    expect: { poll: { timeout: 20_000 } },
  },
});
