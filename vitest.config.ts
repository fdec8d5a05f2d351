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
          // One after the other: pods of the same name and content have the same UID, cgroup and log directory.
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
