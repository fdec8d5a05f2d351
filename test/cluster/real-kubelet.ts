import {execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';

/** A running kubelet of Kubernetes. */
export interface RealKubelet {
  /** Path of its log. */
  readonly log: string;
  /** Ends it as systemd does; pods keep running. */
  stop(): Promise<void>;
}

/** Options of startRealKubelet. */
export interface RealKubeletOptions {
  /** Directory with the program `kubelet`. */
  readonly programs: string;
  readonly rootDir: string;
  readonly configFile: string;
  readonly cgroupRoot: string;
  readonly nodeName: string;
  readonly kubeconfig: string;
}

/** Starts Kubernetes' own kubelet on a root directory. */
export async function startRealKubelet(options: RealKubeletOptions): Promise<RealKubelet> {
  const {programs, rootDir, configFile, cgroupRoot, nodeName, kubeconfig} = options;
  await makeCgroupRoot(cgroupRoot);
  const log = join(rootDir, '..', `kubelet-${Date.now()}.log`);
  const output = openSync(log, 'a');
  const args = [
    ...['--root-dir', rootDir, '--cert-dir', join(rootDir, 'pki'), '--config', configFile],
    ...['--hostname-override', nodeName, '--kubeconfig', kubeconfig, '--v=2'],
  ];
  const child = spawn(join(programs, 'kubelet'), args, {stdio: ['ignore', output, output]});
  closeSync(output);
  return {log, stop: async () => stop(child, log)};
}

async function stop(child: ChildProcess, log: string): Promise<void> {
  if (child.exitCode !== null)
    throw new Error(`the kubelet has exited: ${readFileSync(log, 'utf8').slice(-3000)}`);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Removes the mount of a kubelet's root directory on itself, which a kubelet makes and leaves, with all mounts below it. */
export function detachRootDir(rootDir: string): void {
  execFileSync('umount', ['--lazy', rootDir]);
}

/** Creates the cgroup root in every hierarchy: a kubelet does not start without it. */
async function makeCgroupRoot(path: string): Promise<void> {
  const mount = '/sys/fs/cgroup';
  const names = readdirSync(mount);
  const isUnified = names.includes('cgroup.controllers');
  for (const hierarchy of isUnified ? [''] : names)
    await mkdir(join(mount, hierarchy, path), {recursive: true});
  if (isUnified) return;
  // A cgroup of this hierarchy can have no processes before it has CPUs and memory.
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(mount, 'cpuset', path, file), readFileSync(join(mount, 'cpuset', file)));
}
