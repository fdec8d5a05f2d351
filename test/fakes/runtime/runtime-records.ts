import type {ContainerBehaviour} from './container-behaviour.js';
import type {DeepPartial, Message} from './cri-messages.js';

/** A pod sandbox in the fake. Times are in nanoseconds since the epoch. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: Message<'PodSandboxConfig'>;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  state: Message<'PodSandbox'>['state'];
  /** Addresses. Empty if stopped or in the host's network. */
  ips: readonly string[];
}

/** A container in the fake. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: Message<'ContainerConfig'>;
  readonly imageId: string;
  readonly logPath: string;
  readonly createdAt: bigint;
  readonly behaviour: ContainerBehaviour;
  /** Aborts when the container's process exits. */
  readonly ended: AbortController;
  state: Message<'Container'>['state'];
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  reason: string;
  message: string;
  resources: DeepPartial<Message<'LinuxContainerResources'>> | null;
}

/** An image in the fake or in its registry. */
export interface ImageRecord {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  /** USER of the image: a number, a name, or empty. */
  readonly user: string;
  readonly pinned: boolean;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  /** Build time in the image config. */
  readonly builtAt?: string | undefined;
  /** The image config in the verbose status, in place of one with only these fields. */
  readonly spec?: object | undefined;
  /** Labels in the image config. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Diff IDs of its layers. */
  readonly layers?: readonly string[] | undefined;
}
