import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {ResourceStatus} from '../../../api/types/v1-status.js';
import {pause} from '../../../base/async/pause.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import type {ContainerId} from '../../../cri/index.js';
import type {
  ContainerOptions,
  ContainerRequest,
  ContainerResources,
  Grant,
  HealthCheck,
  ManagedPodStatus,
  NodeManager,
  NodeManagers,
  NodeManagerServices,
  OwnNodeManagerServices,
  PreparationFailure,
} from '../../contract/node-manager.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import type {ExtendedResources} from '../../contract/resources/extended-resources.js';
import type {CsiVolumes} from '../../contract/volumes/csi-volumes.js';
import {AdmissionError} from '../../contract/resources/admission-error.js';
import type {CgroupLimits} from '../../contract/resources/cgroup-limits.js';
import {replaceResources} from '../../resources/partial-resources.js';
import {mergeContainerOptions, type GivenOptions} from './merge-container-options.js';

/** Asks the managers of a node in their order, and merges their answers. */
export class NodeManagerSet implements NodeManagers {
  readonly #managers: readonly NodeManager[];
  readonly #givesOptions: boolean;

  constructor(managers: readonly NodeManager[]) {
    this.#managers = managers;
    this.#givesOptions = managers.some(({containerOptions}) => containerOptions !== undefined);
  }

  /** Starts the managers, one after the other; in a plan, those that answer it. Rejects like the first that cannot start. */
  async start(services: OwnNodeManagerServices, signal: AbortSignal): Promise<void> {
    const topology = this.#managers.flatMap((manager) => manager.topology ?? []);
    const podResources = this.#managers.flatMap((manager) => manager.podResources ?? []);
    const plugins = this.#managers.flatMap((manager) => manager.plugins ?? []);
    const all = {...services, topology, podResources, plugins};
    for (const manager of this.#managers)
      if (services.isPlan !== true || manager.answersPlans === true) await manager.start?.(all, signal);
  }

  /** Reconciles until the signal aborts. Rejects with programming errors; others are logged. */
  async run(
    {clock, logger}: Pick<NodeManagerServices, 'clock' | 'logger'>,
    signal: AbortSignal,
  ): Promise<void> {
    const log = logger.forFile('node-manager-set.ts');
    await Promise.all(
      this.#managers.map(async ({name, reconcile}) => {
        while (reconcile !== undefined && !signal.aborted) {
          await reconcile.run(signal).catch((error: unknown) => {
            if (signal.aborted) return;
            rethrowUnexpected(error);
            log.error(error, 'Failed to reconcile the state of a node manager', {manager: name});
          });
          await pause(clock, reconcile.periodMs, signal).catch(() => undefined); // aborted
        }
      }),
    );
  }

  get nodeErrors(): readonly string[] {
    return this.#managers.flatMap(({nodeErrors = []}) => nodeErrors);
  }

  get healthChecks(): readonly HealthCheck[] {
    return this.#managers.flatMap(({health}) => health ?? []);
  }

  get csiVolumes(): CsiVolumes | undefined {
    return this.#managers.find(({csiVolumes}) => csiVolumes !== undefined)?.csiVolumes;
  }

  volumesInUse(): readonly string[] | undefined {
    return this.#managers.find(({volumesInUse}) => volumesInUse !== undefined)?.volumesInUse?.();
  }

  async admit(when: 'early' | 'last', pod: Pod, signal: AbortSignal): Promise<Rejection | undefined> {
    for (const manager of this.#managers) {
      if ((manager.admitsLast === true) !== (when === 'last')) continue;
      const rejection = await admitTo(manager, pod, signal);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  }

  async preparePod(pod: Pod, signal: AbortSignal): Promise<PreparationFailure | undefined> {
    for (const manager of this.#managers) {
      const failure = await manager.preparePod?.(pod, signal);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  podLimits(pod: Pod, limits: CgroupLimits): CgroupLimits {
    return this.#managers.reduce((changed, manager) => manager.podLimits?.(pod, changed) ?? changed, limits);
  }

  sandboxResources(pod: Pod, node: NodeFacts): ContainerResources {
    return this.#managers.reduce<ContainerResources>(
      (merged, manager) => replaceResources(merged, manager.sandboxResources?.(pod, node) ?? {}),
      {},
    );
  }

  resources(request: ContainerRequest): ContainerResources {
    return mergeContainerOptions(request.container.name, this.#resources(request)).resources ?? {};
  }

  async containerOptions(request: ContainerRequest, signal: AbortSignal): Promise<ContainerOptions> {
    const given = [...this.#resources(request)];
    if (this.#givesOptions)
      for (const {name: manager, containerOptions} of this.#managers) {
        const options = await containerOptions?.(request, signal);
        if (options !== undefined) given.push({manager, options});
      }
    return mergeContainerOptions(request.container.name, given);
  }

  #resources(request: ContainerRequest): readonly GivenOptions[] {
    return this.#managers.flatMap(({name: manager, resources}) =>
      resources === undefined ? [] : [{manager, options: {resources: resources(request)}}],
    );
  }

  async containerCreated(pod: Pod, container: Container, id: ContainerId): Promise<void> {
    for (const manager of this.#managers) await manager.containerCreated?.(pod, container, id);
  }

  containerRemoved(id: ContainerId): void {
    for (const manager of this.#managers) manager.containerRemoved?.(id);
  }

  async podStopped(pod: Pod): Promise<void> {
    for (const manager of this.#managers) await manager.podStopped?.(pod);
  }

  async released(): Promise<void> {
    await Promise.all(this.#managers.map(async (manager) => manager.released?.()));
  }

  takeExtendedResources(): ExtendedResources {
    const all = this.#managers.flatMap(({extended}) => extended?.takeResources() ?? []);
    return {
      capacity: new Map(all.flatMap(({capacity}) => [...capacity])),
      allocatable: new Map(all.flatMap(({allocatable}) => [...allocatable])),
      deleted: all.flatMap(({deleted}) => deleted),
      isNew: all.every(({isNew}) => isNew),
    };
  }

  usedExtendedResources(): ReadonlyMap<string, number> {
    return new Map(this.#managers.flatMap(({extended}) => [...(extended?.used() ?? [])]));
  }

  resourceStatusOf(pod: Pod, container: Container): readonly ResourceStatus[] {
    return this.#managers.flatMap((manager) => manager.resourceStatus?.(pod, container) ?? []);
  }

  offersResource(resource: string): boolean {
    return this.#managers.some((manager) => manager.offersResource?.(resource) === true);
  }

  podStatus(pod: Pod): ManagedPodStatus | undefined {
    for (const manager of this.#managers) {
      const status = manager.podStatus?.(pod);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  explain(pod: Pod, container: Container): readonly Grant[] {
    return this.#managers.flatMap(({name: manager, explain}) => {
      const text = explain?.(pod, container);
      return text === undefined ? [] : [{manager, text}];
    });
  }
}

/** Asks one manager; an error that is not a bug rejects the pod (admission.GetPodAdmitResult). */
async function admitTo(
  {name, admit}: NodeManager,
  pod: Pod,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  try {
    return await admit?.(pod, signal);
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    if (error instanceof AdmissionError)
      return {reason: error.reason, message: error.message, hint: error.hint ?? ''};
    return {
      reason: 'UnexpectedAdmissionError',
      message: `Allocate failed due to ${messageOf(error)}, which is unexpected`,
      hint: `look into the kubelet's log for the ${name} manager`,
    };
  }
}
