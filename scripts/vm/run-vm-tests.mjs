import {mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {ROOT, say, SetupError} from '../bootstrap/run.mjs';
import {ensureKubectl} from '../test-runtimes/kubectl.mjs';
import {CACHE, ensureSecondContainerd} from '../test-runtimes/second-containerd.mjs';
import {archiveCheckout, extractResults} from './checkout.mjs';
import {runMachine} from './machine.mjs';
import {ensureRootImage} from './root-image.mjs';

/** Programs of the virtual machine, in addition to those of all tests. */
export const VM_PROGRAMS = [
  {anyOf: ['qemu-system-x86_64'], aptPackage: 'qemu-system-x86'},
  {anyOf: ['mmdebstrap'], aptPackage: 'mmdebstrap'},
  {anyOf: ['mke2fs'], aptPackage: 'e2fsprogs'},
];

/** Unpacked packages of the programs that the tests use, in the cache. */
const PROGRAM_FOLDERS = /^(?:containerd|runc|libc6|kubectl)_/;
const RESULTS_BYTES = 64 * 1024 * 1024;
/** More than twice what the tests take; ends a machine that does not boot. */
const TIME_LIMIT_MS = 8 * 60 * 60 * 1000;

/**
 * Runs the tests of the project `vm`, or the shell command KCRI_VM_COMMAND, on containerd 2 in a virtual machine with cgroup v2
 * and systemd. What the machine has reported is in dist/vm: its console, its journal and the report of vitest.
 *
 * @param {readonly string[]} args arguments for vitest
 * @returns {Promise<number>} the exit code
 */
export async function runVmTests(args) {
  const aborter = new AbortController();
  const abort = () => aborter.abort();
  process.on('SIGINT', abort).on('SIGTERM', abort);
  const timer = setTimeout(abort, TIME_LIMIT_MS);
  const scratch = await mkdtemp(join(tmpdir(), 'kcri-vm-'));
  try {
    return await runIn(scratch, args, aborter.signal);
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', abort).off('SIGTERM', abort);
    await rm(scratch, {recursive: true});
  }
}

/** Returns the variables of the tests: programs, and what a machine without KVM can do at a time. */
async function testVariables() {
  const containerd = await ensureSecondContainerd(say);
  if (containerd?.runc === undefined)
    throw new SetupError(
      'the virtual machine needs containerd 2 and its runc, which could not be downloaded: see above.',
    );
  return {
    KCRI_TEST_CONTAINERD: containerd.folder,
    KCRI_TEST_RUNC: containerd.runc,
    KCRI_TEST_KUBECTL: await ensureKubectl(CACHE),
    KCRI_TEST_RUNTIMES: 'newest',
    // With ten cases at a time, a program needs minutes to start.
    KCRI_TEST_CONCURRENCY: '2',
    KCRI_TEST_TIME_FACTOR: '4',
  };
}

async function runIn(scratch, args, signal) {
  const variables = await testVariables();
  const names = await readdir(CACHE);
  const folders = names.filter((name) => PROGRAM_FOLDERS.test(name)).map((name) => join(CACHE, name));
  const nodeModules = join(ROOT, 'node_modules');
  const image = await ensureRootImage({cache: CACHE, nodeModules, folders, say, signal});
  const [checkout, results, report] = [
    join(scratch, 'checkout.tar'),
    join(scratch, 'results'),
    join(ROOT, 'dist/vm'),
  ];
  await rm(report, {recursive: true, force: true});
  await archiveCheckout(
    checkout,
    scratch,
    environment(variables) + (process.env.KCRI_VM_COMMAND ?? testCommand(args)),
  );
  await mkdir(report, {recursive: true});
  await writeFile(results, '');
  await truncate(results, RESULTS_BYTES);
  say('booting the virtual machine, without KVM: this takes a minute, and the tests about an hour');
  const code = await runMachine(
    {...image, checkout, results, console: join(report, 'console.log')},
    process.stdout,
    signal,
  );
  if (signal.aborted) throw new SetupError('the virtual machine was ended before the tests were done.');
  try {
    await extractResults(results, report);
    return Number(await readFile(join(report, 'exit-code'), 'utf8'));
  } catch {
    throw new SetupError(
      `the virtual machine has reported no result (QEMU exited with ${code}): see dist/vm/console.log.`,
    );
  }
}

function environment(variables) {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
}

function testCommand(args) {
  const reporters = ['--reporter=verbose', '--reporter=json', '--outputFile.json=vm-results/report.json'];
  const words = ['node', 'node_modules/vitest/vitest.mjs', 'run', '--project', 'vm', ...reporters, ...args];
  return `${words.map(quoted).join(' ')}\n`;
}

function quoted(word) {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
