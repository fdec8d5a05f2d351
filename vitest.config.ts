import {defineConfig} from 'vitest/config';

/**
 * Three tiers: pure units and the CLI against the fake runtime in `unit`, the same CLI from the bundle in `bundle`, and
 * real runtimes in `e2e`, which run the built program.
 */
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
          name: 'bundle',
          include: ['test/{cli,commands,compat}/**/*.test.ts'],
          env: {KCRI_TEST_BUNDLE: '1'},
          maxWorkers: '100%',
          sequence: {groupOrder: 1},
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // Two at a time, which mostly wait. Each has its own runtime, cgroup root, directories and ports: pods of
          // the same content have the same UID.
          maxWorkers: 2,
          sequence: {groupOrder: 2},
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
