import {isDeepStrictEqual} from 'node:util';
import {
  endpointsOf,
  isHeadless,
  selectsPod,
  toVariableService,
  type ServicePod,
} from '../../../api/services/service-endpoints.js';
import {serviceHosts} from '../../../api/services/service-hosts.js';
import {computeServiceVariables} from '../../../api/services/service-variables.js';
import type {HostAlias, Pod} from '../../../api/types/v1-pod.js';
import type {Service} from '../../../api/types/v1-services.js';
import {hasEnded, isPodReady, type PodStatus} from '../../../api/types/v1-status.js';
import {abortable} from '../../../base/async/abortable.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import {podRef} from '../../contract/pod-ref.js';

/** Options of {@link LocalServices}. */
export interface LocalServicesOptions {
  readonly services: readonly Service[];
  readonly clusterDomain: string;
  readonly clock: Clock;
}

/** A pod as Services know it. */
interface KnownPod extends ServicePod {
  /** True until a sync has given the pod an address or could not. */
  readonly isAwaited: boolean;
}

/** Time without a change of any pod after which containers no longer wait for the addresses of Services, in ms. */
const MAX_IDLE_MS = 10_000;
/** Time after which containers no longer wait, in ms. */
const MAX_WAIT_MS = 60_000;

/**
 * Services of manifests on a node without a cluster, and the pods that they select. Nothing forwards connections: names
 * and variables of a Service lead to its pods directly. Containers of a pod wait for the sandboxes of the pods behind
 * the Services whose variables they get; sandboxes wait for nothing, so that pods can use each other's Services.
 */
export class LocalServices {
  readonly #options: LocalServicesOptions;
  #services: readonly Service[];
  readonly #pods = new Map<string, KnownPod>();
  readonly #listeners = new Set<() => void>();
  /** Containers that wait for any change. */
  readonly #waiting = new Set<() => void>();
  /** Entries for hosts files by namespace; cleared by each change. */
  readonly #hosts = new Map<string, readonly HostAlias[]>();
  #isPlan = false;

  constructor(options: LocalServicesOptions) {
    this.#options = options;
    this.#services = options.services;
  }

