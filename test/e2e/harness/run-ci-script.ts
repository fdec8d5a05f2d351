import {spawn, type ChildProcess} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {shellQuote} from '../../../src/base/shell-quote.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import type {PodTestbed} from './pod-testbed.js';

const SCRIPT = fileURLToPath(new URL('../../../examples/ci.sh', import.meta.url));

/** A run of examples/ci.sh. */
export interface CiRun {
  readonly child: ChildProcess;
  /** Output so far, of both streams. */
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  readonly readJunit: () => Promise<string>;
}

/** Starts examples/ci.sh for a manifest on the runtime of a testbed. */
export async function startCiScript(
  {runtime, logsDir, cgroupRoot}: PodTestbed,
  manifest: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CiRun> {
  const directory = await temporaryDirectory();
  const [kcri, file, junit] = ['kcri', 'job.json', 'results.xml'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(kcri, `#!/bin/sh\nexec ${KCRI_COMMAND.map(shellQuote).join(' ')} "$@"\n`, {mode: 0o755});
  await writeFile(file, manifest);
  const child = spawn('sh', [SCRIPT, file, junit], {
    env: {
      ...process.env,
      KCRI: kcri,
      KCRI_ROOT_DIR: runtime.rootDir,
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      SYNC_FLAGS: `--pod-logs-dir ${logsDir} --cgroup-root ${cgroupRoot}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return {child, output: () => output, exited, readJunit: async () => readFile(junit, 'utf8')};
}
