import {defineConfig} from 'vitest/config';

/** Three tiers: pure units and the CLI against the fake runtime in `unit`, real runtimes in `e2e`. */
export default defineConfig({
  test: {
    pool: 'forks',
    disableConsoleIntercept: true,
    testTimeout: 30_000,
    projects: [
      {extends: true, test: {name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**']}},
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // Each file has runtimes of its own; most of its time goes into waiting for containers to end.
          maxWorkers: 2,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