  /** Replaces the Services. */
  setServices(services: readonly Service[]): void {
    if (services.length + this.#services.length === 0) return;
    this.#services = services;
    this.#notify(true);
  }

  /** Adds a pod of a sync, unless it is known. Containers of other pods wait for its addresses if `isAwaited`. */
  add(pod: Pod, {isAwaited = false}: {readonly isAwaited?: boolean} = {}): void {
    const {uid} = podRef(pod);
    if (this.#pods.get(uid)?.isOlder === false) return;
    this.#pods.set(uid, {pod, ips: [], isReady: false, hasEnded: false, isOlder: false, isAwaited});
    this.#hosts.clear();
  }

  /** Adds a pod with a placeholder instead of its address; from now on, addresses are ignored. */
  addPlanned(pod: Pod): void {
    const {uid, namespace, name} = podRef(pod);
    this.#isPlan = true;
    const ips = [`<IP of ${namespace}/${name}>`];
    const state = {isReady: false, hasEnded: false, isOlder: false, isAwaited: false};
    this.#pods.set(uid, {pod, ips, ...state});
    this.#hosts.clear();
  }

  /** Adds a pod of an earlier sync, which is only an endpoint. */
  addOlder(pod: Pod, status: PodStatus): void {
    const state = {isOlder: true, isAwaited: false};
    this.#pods.set(podRef(pod).uid, {pod, ...stateOf(status), ...state});
    this.#notify(this.#isSelected(pod));
  }

  /** Updates a pod from its status; ignores one that is not known. */
  update(pod: Pod, status: PodStatus): void {
    const state = stateOf(status);
    const isAwaited = state.ips.length === 0 && !state.hasEnded;
    this.#change(podRef(pod).uid, (known) => ({
      ...known,
      pod,
      ...state,
      isAwaited: isAwaited && known.isAwaited,
    }));
  }

  /** Ends the wait for the address of a pod, whose sync has failed or ended. */
  settle(uid: string): void {
    this.#change(uid, (known) => ({...known, isAwaited: false}));
  }

  /** Removes a pod that is deleted. */
  remove(uid: string): void {
    const known = this.#pods.get(uid);
    if (this.#pods.delete(uid)) this.#notify(known !== undefined && this.#isSelected(known.pod));
  }

  /** Pods that Services may select, with their addresses. */
  get pods(): readonly ServicePod[] {
    return [...this.#pods.values()];
  }

  /**
   * Records the addresses of a pod whose sandbox is ready. Resolves when every Service whose variables the pod gets has
   * an address or will not have one soon. Rejects with the signal's reason.
   */
  async sandboxReady(pod: Pod, ips: readonly string[], signal: AbortSignal): Promise<void> {
    if (this.#isPlan) return;
    this.#change(podRef(pod).uid, (known) => ({...known, pod, ips, hasEnded: false, isAwaited: false}));
    const linked = this.#services.filter((service) => isLinked(service, pod));
    const isSettled = (): boolean => linked.every((service) => this.#isSettled(service));
    if (isSettled()) return;
    await this.#waitUntil(isSettled, signal);
    if (isSettled()) return;
    // A pod that has got no address yet does not delay every further container.
    for (const [uid, known] of this.#pods)
      if (known.isAwaited && linked.some((service) => selectsPod(service, known.pod))) this.settle(uid);
  }

  /** Returns the variables of the Services of the pod's namespace by name; none without service links. */
  variables(pod: Pod): ReadonlyMap<string, string> {
    const {pods} = this;
    const services = this.#services.map((service) => toVariableService(service, pods));
    return computeServiceVariables(services, {
      namespace: podRef(pod).namespace,
      serviceLinks: pod.spec.enableServiceLinks !== false,
    });
  }

  /** Returns the entries for the hosts file of the pod. */
  hosts(pod: Pod): readonly HostAlias[] {
    const {namespace} = podRef(pod);
    const {clusterDomain} = this.#options;
    const hosts =
      this.#hosts.get(namespace) ?? serviceHosts(this.#services, namespace, {pods: this.pods, clusterDomain});
    this.#hosts.set(namespace, hosts);
    return hosts;
  }

  /** Calls the listener whenever the names of Services may lead elsewhere; returns a function that ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #isSettled(service: Service): boolean {
    if (endpointsOf(service, this.pods).length > 0) return true;
    return ![...this.#pods.values()].some((known) => known.isAwaited && selectsPod(service, known.pod));
  }

  /** Waits until the condition is met or the time is up. */
  async #waitUntil(isMet: () => boolean, signal: AbortSignal): Promise<void> {
    using limit = createDeadline(this.#options.clock, MAX_WAIT_MS);
    let goesOn = true;
    while (goesOn && !isMet()) goesOn = await this.#nextChange(limit.signal, signal);
  }

  /** Waits for a change, and reports whether there was one before the time was up. */
  async #nextChange(limit: AbortSignal, signal: AbortSignal): Promise<boolean> {
    using idle = createDeadline(this.#options.clock, MAX_IDLE_MS);
    let stop = (): unknown => undefined;
    const changed = new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      stop = () => this.#waiting.delete(resolve);
    });
    try {
      using either = anySignal(signal, limit, idle.signal);
      await abortable(changed, either.signal);
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    } finally {
      stop();
    }
  }

  #change(uid: string, change: (known: KnownPod) => KnownPod): void {
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    const changed = change(known);
    this.#pods.set(uid, changed);
    if (!isDeepStrictEqual({...known, pod: undefined}, {...changed, pod: undefined}))
      this.#notify(this.#isRelevant(known, changed));
  }

  /** Reports whether names of Services may lead elsewhere, or the pod now has an address and so a hosts file. */
  #isRelevant(known: KnownPod, changed: KnownPod): boolean {
    const isAddressed = this.#services.length > 0 && known.ips.length === 0 && changed.ips.length > 0;
    return isAddressed || this.#isSelected(known.pod) || this.#isSelected(changed.pod);
  }

  #isSelected(pod: Pod): boolean {
    return this.#services.some((service) => selectsPod(service, pod));
  }

  /** Notifies the containers that wait and, if names of Services may have changed, the listeners. */
  #notify(isRelevant: boolean): void {
    if (isRelevant) this.#hosts.clear();
    for (const listener of [...this.#waiting, ...(isRelevant ? this.#listeners : [])]) listener();
  }
}

/** Returns the objects with the variables and names of Services on this node. */
export function withLocalServices(objects: ApiObjects, services: LocalServices): ApiObjects {
  return {
    ...objects,
    serviceVariables: (pod) => services.variables(pod),
    serviceHosts: (pod) => services.hosts(pod),
    sandboxReady: async (pod, ips, signal) => services.sandboxReady(pod, ips, signal),
  };
}

/** Reports whether the containers of a pod get variables of a Service. */
function isLinked(service: Service, pod: Pod): boolean {
  return (
    pod.spec.enableServiceLinks !== false &&
    !isHeadless(service) &&
    (service.metadata.namespace ?? 'default') === podRef(pod).namespace
  );
}

function stateOf({
  phase,
  podIP,
  podIPs,
  conditions = [],
}: PodStatus): Pick<ServicePod, 'ips' | 'isReady' | 'hasEnded'> {
  // A status keeps the addresses of a sandbox that has ended.
  const hasSandbox = conditions.find(({type}) => type === 'PodReadyToStartContainers')?.status !== 'False';
  const ips = podIPs?.map(({ip}) => ip) ?? (podIP === undefined ? [] : [podIP]);
  return {
    ips: hasSandbox ? ips : [],
    isReady: isPodReady({conditions}),
    hasEnded: hasEnded(phase),
  };
}
