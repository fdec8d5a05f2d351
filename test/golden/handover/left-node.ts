import {execFileSync} from 'node:child_process';
import {chmod, mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {encode} from '../../../src/cri/codec.js';
import {fromJson} from '../../../src/cri/index.js';
import {criServices, type DecodedRequest} from '../../fakes/runtime/cri-messages.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {anImage} from '../../fakes/fake-runtime.js';
import type {ContainerWithSandbox} from '../../fakes/runtime-builders.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from '../../fakes/runtime/runtime-records.js';
import {listMounts} from '../../faults/end-state.js';

interface LeftSandbox {
  readonly id: string;
  readonly state: SandboxRecord['state'];
  readonly createdAt: string;
  readonly ip: string;
  readonly config: object;
}

interface LeftContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly state: ContainerRecord['state'];
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly image: string;
  readonly imageId: string;
  readonly config: {readonly log_path?: string};
}

/** Independent of where this file was compiled to. */
const RECORDING = join(
  dirname(createRequire(import.meta.url).resolve('kcri/package.json')),
  'test/golden/handover/left-node.json',
);

/** A path of the root directory: `link` and its target, the mode and content of a file, or the mode of a directory. */
type LeftPath = readonly [modeOrLink: string, content?: string];

/** Recording of a node made by kubeadm, as kubelet 1.36.2 left it. Its root directory is /var/lib/kubelet. */
interface LeftNodeFile {
  readonly sandboxes: readonly LeftSandbox[];
  readonly containers: readonly LeftContainer[];
  readonly pods: readonly StoredObject[];
  readonly rootDir: Readonly<Record<string, LeftPath>>;
  readonly manifests: Readonly<Record<string, string>>;
}

/** The node, with its directories in place. */
export interface LeftNode {
  readonly rootDir: string;
  readonly logsDir: string;
  /** The pods as the API server has them. */
  readonly pods: readonly StoredObject[];
  readonly manifests: Readonly<Record<string, string>>;
  readonly runtime: {
    readonly images: readonly ImageRecord[];
    readonly supplementalGroups: readonly string[];
    readonly sandboxes: readonly SandboxRecord[];
    readonly containers: readonly ContainerWithSandbox[];
  };
  /** Time at which the kubelet stopped, in ms since the epoch. */
  readonly stoppedAtMs: number;
  /** Unmounts the volumes that a kubelet has mounted, so that the directory can be removed. */
  unmount(): void;
}

/** Makes the directories of the node in an empty directory, and returns what it has. */
export async function leaveRecordedNode(directory: string): Promise<LeftNode> {
  const [rootDir, logsDir] = [join(directory, 'root'), join(directory, 'logs')];
  const text = await readFile(RECORDING, 'utf8');
  const moved = text.replaceAll('/var/lib/kubelet', rootDir).replaceAll('/var/log/pods', logsDir);
  const file = JSON.parse(moved) as LeftNodeFile;
  await mkdir(rootDir);
  for (const [path, [mode, content]] of Object.entries(file.rootDir)) {
    const target = join(rootDir, path);
    if (mode === 'link') await symlink(content ?? '', target);
    else if (content === undefined) await mkdir(target);
    else await writeFile(target, content);
    if (mode !== 'link') await chmod(target, Number(mode));
  }
  for (const {config, sandboxId} of file.containers) {
    const sandbox = file.sandboxes.find(({id}) => id === sandboxId)?.config as {log_directory: string};
    const log = join(sandbox.log_directory, config.log_path ?? '');
    await mkdir(dirname(log), {recursive: true});
    await writeFile(log, '');
  }
  const times = moved.matchAll(/"(2026-[\d-]+T[\d:.]+Z)"/g);
  const stoppedAtMs = Math.max(...Array.from(times, ([, time = '']) => Date.parse(time)));
  const {pods, manifests} = file;
  const unmount = (): void => {
    for (const path of listMounts(`${rootDir}/`).toReversed()) execFileSync('umount', [path]);
  };
  return {rootDir, logsDir, pods, manifests, runtime: runtimeOf(file), stoppedAtMs, unmount};
}

function runtimeOf({sandboxes, containers}: LeftNodeFile): LeftNode['runtime'] {
  const records = new Map(
    sandboxes.map(({id, state, createdAt, ip, config}) => {
      const record: SandboxRecord = {
        ...{id, state, createdAt: nanosOf(createdAt), runtimeHandler: ''},
        ips: ip === '' ? [] : [ip],
        config: received(
          'RunPodSandbox',
          encode('RunPodSandboxRequest', {config: fromJson('PodSandboxConfig', config)}),
        ) as SandboxRecord['config'],
      };
      return [id, record];
    }),
  );
  const images = new Map(
    containers.map(({image, imageId}) => [imageId, anImage({id: imageId, name: image, repoDigests: []})]),
  );
  return {
    images: [...images.values()],
    supplementalGroups: ['0'],
    sandboxes: [...records.values()],
    containers: containers.map((container) => containerOf(container, records.get(container.sandboxId)!)),
  };
}

function containerOf(
  {createdAt, startedAt, finishedAt, config, ...container}: LeftContainer,
  sandbox: SandboxRecord,
): ContainerWithSandbox {
  return {
    ...container,
    sandbox,
    createdAt: nanosOf(createdAt),
    startedAt: nanosOf(startedAt),
    finishedAt: nanosOf(finishedAt),
    config: received(
      'CreateContainer',
      encode('CreateContainerRequest', {config: fromJson('ContainerConfig', config, {bytes: 'text'})}),
    ) as ContainerRecord['config'],
    logPath: join(sandbox.config.logDirectory, config.log_path ?? ''),
    behaviour: {},
    ended: new AbortController(),
    resources: null,
  };
}

/** Returns the config in a request as the fake receives it. */
function received(method: 'RunPodSandbox' | 'CreateContainer', request: Buffer): unknown {
  const [definition] = criServices().flatMap((service) => service[method] ?? []);
  if (definition === undefined) throw new Error(`the CRI has no ${method}`);
  const {request: message} = definition.requestDeserialize(request) as DecodedRequest;
  return (message as {readonly config: unknown}).config;
}

const NANOS_PER_MS = 1_000_000n;

/** Returns nanoseconds since the epoch, 0 for no time. */
function nanosOf(time: string | null): bigint {
  if (time === null) return 0n;
  const [, fraction = ''] = /\.(\d+)Z$/.exec(time) ?? [];
  const seconds = BigInt(Math.floor(Date.parse(time) / 1000));
  return seconds * 1000n * NANOS_PER_MS + BigInt(fraction.padEnd(9, '0'));
}
