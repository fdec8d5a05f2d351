import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {promisify} from 'node:util';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {buildOciArchive} from '../../../src/private-runtime/image/oci-image.js';
import {until} from '../../base/until.js';

const run = promisify(execFile);
const IMAGE = 'docker.io/library/busybox:1.36';

/** A containerd that kcri did not start, with a running container in the CRI namespace. */
export interface ForeignContainerd extends AsyncDisposable {
  /** Returns the output of `ctr tasks list`: the container, its process and its state. */
  tasks(): Promise<string>;
}

/** Starts the machine's containerd without kcri. */
export async function startForeignContainerd(): Promise<ForeignContainerd> {
  const dir = await mkdtemp(join(tmpdir(), 'foreign-containerd-'));
  // runc stores all containers of the machine by name, whichever containerd they belong to.
  const id = basename(dir);
  const socket = join(dir, 'containerd.sock');
  const config = join(dir, 'config.toml');
  await writeFile(
    config,
    `version = 2\nroot = "${dir}/root"\nstate = "${dir}/state"\n[grpc]\naddress = "${socket}"\n` +
      `[plugins."io.containerd.internal.v1.opt"]\npath = "${dir}/opt"\n`,
  );
  const containerd = spawn('containerd', ['--config', config], {stdio: 'ignore'});
  const ended = once(containerd, 'exit');
  const ctr = async (...args: string[]): Promise<string> =>
    (await run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args])).stdout;
  await untilSucceeds(() => ctr('version'));
  const archive = join(dir, 'busybox.tar');
  await writeFile(archive, buildOciArchive(await busyboxSpec([IMAGE])));
  await ctr('images', 'import', archive);
  await ctr('run', '--detach', '--null-io', IMAGE, id, 'sleep', '3600');
  return {
    tasks: () => ctr('tasks', 'list'),
    [Symbol.asyncDispose]: async () => {
      await ctr('tasks', 'delete', '--force', id);
      await ctr('containers', 'delete', id);
      containerd.kill('SIGTERM');
      await ended;
      await rm(dir, {recursive: true});
    },
  };
}

async function untilSucceeds(call: () => Promise<unknown>): Promise<void> {
  let failure: unknown;
  const succeeds = async (): Promise<boolean> => {
    try {
      await call();
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await until(succeeds, () => `a call to succeed: ${String(failure)}`);
}
