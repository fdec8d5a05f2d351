import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {chmod, mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** A directory with a fake `ssh`, and what kcri has done with it. */
export interface FakeSsh {
  /** Variables with which kcri finds it, and keeps its sockets in a directory of the test. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the arguments of each call. */
  calls(): readonly (readonly string[])[];
  /** Kills the ssh processes of all connections. */
  killConnections(): void;
  /** Returns the directories of connections that exist. */
  leftovers(): Promise<readonly string[]>;
}

/** Installs the fake `ssh` in a directory that is removed after the test. */
export async function installFakeSsh(): Promise<FakeSsh> {
  const directory = await temporaryDirectory();
  const log = join(directory, 'calls');
  const program = join(directory, 'ssh');
  const sockets = join(directory, 's');
  await mkdir(sockets);
  const script = join(import.meta.dirname, 'fake-ssh.mjs');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  await chmod(program, 0o755);
  return {
    env: {
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      FAKE_SSH_LOG: log,
      TMPDIR: sockets,
    },
    calls: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .trimEnd()
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as readonly string[])
        : [],
    killConnections: () => {
      for (const name of readdirSync(sockets)) {
        const file = join(sockets, name, 'pid');
        if (existsSync(file)) process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
      }
    },
    leftovers: async () => await readdir(sockets),
  };
}

/** Returns the endpoint of a runtime of this machine on a node of the fake ssh; `host` may select a fault. */
export function remoteEndpoint({endpoint}: {readonly endpoint: string}, host = 'root@node'): string {
  return endpoint.replace('unix://', `ssh://${host}`);
}
