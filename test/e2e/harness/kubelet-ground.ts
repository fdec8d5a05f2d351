import {once} from 'node:events';
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer, type AddressInfo} from 'node:net';
import {join} from 'node:path';
import {until} from '../../base/until.js';
import {startPodGround, type PodGround} from './pod-ground.js';
import type {RunningKcri} from './run-kcri.js';
import type {RuntimeUnderTest} from './runtimes.js';

/** A `kcri kubelet` that serves. */
export interface ServingDaemon {
  readonly kcri: RunningKcri;
  readonly pid: number;
  /** Where the authenticated, the read-only and the health port are. */
  readonly urls: Readonly<Record<'main' | 'readOnly' | 'health', string>>;
}

/** A private runtime, and a directory of manifests for a kubelet on it. */
export interface KubeletGround extends AsyncDisposable {
  readonly ground: PodGround;
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
export async function startKubeletGround(
  which: RuntimeUnderTest,
  node: string,
  parent?: string,
): Promise<KubeletGround> {
  const ground = await startPodGround(which, parent);
  const {rootDir} = ground.runtime;
  const directory = join(rootDir, 'manifests');
  await mkdir(directory);
  const daemons: RunningKcri[] = [];
  const names: string[] = [];
  const start: KubeletGround['start'] = async (config = '', flags = []) => {
    const [port, readOnlyPort, healthzPort] = await freePorts(3);
    const file = join(rootDir, 'kubelet.yaml');
    await writeFile(
      file,
      `${groundConfig(ground, directory)}port: ${port}
readOnlyPort: ${readOnlyPort}
healthzPort: ${healthzPort}
${config}`,
    );
    const kcri = ground.runtime.start([
      ...['kubelet', '--config', file, '--hostname-override', node, '--no-admission', '--v=2'],
      ...flags,
    ]);
    daemons.push(kcri);
    await kcri.says(/"Starting kubelet main sync loop"/);
    const published = await readFile(join(rootDir, 'kubelet.json'), 'utf8');
    return {kcri, ...(JSON.parse(published) as Pick<ServingDaemon, 'pid' | 'urls'>)};
  };
  return {
    ground,
    start,
    put: async (name, manifest) => {
      names.push(`${name}-${node}`);
      await writeFile(join(directory, `${name}.json`), manifest);
    },
    remove: async (name) => {
      const {uid} = await ground.pod(`${name}-${node}`);
      await rm(join(directory, `${name}.json`));
      const left = async (): Promise<readonly string[]> =>
        (await ground.leftoversOf(uid)).filter((path) => !path.endsWith('/__kubelet.lock'));
      await until(async () => (await left()).length === 0);
    },
    [Symbol.asyncDispose]: async () => {
      for (const daemon of daemons) {
        daemon.kill('SIGKILL');
        await daemon.ended;
      }
      await ground.delete(...names);
      await ground[Symbol.asyncDispose]();
    },
  };
}

/** The configuration of a kubelet on the ground, with manifests in `directory`, to which lines may be added. */
export function groundConfig({runtime, logsDir, cgroupRoot}: PodGround, directory: string): string {
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
