import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {ensureSecondContainerd} from '../../../scripts/second-containerd.mjs';

/** A container runtime that the end-to-end tests run on. */
export interface RuntimeUnderTest {
  /** For titles: `containerd 1.6.20~ds1`. */
  readonly name: string;
  /** Its programs' folder; undefined is the machine's own. */
  readonly folder: string | undefined;
}

/**
 * The runtimes to test on, for `describe.each`: the machine's containerd and the second one that `npm test`
 * unpacked (see scripts/second-containerd.mjs).
 */
export const runtimes: readonly RuntimeUnderTest[] = await findRuntimes();

async function findRuntimes(): Promise<RuntimeUnderTest[]> {
  const second = process.env['KCRI_TEST_CONTAINERD'] ?? (await unpackedHere());
  return [undefined, ...(second === undefined ? [] : [second])].map((folder) => ({
    name: `containerd ${versionOf(folder)}`,
    folder,
  }));
}

/** For a run of vitest by hand. */
async function unpackedHere(): Promise<string | undefined> {
  const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
  return second?.folder;
}

function versionOf(folder: string | undefined): string {
  const output = execFileSync(join(folder ?? '', 'containerd'), ['--version'], {encoding: 'utf8'});
  return /\s(\d+\.\d+\.\S+)/.exec(output)?.[1] ?? output.trim();
}
