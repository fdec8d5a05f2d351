import {once} from 'node:events';
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer, type AddressInfo} from 'node:net';
import {join} from 'node:path';
import {until} from '../../base/until.js';
import {startPodTestbed, type PodTestbed} from './pod-testbed.js';
import type {KcriProcess} from './kcri-process.js';
import type {RuntimeUnderTest} from './runtimes-under-test.js';

/** A `kcri kubelet` that serves. */
export interface ServingDaemon {
  readonly kcri: KcriProcess;
  readonly pid: number;
  /** Where the authenticated, the read-only and the health port are. */
  readonly urls: Readonly<Record<'main' | 'readOnly' | 'health', string>>;
}

/** A private runtime, and a directory of manifests for a kubelet on it. */
export interface KubeletTestbed extends AsyncDisposable {
  readonly podTestbed: PodTestbed;
  /** Writes a manifest. */
  put(name: string, manifest: string): Promise<void>;
  /** Removes a manifest, and waits until nothing of its pod is left. */
  remove(name: string): Promise<void>;
  /** Starts a daemon on free ports, with further lines of configuration and flags. */
  start(config?: string, flags?: readonly string[]): Promise<ServingDaemon>;
}

/**
 * Starts the runtime, below `parent` when that is given; its daemons are called `node`. Disposing ends what still runs,
 * with its pods.
 */
export async function startKubeletTestbed(
  which: RuntimeUnderTest,
  node: string,
  parent?: string,
): Promise<KubeletTestbed> {
  const ground = await startPodTestbed(which, parent);
  const {rootDir} = ground.runtime;
  const directory = join(rootDir, 'manifests');
  await mkdir(directory);
  const daemons: KcriProcess[] = [];
  const names: string[] = [];
  const start: KubeletTestbed['start'] = async (config = '', flags = []) => {
    const [port, readOnlyPort, healthzPort] = await freePorts(3);
    const file = join(rootDir, 'kubelet.yaml');
    await writeFile(
      file,
      `${kubeletConfigFor(ground, directory)}port: ${port}
readOnlyPort: ${readOnlyPort}
healthzPort: ${healthzPort}
${config}`,
    );
    const kcri = ground.runtime.start([
      ...['kubelet', '--config', file, '--hostname-override', node, '--no-admission', '--v=2'],
      ...flags,
    ]);
    daemons.push(kcri);
    await kcri.waitForOutput(/"Starting kubelet main sync loop"/);
    const published = await readFile(join(rootDir, 'kubelet.json'), 'utf8');
    return {kcri, ...(JSON.parse(published) as Pick<ServingDaemon, 'pid' | 'urls'>)};
  };
  return {
    podTestbed: ground,
    start,
    put: async (name, manifest) => {
      names.push(`${name}-${node}`);
      await writeFile(join(directory, `${name}.json`), manifest);
    },
    remove: async (name) => {
      const {uid} = await ground.pod(`${name}-${node}`);
      await rm(join(directory, `${name}.json`));
      const left = async (): Promise<readonly string[]> =>
        (await ground.listLeftovers(uid)).filter((path) => !path.endsWith('/__kubelet.lock'));
      await until(async () => (await left()).length === 0);
    },
    [Symbol.asyncDispose]: async () => {
      for (const daemon of daemons) {
        daemon.kill('SIGKILL');
        await daemon.exited;
      }
      await ground.delete(...names);
      await ground[Symbol.asyncDispose]();
    },
  };
}

/** The configuration of a kubelet on the ground, with manifests in `directory`, to which lines may be added. */
export function kubeletConfigFor({runtime, logsDir, cgroupRoot}: PodTestbed, directory: string): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${directory}
containerRuntimeEndpoint: ${runtime.endpoint}
podLogsDir: ${logsDir}
cgroupRoot: ${cgroupRoot}
`;
}

/** Ports that are free, each another. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({length: count}, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return servers.map((server) => {
    const {port} = server.address() as AddressInfo;
    server.close();
    return port;
  });
}
