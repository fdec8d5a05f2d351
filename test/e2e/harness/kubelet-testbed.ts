import {mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {freePorts} from '../../base/free-ports.js';
import {until} from '../../base/until.js';
import {startPodTestbed, type PodTestbed} from './pod-testbed.js';
import type {KcriProcess} from './kcri-process.js';
import type {RuntimeUnderTest} from './runtimes-under-test.js';

/** A running `kcri kubelet` with its HTTP servers. */
export interface ServingDaemon {
  readonly kcri: KcriProcess;
  readonly pid: number;
  /** URLs of the authenticated, the read-only and the health port. */
  readonly urls: Readonly<Record<'main' | 'readOnly' | 'health', string>>;
}

/** A private runtime, and a directory of manifests for a kubelet on it. */
export interface KubeletTestbed extends AsyncDisposable {
  readonly podTestbed: PodTestbed;
  /** Writes a manifest. */
  put(name: string, manifest: string): Promise<void>;
  /** Removes a manifest. */
  withdraw(name: string): Promise<void>;
  /**
   * Removes a manifest and waits until nothing is left of its pod: up to a minute, since the sandbox and the record stay until the
   * container garbage collection, as with a kubelet.
   */
  remove(name: string): Promise<void>;
  /**
   * Starts a daemon on free ports, with additional lines of configuration and flags. Daemons of before are killed: a
   * repeated test finds the daemon of its failed attempt.
   */
  start(config?: string, flags?: readonly string[]): Promise<ServingDaemon>;
}

/**
 * Starts the runtime, below `parent` if given, for daemons with the node name `node`. Disposing ends running daemons
 * and removes their pods.
 */
export async function startKubeletTestbed(
  which: RuntimeUnderTest,
  node: string,
  parent?: string,
): Promise<KubeletTestbed> {
  const podTestbed = await startPodTestbed(which, parent);
  const {rootDir} = podTestbed.runtime;
  const directory = join(rootDir, 'manifests');
  await mkdir(directory);
  const daemons: KcriProcess[] = [];
  const names: string[] = [];
  const endDaemons = async (): Promise<void> => {
    for (const daemon of daemons.splice(0)) {
      daemon.kill('SIGKILL');
      await daemon.exited;
    }
  };
  const start: KubeletTestbed['start'] = async (config = '', flags = []) => {
    await endDaemons();
    const [port, readOnlyPort, healthzPort] = await freePorts(3);
    const file = join(rootDir, 'kubelet.yaml');
    await writeFile(
      file,
      `${kubeletConfigFor(podTestbed, directory)}port: ${port}
readOnlyPort: ${readOnlyPort}
healthzPort: ${healthzPort}
${config}`,
    );
    const kcri = podTestbed.runtime.start([
      ...['kubelet', '--config', file, '--hostname-override', node, '--no-admission', '--v=2'],
      ...flags,
    ]);
    daemons.push(kcri);
    await kcri.waitForOutput(/"Starting kubelet main sync loop"/);
    const published = await readFile(join(rootDir, 'kcri/kubelet.json'), 'utf8');
    return {kcri, ...(JSON.parse(published) as Pick<ServingDaemon, 'pid' | 'urls'>)};
  };
  const withdraw: KubeletTestbed['withdraw'] = async (name) => {
    await rm(join(directory, `${name}.json`));
  };
  return {
    podTestbed,
    start,
    withdraw,
    put: async (name, manifest) => {
      names.push(`${name}-${node}`);
      await putManifest(join(directory, `${name}.json`), manifest);
    },
    remove: async (name) => {
      const {uid} = await podTestbed.pod(`${name}-${node}`);
      await withdraw(name);
      const left = async (): Promise<readonly string[]> =>
        (await podTestbed.listLeftovers(uid)).filter((path) => !path.endsWith('/__kubelet.lock'));
      await until(async () => (await left()).length === 0);
    },
    [Symbol.asyncDispose]: async () => {
      await endDaemons();
      await podTestbed.delete(...names);
      await podTestbed[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns the configuration of a kubelet on the testbed, with manifests in `directory`; lines may be appended. Pods must
 * not be evicted because the disk of this machine is nearly full.
 */
export function kubeletConfigFor({runtime, logsDir, cgroupRoot}: PodTestbed, directory: string): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${directory}
containerRuntimeEndpoint: ${runtime.endpoint}
podLogsDir: ${logsDir}
cgroupRoot: ${cgroupRoot}
evictionHard: {memory.available: 1Mi}
`;
}

/** Writes a manifest at once: a kubelet that reads a part of it would report it. Files with a dot are ignored. */
export async function putManifest(path: string, manifest: string): Promise<void> {
  const hidden = join(dirname(path), `.${basename(path)}`);
  await writeFile(hidden, manifest);
  await rename(hidden, path);
}
