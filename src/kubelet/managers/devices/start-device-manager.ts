import {join} from 'node:path';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import {registrationService} from '../../../plugin-api/served-service.js';
import {serveSocket} from '../../../plugin-api/serve-socket.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import {readCheckpointFile, writeCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {DeviceManager} from './device-manager.js';
import {CHECKPOINT, preparePluginDirectory, REGISTRATION_SOCKET} from './plugin-directory.js';
import {PluginRegistry} from './plugin-registry.js';

/** The device manager of a daemon. */
export interface RunningDeviceManager {
  readonly manager: DeviceManager;
  readonly plugins: PluginRegistry;
  /** True if an earlier kubelet has left a checkpoint. */
  readonly isRestored: boolean;
  /** Returns why plugins cannot register; undefined if they can (server Check). */
  readonly failure: () => string | undefined;
}

/**
 * Restores the devices of pods, and lets plugins register until the signal aborts (ManagerImpl Start). Pods run without devices,
 * unlike in a kubelet, if the directory of the plugins cannot be used.
 */
export async function startDeviceManager(
  directory: string,
  services: NodeManagerServices,
  signal: AbortSignal,
): Promise<RunningDeviceManager> {
  const {clock, metrics} = services;
  const logger = services.logger.forFile('start-device-manager.ts');
  const checkpoint = join(directory, CHECKPOINT);
  const running = new Set<string>();
  const manager = createManager(checkpoint, services, running);
  const plugins = new PluginRegistry({
    ...{manager, directory, clock, logger},
    onRegister: (resource) => {
      metrics.devicePluginRegistered(resource);
    },
  });
  let isRestored = false;
  let lastError: unknown;
  try {
    await preparePluginDirectory(directory);
    isRestored = await restore(manager, checkpoint, services);
    if (isRestored) for (const name of await readRunning(services, signal)) running.add(name);
    const service = registrationService({
      register: async (request, call) => {
        await plugins.register(request, call);
        return {};
      },
    });
    const onError = (error: Error): void => {
      lastError = error;
      logger.error(error, 'Error while serving device plugin registration grpc server');
    };
    const server = await serveSocket(join(directory, REGISTRATION_SOCKET), [service], {onError});
    onAbort(signal, () => {
      plugins.close();
      server.close().catch(onError);
    });
  } catch (error) {
    rethrowUnexpected(error);
    lastError = error;
    logger.error(error, 'Failed to start the device plugin manager: pods run without devices');
  }
  const failure = (): string | undefined =>
    lastError === undefined
      ? undefined
      : `device registration error: device plugin registration gRPC server failed and no device plugins can register: ${messageOf(lastError)}`;
  return {manager, plugins, isRestored, failure};
}

function createManager(
  checkpoint: string,
  services: NodeManagerServices,
  running: ReadonlySet<string>,
): DeviceManager {
  const {node, clock, metrics, activePods, allSourcesReady, syncPods} = services;
  return new DeviceManager({
    ...{clock, activePods, allSourcesReady},
    logger: services.logger.forFile('start-device-manager.ts'),
    numaNodes: node.machine?.().numaNodes.map(({id}) => id) ?? [0],
    ranAtStart: (uid, container) => running.has(`${uid}/${container}`),
    writeCheckpoint: (text) => writeCheckpointFile(checkpoint, text),
    onHealthChanged: syncPods,
    onAllocated: (resource, ms) => {
      metrics.devicesAllocated(resource, ms);
    },
  });
}

/** Reads which containers run; none if the runtime fails, which is logged. */
async function readRunning(
  {readRunning: read, logger}: NodeManagerServices,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  try {
    return await read(signal);
  } catch (error) {
    rethrowUnexpected(error);
    const log = logger.forFile('start-device-manager.ts');
    log.error(error, 'Failed to read the running containers: their pods need their devices again');
    return new Set();
  }
}

/** Restores the state of an earlier kubelet; resolves with whether it left any. What cannot be read is logged, and forgotten. */
async function restore(
  manager: DeviceManager,
  checkpoint: string,
  {logger}: Pick<NodeManagerServices, 'logger'>,
): Promise<boolean> {
  const log = logger.forFile('start-device-manager.ts');
  try {
    const text = await readCheckpointFile(checkpoint);
    if (text === undefined) return false;
    manager.restore(text);
  } catch (error) {
    rethrowUnexpected(error);
    log.error(
      error,
      'Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date',
      {checkpoint},
    );
  }
  return true;
}
