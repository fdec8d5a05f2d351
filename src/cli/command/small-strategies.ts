import type {ContainerChoice} from '../targets/choose-pod-container.js';
import type {
  ContainerId,
  ContainerStatusResponse,
  ImageFsInfoResponse,
  ImageStatusResponse,
  PodSandboxId,
  PodSandboxStatusResponse,
  RuntimeService,
} from '../../cri/index.js';
import type {RemovedContainer} from '../../operations/logs/remove-log-files.js';
import type {Shell} from '../completion/completion-scripts.js';
import type {ContainerFilterValues, SandboxFilterValues} from '../flags/filter-flags.js';
import type {InspectFlags} from '../flags/inspect-flags.js';
import type {InspectStrategy} from '../inspect/inspect-targets.js';
import type {ConfigActions} from '../settings/edit-config-file.js';
import type {CommandServices} from './command-services.js';

declare module '../command-strategies.js' {
  interface CommandStrategies {
    readonly attach: AttachStrategy;
    readonly checkpoint: CheckpointStrategy;
    readonly completion: (shell: Shell, name: string | undefined) => Promise<string>;
    readonly config: (services: CommandServices, path: string) => Promise<ConfigActions>;
    readonly imagefsinfo: (info: ImageFsInfoResponse, nowMs: number) => string;
    readonly inspect: InspectStrategy<
      ContainerId,
      ContainerStatusResponse,
      ContainerFilterValues & ContainerChoice & InspectFlags
    >;
    readonly inspecti: InspectStrategy<string, ImageStatusResponse, InspectImageFlags>;
    readonly inspectp: InspectStrategy<
      PodSandboxId,
      PodSandboxStatusResponse,
      SandboxFilterValues & InspectFlags
    >;
    readonly jsonschema: SchemaStrategy;
    readonly rm: RemoveLogsStrategy;
    readonly stop: StopStrategy;
  }
}

/** Differences of `attach`. */
export interface AttachStrategy {
  /** Returns the context of errors. */
  context(ref: string): string;
  /** Returns the exit code after the session, which itself always reports success. */
  exitCode(services: CommandServices, runtime: RuntimeService, id: ContainerId): Promise<number>;
}

/** Returns the path of each container's archive. Throws UsageError if several would have the same. */
export type CheckpointStrategy = (path: string, count: number) => (containerId: string) => string;

/** Values of the flags of `inspecti`. */
export interface InspectImageFlags extends InspectFlags {
  readonly name?: string | undefined;
  readonly filter?: readonly string[] | undefined;
}

/** Differences of the `jsonschema` commands. */
export interface SchemaStrategy {
  /** True if the schema is limited to the fields that crictl knows. */
  readonly crictl: boolean;
  /** True if a flag must select one of several schemas. */
  readonly requiresSelection: boolean;
}

/** Removes the log files of a removed container. */
export type RemoveLogsStrategy = (services: CommandServices, container: RemovedContainer) => Promise<void>;

/** Differences of `stop`. */
export interface StopStrategy {
  /** Context of errors from the list of containers. */
  readonly listContext: string;
}
