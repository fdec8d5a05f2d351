import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {ensureSecondContainerd} from '../../../scripts/test-runtimes/second-containerd.mjs';

/** Programs of a runtime; undefined stands for the machine's own. */
export interface RuntimePrograms {
  /** Directory of containerd and its programs. */
  readonly folder: string | undefined;
  readonly runc?: string | undefined;
}

/** A container runtime that the end-to-end tests run on. */
export interface RuntimeUnderTest extends RuntimePrograms {
  /** Name in titles: `containerd 1.6.20~ds1`. */
  readonly name: string;
}

/** The machine's own containerd and runc. */
export const MACHINE_PROGRAMS: RuntimePrograms = {folder: undefined, runc: undefined};

/** Returns the flags with which `kcri runtime up` starts this runtime. */
export function runtimeUpFlags({folder, runc}: RuntimePrograms): readonly string[] {
  return [
    ...(folder === undefined ? [] : ['--containerd', folder]),
    ...(runc === undefined ? [] : ['--runc', runc]),
  ];
}

/**
 * The runtimes to test on, for `describe.each`: the machine's containerd and the second one that `npm test`
 * unpacked (see scripts/test-runtimes/second-containerd.mjs); with KCRI_TEST_RUNTIMES=newest only the newer of them.
 */
export const runtimes: readonly RuntimeUnderTest[] = await findRuntimes();

/**
 * The newest runtime, for `describe.each`: for behavior of kcri that hardly depends on the runtime. `npm run test:full`
 * uses all.
 */
export const newestRuntime = isFullRun() ? runtimes : runtimes.slice(-1);

/** Returns one of every `step` cases of a long list. `npm run test:full` uses all. */
export function selectCases<T>(cases: readonly T[], step: number): readonly T[] {
  return isFullRun() ? cases : cases.filter((_, index) => index % step === 0);
}

function isFullRun(): boolean {
  return process.env['KCRI_TEST_SCOPE'] === 'full';
}

async function findRuntimes(): Promise<RuntimeUnderTest[]> {
  const second = givenByBootstrap() ?? (await unpackedHere());
  const found = [MACHINE_PROGRAMS, ...(second === undefined ? [] : [second])];
  const wanted = process.env['KCRI_TEST_RUNTIMES'] === 'newest' ? found.slice(-1) : found;
  return wanted.map((programs) => ({name: `containerd ${versionOf(programs.folder)}`, ...programs}));
}

function givenByBootstrap(): RuntimePrograms | undefined {
  const {KCRI_TEST_CONTAINERD: folder, KCRI_TEST_RUNC: runc = ''} = process.env;
  return folder === undefined ? undefined : {folder, runc: runc === '' ? undefined : runc};
}

/** Returns the second containerd for a run of vitest without the bootstrap. */
async function unpackedHere(): Promise<RuntimePrograms | undefined> {
  return await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
}

function versionOf(folder: string | undefined): string {
  const output = execFileSync(join(folder ?? '', 'containerd'), ['--version'], {encoding: 'utf8'});
  return /\s(\d+\.\d+\.\S+)/.exec(output)?.[1] ?? output.trim();
}
