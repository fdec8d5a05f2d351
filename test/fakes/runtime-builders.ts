import {createHash} from 'node:crypto';
import {fakeDigest, normalizeImageName} from './runtime/image-reference.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime/runtime-records.js';
import type {Message} from './runtime/cri-messages.js';

/** The image that the fake has unless told otherwise. */
export const BUSYBOX = 'localhost:5000/busybox:1';
/** 1 May 2026, 12:00 UTC: when what the builders make was created, unless told otherwise. */
export const BUILT_AT_NANOS = 1_777_636_800_000_000_000n;

/** What aSandbox can be told. */
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

/** A sandbox with the labels that the kubelet gives, ready, of the pod default/web unless told otherwise. */
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

/** What aContainer can be told. */
export interface ContainerFields {
  readonly id?: string;
  /** The sandbox that it is in; the default one of aSandbox() unless given. */
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

/** A container and the sandbox that it was made for. */
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

/** A container with the labels that the kubelet gives, running, named main unless told otherwise. */
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

/** What a container in this state has behind it: it started after a second, and ran for another. */
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

/** containerd's reason of an exit that has no other. */
export const exitReason = (exitCode: number): string => (exitCode === 0 ? 'Completed' : 'Error');

/** What anImage can be told. */
export interface ImageFields {
  /** The tag, in any form; `localhost:5000/busybox:1` unless given. */
  readonly name?: string;
  readonly id?: string;
  readonly repoTags?: readonly string[];
  readonly repoDigests?: readonly string[];
  readonly size?: number;
  readonly user?: string;
  readonly pinned?: boolean;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  /** When it was built, as its config says; it does not unless given. */
  readonly builtAt?: string;
}

/** An image with a tag and a digest: busybox unless told otherwise. */
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
  };
}

/** 64 hex digits, as a runtime's ids are; the same for the same text. */
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
