import type {Pod} from '../../../api/types/v1-pod.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices, PreparationFailure} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import {NO_DEVICE_OBJECTS} from '../../contract/resources/device-objects.js';
import {findExtendedClass} from './core/extended-class.js';
import {mayNeedClaims} from './core/pod-claims.js';
import type {LocalDra} from './local/local-dra.js';
import type {OnDemandDra, OnDemandDraOptions} from './local/on-demand-dra.js';
import {preparationFailure} from './preparation-failure.js';
import type {RunningDraManager} from './start-dra-manager.js';

/** Period in which the claims of pods that are not active any more are released, in ms (defaultReconcilePeriod). */
const RECONCILE_PERIOD_MS = 60_000;

interface Running extends RunningDraManager {
  readonly services: NodeManagerServices;
  /** Aborts when the daemon ends. */
  readonly signal: AbortSignal;
  /** UIDs of the pods whose claims could not be prepared. */
  readonly unprepared: Set<string>;
}

/**
 * Creates the manager of dynamic resources (DRA), which does nothing but in a daemon. Without an API server it also allocates the
 * claims of the manifests; in a plan it only does that.
 */
export function createDraManager({
  devicePluginsDir,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  let running: Running | undefined;
  let local: LocalDra | undefined;
  const podOf = (pod: Pod): Pod => local?.podOf(pod) ?? pod;
  return {
    name: 'dra',
    answersPlans: true,
    start: async (services, signal) => {
      const {checkState, openLocalDra, startDraManager} = await import('./start-dra-manager.js');
      if (services.isPlan === true) {
        if (devicePluginsDir !== undefined) await checkState(services);
        local = await openLocalDra(services);
      } else if (devicePluginsDir !== undefined) {
        running = {...(await startDraManager(services, signal)), services, signal, unprepared: new Set()};
        ({local} = running);
      }
    },
    preparePod: async (pod, signal) => {
      const allocated = local === undefined ? {pod} : await allocate(local, pod, {running, signal});
      if (!('pod' in allocated)) return allocated;
      return running && (await prepare(running, allocated.pod, signal));
    },
    podStopped: async (pod) => {
      if (running !== undefined) await podStopped(running, pod);
      else if (mayNeedClaims(pod)) await local?.release(podRef(pod).uid);
    },
    reconcile: {
      periodMs: RECONCILE_PERIOD_MS,
      run: async (signal) => {
        if (running !== undefined) await reconcile(running, signal);
      },
    },
    containerOptions: async ({pod, container}) => {
      await running?.local?.requireKnown(pod);
      return {cdiDevices: running?.cdiDevices(podOf(pod), container) ?? []};
    },
    resourceStatus: (pod, container) => running?.statuses(podOf(pod), container) ?? [],
    podStatus: (pod) => local?.statusOf(pod),
    offersResource: (resource) => local?.offers(resource) === true,
    explain: (pod, container) => local?.explain(pod, container),
    podResources: {
      ofContainer: () => ({}),
      allocatable: () => ({}),
      claimsOf: (pod, container) => running?.claims(podOf(pod), container) ?? [],
    },
    plugins: {
      type: 'DRAPlugin',
      validate: (plugin) => running?.drivers.validate(plugin),
      register: async (plugin) => {
        running?.drivers.register(plugin);
        if (running !== undefined) tryAgain(running);
      },
      deregister: (plugin) => {
        running?.drivers.deregister(plugin);
      },
    },
  };
}

/** Creates the manager of dynamic resources of a command that ends, which lets no driver register. See OnDemandDra. */
export function createOnDemandDraManager(options: OnDemandDraOptions): NodeManager {
  let opened: OnDemandDra | undefined;
  const open = async (): Promise<OnDemandDra> => {
    const {OnDemandDra: Dra} = await import('./local/on-demand-dra.js');
    return (opened ??= new Dra(options));
  };
  return {
    name: 'dra',
    // Most pods have no claims, and need not wait for the code of drivers.
    preparePod: async (pod, signal) =>
      mayNeedClaims(pod) ? await (await open()).prepare(pod, signal) : undefined,
    podStopped: async (pod) => {
      if (mayNeedClaims(pod)) await (await open()).release(podRef(pod).uid);
    },
    containerOptions: async ({pod, container}) =>
      mayNeedClaims(pod) ? {cdiDevices: await (await open()).cdiDevices(pod, container)} : {},
    podStatus: (pod) => opened?.statusOf(pod),
    offersResource: (resource) => findExtendedClass(options.objects().classes, resource) !== undefined,
  };
}

/** Allocates the claims of the manifests for a pod. A pod that begins to wait is synced again, to report that. */
async function allocate(
  local: LocalDra,
  pod: Pod,
  {running, signal}: {readonly running: Running | undefined; readonly signal: AbortSignal},
): ReturnType<LocalDra['allocate']> {
  const {uid} = podRef(pod);
  const before = local.waitsFor(uid);
  try {
    const allocated = await local.allocate(pod, signal);
    if (local.waitsFor(uid) !== before) running?.services.syncPods([uid]);
    return allocated;
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    return preparationFailure(error);
  }
}

async function prepare(
  {manager, unprepared}: Running,
  pod: Pod,
  signal: AbortSignal,
): Promise<PreparationFailure | undefined> {
  const {uid} = podRef(pod);
  try {
    await manager.prepare(pod, signal);
    unprepared.delete(uid);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    unprepared.add(uid);
    return preparationFailure(error);
  }
}

/** Releases the claims of a pod. Files of claims are only read for a pod that may have some: one may be damaged. */
async function podStopped(running: Running, pod: Pod): Promise<void> {
  const {uid} = podRef(pod);
  running.unprepared.delete(uid);
  if (mayNeedClaims(pod)) await release(running, uid);
  else await running.manager.unprepare(uid);
}

/** Releases the claims of a pod, and lets the pods try again that wait for devices. Rejects with SystemError: then try again. */
async function release({manager, local, services}: Running, podUid: string): Promise<void> {
  await manager.unprepare(podUid);
  if (local === undefined) return;
  const claims = await local.claims.ofPod(podUid);
  if (claims.length === 0) {
    local.forget(podUid);
    return;
  }
  if (claims.some((claim) => claim.manager === 'sync')) {
    const {OnDemandDra: Dra} = await import('./local/on-demand-dra.js');
    await new Dra({...services, objects: () => NO_DEVICE_OBJECTS}).release(podUid, services.ended);
  }
  const waiting = await local.release(podUid);
  if (waiting.length > 0) services.syncPods(waiting);
}

/**
 * Releases the claims of pods that are gone (reconcileLoop), also those that a killed kubelet has only allocated. What fails is
 * repeated next time.
 */
async function reconcile(running: Running, signal: AbortSignal): Promise<void> {
  const {manager, local, services} = running;
  if (!services.allSourcesReady()) return;
  const users = (): readonly string[] => manager.claims.all().flatMap(({podUids}) => [...podUids]);
  const active = new Set<string>(services.activePods().map((pod) => podRef(pod).uid));
  // A pod that its manifests have lost uses its devices until its containers have stopped.
  const ending = users().filter((uid) => services.hasPod(uid));
  await manager.reconcile(new Set([...active, ...ending]), signal);
  const inUse = new Set(users());
  for (const uid of local?.podUids() ?? [])
    if (!active.has(uid) && !inUse.has(uid) && !services.hasPod(uid)) await tryRelease(running, uid);
}

/**
 * Lets pods try again for which a driver that has registered may have been missing, and releases the claims of pods that are gone. With
 * an API server it does nothing, as a kubelet, whose pods and claims wait for the next period.
 */
function tryAgain(running: Running): void {
  const {local, services, unprepared, signal} = running;
  if (local === undefined) return;
  if (unprepared.size > 0) services.syncPods([...unprepared]);
  runInBackground(
    'DRA manager',
    reconcile(running, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );
}

/** Releases the claims of a pod; a failure is logged, and must not stop the release of others. */
async function tryRelease(running: Running, podUID: string): Promise<void> {
  try {
    await release(running, podUID);
  } catch (error) {
    rethrowUnexpected(error);
    running.services.logger
      .forFile('dra-node-manager.ts')
      .info('Releasing the resource claims of a pod failed, will retry', {podUID, err: messageOf(error)});
  }
}
