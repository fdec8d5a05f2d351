import {runDemo} from './demo.mjs';
import {checkMachine, installNpmPackages, installPrograms} from './install.mjs';
import {build} from './build.mjs';
import {runAll, SetupError, say} from './run.mjs';
import {runTests, TEST_TASKS} from './tests.mjs';
import {ensureKubectl} from '../test-runtimes/kubectl.mjs';
import {runVmTests, VM_PROGRAMS} from '../vm/run-vm-tests.mjs';
import {CACHE, ensureSecondContainerd} from '../test-runtimes/second-containerd.mjs';

/** The tasks by the word that follows `bootstrap.mjs`. */
const TASKS = {
  demo: async () => {
    await setUp();
    return runDemo();
  },
  ...Object.fromEntries(TEST_TASKS.map((task) => [task, (args) => test(task, args)])),
  'test:cluster': (args) => testCluster(args),
  'test:vm': async (args) => {
    await setUp(VM_PROGRAMS);
    return runVmTests(args);
  },
};

async function testCluster(args) {
  if (process.env.KCRI_TEST_CONTROL_PLANE !== undefined) return test('test:cluster', args);
  say(
    'test:cluster was skipped: KCRI_TEST_CONTROL_PLANE has to name a directory with etcd, kube-apiserver, ' +
      'kube-controller-manager and kube-scheduler',
  );
  return 0;
}

async function test(task, args) {
  await setUp();
  return runTests(task, args, {
    secondContainerd: () => ensureSecondContainerd(say),
    kubectl: () => ensureKubectl(CACHE),
  });
}

/** Runs a task and returns its exit code. */
export async function main([task = '', ...args]) {
  // Ctrl-C is sent to the child process too. This process waits until it has cleaned up.
  process.on('SIGINT', () => undefined);
  try {
    const run = TASKS[task];
    if (run === undefined)
      throw new SetupError(`usage: node scripts/bootstrap.mjs ${Object.keys(TASKS).join('|')}`);
    return await run(args);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function setUp(programs = []) {
  await checkMachine();
  await runAll(installNpmPackages(), installPrograms(programs));
  await build();
}
