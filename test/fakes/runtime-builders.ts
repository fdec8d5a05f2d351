import {createHash} from 'node:crypto';
import {fakeDigest, normalizeImageName} from './runtime/image-reference.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime/runtime-records.js';
import type {Message} from './runtime/cri-messages.js';

/** The default image of the fake. */
export const BUSYBOX = 'localhost:5000/busybox:1';
/** 1 May 2026, 12:00 UTC: default creation time. */
export const BUILT_AT_NANOS = 1_777_636_800_000_000_000n;

/** Fields of aSandbox that differ from the defaults. */
export interface SandboxFields {
  readonly id?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt?: number;
  readonly state?: SandboxRecord['state'];
  readonly createdAt?: bigint;
  readonly ip?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly runtimeHandler?: string;
  readonly logDirectory?: string;
}

const SANDBOX = {
  name: 'web',
  namespace: 'default',
  attempt: 0,
  state: 'SANDBOX_READY',
  ip: '10.244.0.2',
  labels: {},
  annotations: {},
  runtimeHandler: '',
  logDirectory: '',
  createdAt: BUILT_AT_NANOS,
} as const satisfies SandboxFields;

/** Returns a sandbox with the kubelet's labels, by default ready and of the pod default/web. */
export function aSandbox(seed: SandboxFields = {}): SandboxRecord {
  const sandbox = {...SANDBOX, ...seed};
  const {name, namespace, attempt, uid = uidOf(`${namespace}/${name}`)} = sandbox;
  return {
    id: sandbox.id ?? hexId(`sandbox ${namespace}/${name}/${uid}/${attempt}`),
    config: {
      ...EMPTY_SANDBOX_CONFIG,
      metadata: {name, namespace, uid, attempt},
      hostname: name,
      logDirectory: sandbox.logDirectory,
      labels: {...podLabels({name, namespace, uid}), ...sandbox.labels},
      annotations: sandbox.annotations,
    },
    runtimeHandler: sandbox.runtimeHandler,
    createdAt: sandbox.createdAt,
    state: sandbox.state,
    ips: sandbox.state === 'SANDBOX_READY' ? [sandbox.ip] : [],
  };
}

/** Fields of aContainer that differ from the defaults. */
export interface ContainerFields {
  readonly id?: string;
  /** Its sandbox, by default that of aSandbox(). */
  readonly sandbox?: SandboxRecord;
  readonly name?: string;
  readonly attempt?: number;
  readonly state?: ContainerRecord['state'];
  readonly image?: string;
  readonly createdAt?: bigint;
  readonly startedAt?: bigint;
  readonly finishedAt?: bigint;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly logPath?: string;
  readonly mounts?: Message<'ContainerConfig'>['mounts'];
  readonly ignoresStop?: boolean;
}

/** A container and its sandbox. */
export interface ContainerWithSandbox extends ContainerRecord {
  readonly sandbox: SandboxRecord;
}

const CONTAINER = {
  name: 'main',
  attempt: 0,
  state: 'CONTAINER_RUNNING',
  image: BUSYBOX,
  createdAt: BUILT_AT_NANOS,
  exitCode: 0,
  message: '',
  labels: {},
  annotations: {},
  command: ['sleep', '3600'],
  args: [],
  logPath: '',
  mounts: [],
  ignoresStop: false,
} as const satisfies ContainerFields;

/** Returns a container with the kubelet's labels, by default running and named main. */
export function aContainer(seed: ContainerFields = {}): ContainerWithSandbox {
  const container = {...CONTAINER, sandbox: seed.sandbox ?? aSandbox(), ...seed};
  const {sandbox, state, name, attempt, image, createdAt, exitCode, message, logPath, ignoresStop} =
    container;
  return {
    id: container.id ?? hexId(`container ${sandbox.id}/${name}/${attempt}`),
    sandbox,
    sandboxId: sandbox.id,
    config: containerConfig(container),
    imageId: fakeDigest(normalizeImageName(image)),
    logPath,
    createdAt,
    behaviour: {ignoresStop},
    ended: new AbortController(),
    state,
    ...history(container),
    exitCode,
    message,
    resources: null,
  };
}

