import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitest/config';

/** The executables that run on this machine. */
const TARGET = `linux-${process.arch}`;
const EXECUTABLE = fileURLToPath(new URL(`dist/binary/kcri-${TARGET}`, import.meta.url));

/** What `npm run test:binary` sets: all end-to-end tests on the executable, on both runtimes. */
const WHOLE = process.env['KCRI_TEST_BINARY'] === 'whole';

/** What hangs most on the engine that runs JavaScript: servers, terminals, streams, files that are watched. */
const ON_BINARY =
  '{binary,exec,exec-terminal,kubelet,kubelet-servers,kubelet-streams,logs,port-forward,pull-credentials,sync,top-terminal,volumes-written,watch,websocket}';

/** How long end-to-end tests wait for something. */
const KCRI_TEST_PATIENCE_MS = '60000';

/**
 * Three tiers: pure units and the CLI against the fake runtime in `unit`, the same CLI from the bundle in `bundle` and
 * in the executable in `binary`, and real runtimes in `e2e`, which run the built program; `e2e-binary` has part of them
 * run the executable.
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
            KCRI_TEST_TWIN: fileURLToPath(new URL(`dist/binary/kcri-twin-${TARGET}`, import.meta.url)),
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
          env: {KCRI_TEST_PATIENCE_MS},
          // Three at a time, which mostly wait. Each has its own runtime, cgroup root, directories and ports: pods of
          // the same content have the same UID.
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
          // The npm package is tested there.
          exclude: ['test/e2e/package/library.test.ts'],
          env: {
            KCRI_TEST_PATIENCE_MS,
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
