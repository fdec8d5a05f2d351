import type {ContainerBehaviour} from './container-behaviour.js';
import type {DeepPartial, Message} from './cri-messages.js';

/** A pod sandbox as the fake keeps it. Times are nanoseconds since the epoch. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: Message<'PodSandboxConfig'>;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  state: Message<'PodSandbox'>['state'];
  /** Empty when stopped, and with the host's network. */
  ips: readonly string[];
}

/** A container as the fake keeps it. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: Message<'ContainerConfig'>;
  readonly imageId: string;
  readonly logPath: string;
  readonly createdAt: bigint;
  readonly behaviour: ContainerBehaviour;
  /** Aborts when the container's process has ended. */
  readonly ended: AbortController;
  state: Message<'Container'>['state'];
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  reason: string;
  message: string;
  resources: DeepPartial<Message<'LinuxContainerResources'>> | null;
}

/** An image as the fake keeps it; also what a registry holds. */
export interface ImageRecord {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  /** The image's USER: a number, a name, or empty. */
  readonly user: string;
  readonly pinned: boolean;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  /** When it was built, as its config says. */
  readonly builtAt?: string | undefined;
}
