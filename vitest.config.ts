import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitest/config';

/** Platform of the executables that run on this machine. */
const TARGET = `linux-${process.arch}`;
const EXECUTABLE = fileURLToPath(new URL(`dist/binary/kcri-${TARGET}`, import.meta.url));

/** Whether all end-to-end tests run on the executable, on both runtimes (`npm run test:binary`). */
const WHOLE = process.env['KCRI_TEST_BINARY'] === 'whole';

/** Files that depend most on the JavaScript engine: servers, terminals, streams and watched files. */
const ON_BINARY =
  '{binary,exec,exec-terminal,kubelet,kubelet-servers,kubelet-streams,logs,port-forward,pull-credentials,sync,top-terminal,volumes-written,watch,websocket}';

/** Timeout of `until` in end-to-end tests. */
const KCRI_TEST_TIMEOUT_MS = '60000';

/**
 * Three tiers: units and the CLI against the fake runtime in `unit`, the same CLI from the bundle in `bundle` and in
 * the executable in `binary`, and the built program on real runtimes in `e2e`. `e2e-binary` runs a part of the latter
 * with the executable.
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
          name: 'binary',
          include: ['test/{cli,commands,compat}/**/*.test.ts'],
          env: {
            KCRI_TEST_WORKER: fileURLToPath(
              new URL(`dist/binary/kcri-test-worker-${TARGET}`, import.meta.url),
            ),
            KCRI_TEST_PROGRAM: EXECUTABLE,
          },
          maxWorkers: '100%',
          sequence: {groupOrder: 2},
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: ['test/e2e/package/binary.test.ts'],
          env: {KCRI_TEST_TIMEOUT_MS},
          // At most three at a time, since they mostly wait. Each file has its own runtime, cgroup root, directories
          // and ports, because pods with equal content have equal UIDs.
          maxWorkers: 3,
          sequence: {groupOrder: 3},
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e-binary',
          include: [`test/e2e/**/${WHOLE ? '*' : ON_BINARY}.test.ts`],
          // It tests the npm package.
          exclude: ['test/e2e/package/library.test.ts'],
          env: {
            KCRI_TEST_TIMEOUT_MS,
            KCRI_TEST_PROGRAM: EXECUTABLE,
            ...(!WHOLE && {KCRI_TEST_RUNTIMES: 'newest'}),
          },
          maxWorkers: 2,
          sequence: {groupOrder: 4},
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