type WholeSeed = Required<Pick<ContainerFields, keyof typeof CONTAINER | 'sandbox'>>;

function containerConfig(seed: WholeSeed): ContainerRecord['config'] {
  const {name, attempt, image, sandbox} = seed;
  return {
    ...EMPTY_CONTAINER_CONFIG,
    metadata: {name, attempt},
    image: {image, annotations: {}, userSpecifiedImage: image, runtimeHandler: '', imageRef: ''},
    command: seed.command,
    args: seed.args,
    labels: {...sandbox.config.labels, 'io.kubernetes.container.name': name, ...seed.labels},
    annotations: seed.annotations,
    mounts: seed.mounts,
  };
}

/**
 * Returns the start and end times of a container in a state: it started after one second, and exited after another.
 */
function history(
  seed: ContainerFields & {readonly state: ContainerRecord['state']; readonly createdAt: bigint},
): Pick<ContainerRecord, 'startedAt' | 'finishedAt' | 'reason'> {
  const {state, createdAt, exitCode = 0} = seed;
  const exited = state === 'CONTAINER_EXITED';
  return {
    startedAt: seed.startedAt ?? (state === 'CONTAINER_CREATED' ? 0n : createdAt + 1_000_000_000n),
    finishedAt: seed.finishedAt ?? (exited ? createdAt + 2_000_000_000n : 0n),
    reason: seed.reason ?? (exited ? exitReason(exitCode) : ''),
  };
}

/** Default exit reason of containerd. */
export const exitReason = (exitCode: number): string => (exitCode === 0 ? 'Completed' : 'Error');

/** Fields of anImage that differ from the defaults. */
export interface ImageFields {
  /** The tag, in any form. By default `localhost:5000/busybox:1`. */
  readonly name?: string;
  readonly id?: string;
  readonly repoTags?: readonly string[];
  readonly repoDigests?: readonly string[];
  readonly size?: number;
  readonly user?: string;
  readonly pinned?: boolean;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  /** Build time in the image config, by default none. */
  readonly builtAt?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Diff IDs of its layers, by default unknown. */
  readonly layers?: readonly string[];
}

/** Returns an image with a tag and a digest, by default busybox. */
export function anImage(seed: ImageFields = {}): ImageRecord {
  const name = normalizeImageName(seed.name ?? BUSYBOX);
  const [repository = ''] = name.split(/@|:[^/]*$/);
  return {
    id: seed.id ?? fakeDigest(name),
    repoTags: seed.repoTags ?? [name],
    repoDigests: seed.repoDigests ?? [`${repository}@${fakeDigest(`manifest of ${name}`)}`],
    size: seed.size ?? 2_165_000,
    user: seed.user ?? '',
    pinned: seed.pinned ?? false,
    entrypoint: seed.entrypoint ?? [],
    cmd: seed.cmd ?? ['sh'],
    builtAt: seed.builtAt,
    labels: seed.labels,
    layers: seed.layers,
  };
}

/** Returns 64 hex digits like a runtime's IDs, derived from the text. */
export function hexId(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function uidOf(text: string): string {
  return hexId(text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function podLabels({
  name,
  namespace,
  uid,
}: {
  name: string;
  namespace: string;
  uid: string;
}): Record<string, string> {
  return {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  };
}

const EMPTY_SANDBOX_CONFIG: Omit<SandboxRecord['config'], 'metadata'> = {
  hostname: '',
  logDirectory: '',
  dnsConfig: null,
  portMappings: [],
  labels: {},
  annotations: {},
  linux: null,
  windows: null,
};

const EMPTY_CONTAINER_CONFIG: Omit<ContainerRecord['config'], 'metadata' | 'image'> = {
  command: [],
  args: [],
  workingDir: '',
  envs: [],
  mounts: [],
  devices: [],
  labels: {},
  annotations: {},
  logPath: '',
  stdin: false,
  stdinOnce: false,
  tty: false,
  linux: null,
  windows: null,
  CDIDevices: [],
  stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
};
