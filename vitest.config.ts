import {defineConfig} from 'vitest/config';

/** Three tiers: pure units and the CLI against the fake runtime in `unit`, real runtimes in `e2e`. */
export default defineConfig({
  test: {
    pool: 'forks',
    disableConsoleIntercept: true,
    testTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**'], maxWorkers: '100%'},
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // Two at a time, which mostly wait. Each has its own runtime, cgroup root, directories and ports: pods of
          // the same content have the same UID.
          maxWorkers: 2,
          sequence: {groupOrder: 1},
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
