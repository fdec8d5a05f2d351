import {messageOf, SystemError} from '../../base/errors.js';
import type {Container, ContainerConfig, ContainerId, RuntimeService} from '../../cri/index.js';
import {
  lacksConfig,
  lacksProcess,
  readContainerConfig,
  readSandboxConfig,
} from '../generate/runtime-configs.js';
import {withContext} from '../with-context.js';
import {stopContainer} from './stop-container.js';

/** Annotation in which the kubelet counts restarts. */
const RESTART_COUNT = 'io.kubernetes.container.restartCount';

/** Stopped instances of a container that a restart leaves. */
export type KeptInstances = 'none' | 'last' | 'all';

/** Options of recreateContainer. */
export interface RecreateContainerOptions {
  /** Name of the container, for messages. */
  readonly shown: string;
  /** All containers of the pod's sandbox. */
  readonly siblings: readonly Container[];
  /** Seconds between SIGTERM and SIGKILL. */
  readonly gracePeriodSeconds: number;
  /** Stopped instances to keep: `last` removes those before the one that is replaced. */
  readonly keeps: KeptInstances;
  readonly onWarning: (text: string) => void;
  readonly signal: AbortSignal;
}

/** New instance of a container. */
export interface RecreatedContainer {
  readonly id: ContainerId;
  readonly attempt: number;
}

/**
 * Replaces a container by a new instance with the same config and the next attempt, since the CRI cannot start a
 * container twice. The new one is created before the old one is stopped, so that nothing changes if that fails. All other
 * running instances are stopped too, and those that a killed restart has only created are removed. Rejects with KcriError,
 * whose message says what is left.
 */
export async function recreateContainer(
  runtime: RuntimeService,
  old: Container,
  options: RecreateContainerOptions,
): Promise<RecreatedContainer> {
  const {shown, siblings, gracePeriodSeconds, keeps, onWarning, signal} = options;
  const {podSandboxId} = old;
  const attempts = siblings.filter(({metadata}) => metadata?.name === old.metadata?.name);
  const attempt = Math.max(...attempts.map(({metadata}) => metadata?.attempt ?? 0)) + 1;
  const [config, sandbox] = await Promise.all([
    readConfig(runtime, old.id, options),
    runtime.podSandboxStatus({podSandboxId, verbose: true}, {signal}),
  ]);
  if (sandbox.status?.state !== 'SANDBOX_READY')
    throw new SystemError(`cannot restart container "${shown}": the sandbox of its pod is stopped`, {
      hint: 'remove the pod with "kcri rmp", and run it again',
    });
  const request = {
    podSandboxId,
    config: nextInstance(config, old.metadata?.attempt ?? 0, attempt),
    sandboxConfig: readSandboxConfig(sandbox),
  };
  const {containerId: id} = await withContext(
    `cannot create the next instance of container "${shown}", which is unchanged`,
    runtime.createContainer(request, {signal}),
  );
  try {
    for (const each of attempts)
      if (each.state === 'CONTAINER_RUNNING')
        await stopContainer(runtime, each.id, {shown, gracePeriodSeconds, signal});
    await withContext(
      `container "${shown}" is stopped (${old.id.slice(0, 13)}), and its next instance cannot be started`,
      runtime.startContainer({containerId: id}, {signal}),
    );
  } catch (error) {
    await discard(runtime, id, onWarning);
    throw error;
  }
  for (const each of attempts)
    if (isSuperfluous(each, old, keeps)) await discard(runtime, each.id, onWarning);
  return {id, attempt};
}

/** Reports whether an instance has no purpose after a restart: the old one, and what a killed restart left. */
function isSuperfluous({id, state}: Container, old: Container, keeps: KeptInstances): boolean {
  if (id === old.id) return keeps === 'none';
  if (state === 'CONTAINER_CREATED') return true;
  return keeps === 'last' || (keeps === 'none' && state === 'CONTAINER_RUNNING');
}

/** Returns the config of a container. Rejects with SystemError if the runtime returns too little of it. */
async function readConfig(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, onWarning, signal}: RecreateContainerOptions,
): Promise<ContainerConfig> {
  const response = await runtime.containerStatus({containerId, verbose: true}, {signal});
  if (lacksProcess(response))
    throw new SystemError(`cannot restart container "${shown}": the runtime does not return its config`, {
      hint: 'stop it, and use "kcri create" and "kcri start" with its config file',
    });
  const config = readContainerConfig(response, () => undefined);
  if (!lacksConfig(response)) return config;
  onWarning(`the config of container "${shown}" is derived from its process; devices are not known`);
  return {...config, logPath: relativeLogPath(response.status?.logPath ?? '')};
}

/** Returns the log path below the log directory of the pod: NAME/ATTEMPT.log as of a kubelet, or the file name. */
function relativeLogPath(path: string): string {
  return /[^/]+\/\d+\.log$/.exec(path)?.[0] ?? path.replace(/^.*\//, '');
}

/** Returns the config of the next instance: the attempt, the restart count of a kubelet, and its name of the log file. */
function nextInstance(config: ContainerConfig, previous: number, attempt: number): ContainerConfig {
  const {metadata, annotations, logPath} = config;
  return {
    ...config,
    metadata: {name: metadata?.name ?? '', attempt},
    annotations:
      annotations[RESTART_COUNT] === undefined
        ? annotations
        : {...annotations, [RESTART_COUNT]: String(attempt)},
    logPath: logPath.replace(new RegExp(String.raw`(^|/)${previous}\.log$`), `$1${attempt}.log`),
  };
}

/** Removes a container. Takes no signal, since it must run after Ctrl-C too. Never rejects. */
async function discard(
  runtime: RuntimeService,
  containerId: ContainerId,
  onWarning: (text: string) => void,
): Promise<void> {
  try {
    await runtime.removeContainer({containerId});
  } catch (error) {
    onWarning(`cannot remove container "${containerId.slice(0, 13)}": ${messageOf(error)}`);
  }
}
