import {readdirSync, readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitest/config';
import {BaseSequencer, type TestSpecification} from 'vitest/node';
import {timeBudget} from './test/base/time-budget.js';

/** Platform of the executables that run on this machine. */
const TARGET = `linux-${process.arch}`;
const EXECUTABLE = fileURLToPath(new URL(`dist/binary/kcri-${TARGET}`, import.meta.url));

/**
 * `npm run test:full` and `test:binary` run every test that can run on the bundle, the executable and the older runtime;
 * `npm test` runs a selection there. Without a scope a project runs everything that it can.
 */
const SCOPE = process.env['KCRI_TEST_SCOPE'];
const IS_FULL = SCOPE === 'full';

/** Files that replace modules for everything that runs later in their process, so each of them gets a process. */
const ISOLATED = readdirSync(join(import.meta.dirname, 'test'), {recursive: true, encoding: 'utf8'})
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((file) => readFileSync(join(import.meta.dirname, file), 'utf8').includes('vi.mock('));

/** Tests of the CLI that bundling may break: every command once, streams, terminals, errors and workers. */
const ON_BUNDLE = IS_FULL
  ? ['test/{cli,commands,compat,features,program}/**/*.test.ts']
  : [
      'test/compat/*.test.ts',
      'test/cli/catalog/*.test.ts',
      'test/program/{bundled,help,invalid-arguments,main,process-end}.test.ts',
      'test/commands/{describe,events,jsonschema,logs,run}.test.ts',
      'test/commands/{help,kubelet,plan,streaming}/*.test.ts',
      'test/commands/record/{record,swap}.test.ts',
      'test/commands/sync/sync.test.ts',
    ];

/** What `npm test` does not run on the sources: what it runs on the bundle, and the recorded cases without events. */
const NOT_SELECTED = [...ON_BUNDLE, 'test/golden/parity-daemon-generic.test.ts'];

/** The comparison with crictl, and tests that depend on the JavaScript engine: streams, signals, servers, watched files. */
const ON_BINARY = IS_FULL
  ? ON_BUNDLE
  : [
      'test/compat/compat.test.ts',
      'test/program/main.test.ts',
      'test/commands/logs.test.ts',
      'test/commands/kubelet/kubelet-{reload,start}.test.ts',
      'test/commands/streaming/*.test.ts',
      'test/commands/sync/sync.test.ts',
    ];

/** End-to-end tests that depend most on the JavaScript engine: servers, terminals, streams. */
const E2E_ON_BINARY = IS_FULL ? '*' : '{binary,exec-terminal,kubelet-streams,top-terminal}';

/**
 * Flags of the test processes: V8 optimizes functions later, which takes a tenth less processor time, because most code
 * of a test run is soon done.
 */
const WORKER_FLAGS = ['--interrupt-budget=2640000'];

/** End-to-end tests whose result may depend on the cgroup version, the cgroup driver, or capabilities that containers lack. */
const IN_VM = [
  'test/e2e/pods/{csi-volumes,golden,resize,security-and-resources,user-namespaces}.test.ts',
  'test/e2e/kubelet/exclusive-cpus.test.ts',
];

/** The slowest files, in the order in which they start. At the end of a run they would leave processors idle. */
const SLOWEST = [
  'golden/parity-foreground',
  'scenarios/call-faults',
  'cluster/pod-life-cost',
  'golden/api/',
  'golden/parity-daemon',
  'scenarios/runtime-faults',
  'scenarios/jobs',
  'golden/derived',
  'bad-input-runtime',
  'scenarios/workloads',
  'daemon/scenarios/',
  'ui-page/browser/accessibility',
  'e2e/runtime/',
  'e2e/pods/golden',
  'e2e/kubelet/kubelet.test',
  'e2e/pods/sync',
  'e2e/package/',
  'e2e/pods/pod-images',
  'e2e/kubelet/kubelet-image-gc',
  'e2e/commands/crictl-workflow',
];

/** Runs the slowest files first, and the others in vitest's order. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({moduleId}: TestSpecification): number {
  const index = SLOWEST.findIndex((part) => moduleId.includes(part));
  return index === -1 ? SLOWEST.length : index;
}

/**
 * Three tiers: units and the CLI against the fake runtime in `unit`, the same CLI from the bundle in `bundle` and in
 * the executable in `binary`, and the built program on real runtimes in `e2e`. `e2e-binary` runs a part of the latter
 * with the executable.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    disableConsoleIntercept: true,
    execArgv: WORKER_FLAGS,
    setupFiles: process.env['KCRI_COVERAGE'] === undefined ? [] : ['scripts/coverage/collect.mjs'],
    // Timeouts only end tests that would never end: no machine may be too slow.
    testTimeout: timeBudget(900_000),
    hookTimeout: timeBudget(900_000),
    expect: {poll: {timeout: timeBudget(300_000)}},
    sequence: {sequencer: SlowestFirst},
    // CI lists repeated tests and limits their number (scripts/bootstrap/repeated-tests.mjs): each is a fault to fix, but
    // must not cost the whole run.
    retry: process.env['CI'] === 'true' ? 2 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          // What runs on the bundle need not run on the sources too.
          exclude: ['test/{cluster,e2e,vm}/**', ...ISOLATED, ...(SCOPE === 'selected' ? NOT_SELECTED : [])],
          isolate: false,
          // The slowest files, such as the recorded cases, mostly wait for the next tick of their clock.
          maxWorkers: 3 * availableParallelism(),
        },
      },
      {
        extends: true,
        test: {name: 'unit-isolated', include: ISOLATED, maxWorkers: '100%', sequence: {groupOrder: 1}},
      },
      {
        extends: true,
        test: {
          name: 'bundle',
          include: ON_BUNDLE,
          isolate: false,
          env: {KCRI_TEST_BUNDLE: '1'},
          maxWorkers: '100%',
          sequence: {groupOrder: 2},
        },
      },
      {
        extends: true,
        test: {
          name: 'binary',
          include: ON_BINARY,
          isolate: false,
          env: {
            KCRI_TEST_WORKER: fileURLToPath(
              new URL(`dist/binary/kcri-test-worker-${TARGET}`, import.meta.url),
            ),
            KCRI_TEST_PROGRAM: EXECUTABLE,
          },
          maxWorkers: '100%',
          sequence: {groupOrder: 3},
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [
            'test/e2e/package/binary.test.ts',
            // Builds more executables, and runs one under emulation.
            ...(SCOPE === 'selected' ? ['test/e2e/package/other-platforms.test.ts'] : []),
          ],
          isolate: false,
          // At most three at a time, since they mostly wait. Each file has its own runtime, cgroup root, directories
          // and ports, because pods with equal content have equal UIDs.
          maxWorkers: 3,
          sequence: {groupOrder: 4},
        },
      },
      // `npm run test:cluster`: a real control plane, which most machines do not have.
      {
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          sequence: {groupOrder: 6},
        },
      },
      // `npm run test:vm`: runs in a virtual machine with cgroup v2 and systemd.
      {
        extends: true,
        test: {
          name: 'vm',
          include: ['test/vm/**/*.test.ts', ...IN_VM],
          isolate: false,
          // The machine has one processor for two.
          maxWorkers: 1,
          sequence: {groupOrder: 7},
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e-binary',
          include: [`test/e2e/**/${E2E_ON_BINARY}.test.ts`],
          // They test the npm package, and the debugger of Node.js.
          exclude: ['test/e2e/package/library.test.ts', 'test/e2e/kubelet/kubelet-watchdog.test.ts'],
          env: {
            KCRI_TEST_PROGRAM: EXECUTABLE,
            ...(!IS_FULL && {KCRI_TEST_RUNTIMES: 'newest'}),
          },
          maxWorkers: 2,
          sequence: {groupOrder: 5},
        },
      },
    ],
  },
});
