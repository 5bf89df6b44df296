// Builds report.html, with its code, style and typeface inlined, into one file that needs no network.
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';
import type { TestSequencer, TestSpecification } from 'vitest/node';
import { earlyCode } from './early.ts';
import { readGlossary } from './glossary.ts';

/** The file that takes half of the time starts first: one worker runs it, and the other one the rest. */
class LongestFirst implements TestSequencer {
  shard(files: TestSpecification[]) {
    return files;
  }
  sort(files: TestSpecification[]) {
    const isLongest = (file: TestSpecification) => Number(file.moduleId.endsWith('/every_page.test.ts'));
    return files.sort((a, b) => isLongest(b) - isLongest(a));
  }
}

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
    sequence: { sequencer: LongestFirst },
    expect: { poll: { timeout: 20_000 } },
  },
});
