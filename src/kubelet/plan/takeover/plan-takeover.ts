import {hasEnded} from '../../../api/types/v1-status.js';
import {KcriError} from '../../../base/errors.js';
import {podUid, type Container, type PodSandbox, type PodUid} from '../../../cri/index.js';
import type {NodeObjectFacts} from '../../contract/cluster/cluster-link.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {namespacedName, podFullName, podRef, type PodRef} from '../../contract/pod-ref.js';
import {emptyPodStatus} from '../../contract/runtime-pod-status.js';
import type {DesiredPod, PodSourceName} from '../../contract/pod-update.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';
import {findRejection} from '../../pods/admission/admit-pod.js';
import {unknownResources} from '../../pods/admission/unknown-resources.js';
import {computeNeededPreemption} from '../../pods/preemption/needed-preemption.js';
import {PodRejectedError} from '../../pods/pod-errors.js';
import {createForeignError, createOwnedError, isForeign} from '../../pods/registry/pod-ownership.js';
import {PodStore, type PodRecord} from '../../pods/registry/pod-store.js';
import {UnmanagedPods} from '../../pods/registry/unmanaged-pods.js';
import {configSourceOf, isMirrorPod, isStaticPod} from '../../sources/static-pod.js';
import {planPod} from '../plan-pods.js';
import type {PlanOptions} from '../planned-registry.js';
import type {NodeMeasurement} from '../../daemon/create-node-pressure.js';
import {planEvictions, type PlannedEvictions} from './plan-eviction.js';
import type {NodePods} from './read-node-pods.js';
import type {ReadSources} from './read-pod-sources.js';
import {createTakeover, judgePlan, type PodTakeover, type RunningIds} from './takeover-verdict.js';

/** Options of planTakeover. */
export interface TakeoverOptions extends Omit<PlanOptions, 'offline'> {
  readonly sources: Pick<ReadSources, 'pods' | 'missing'>;
  readonly nodePods: Pick<NodePods, 'own' | 'others'>;
  /** Facts of the Node object, which precede those of the machine; undefined without one. */
  readonly nodeObject: NodeObjectFacts | undefined;
  /** True if pods that do not fit the node are rejected. */
  readonly admission: boolean;
  /** Thresholds of eviction, and the measurement of the node. */
  readonly eviction: NodeMeasurement;
}

/** Effects of a takeover. */
export interface PlannedTakeover extends PlannedEvictions {
  readonly pods: readonly PodTakeover[];
}

/**
 * Returns what a daemon would do if it started now in the place of the kubelet that owns the root directory: first with the
 * pods of its sources, then with the other pods of the node. Changes nothing. Rejects with SystemError and CriError.
 */
export async function planTakeover(options: TakeoverOptions, signal: AbortSignal): Promise<PlannedTakeover> {
  const {services, eviction} = options;
  const [{items: sandboxes}, {containers}] = await Promise.all([
    services.runtime.listPodSandbox({}, {signal}),
    services.runtime.listContainers({}, {signal}),
  ]);
  const planner = new TakeoverPlanner(options, sandboxes, containers);
  const wanted: PodTakeover[] = [];
  for (const desired of options.sources.pods.filter(({pod}) => !isMirrorPod(pod)))
    wanted.push(await planner.planWanted(desired, signal));
  return {
    pods: [...wanted.map((takeover) => planner.withPreemption(takeover)), ...planner.planOthers()],
    ...(await planEvictions(eviction, planner.active, signal)),
  };
}

class TakeoverPlanner {
  readonly #options: TakeoverOptions;
  readonly #sandboxes: readonly PodSandbox[];
  readonly #running: RunningIds;
  /** UIDs of pods with a sandbox that is ready. */
  readonly #runningPods: ReadonlySet<string>;
  readonly #own: ReadonlyMap<PodUid, PodRecord>;
  /** Records of pods on the node that no source has. */
  readonly #orphans: readonly PodRecord[];
  /** The first of them by full name. */
  readonly #older: ReadonlyMap<string, PodRecord>;
  readonly #unmanaged: UnmanagedPods;
  readonly #wanted: ReadonlySet<PodUid>;
  /** Extended resources that device plugins have registered with the kubelet before. */
  readonly #offered: ReadonlySet<string>;
  /** Pods that take resources of the node. */
  #active: readonly Pod[] = [];
  /** Critical pods, by the UIDs of the pods that are preempted for them. */
  readonly #preemptors = new Map<PodUid, PodRef>();
  /** UIDs of pods that another version of the same pod replaces. */
  readonly #replaced = new Set<PodUid>();

  constructor(
    options: TakeoverOptions,
    sandboxes: readonly PodSandbox[],
    containers: readonly Pick<Container, 'id' | 'state'>[],
  ) {
    const {sources, nodePods, node, endpoint} = options;
    const ready = sandboxes.filter(({state}) => state === 'SANDBOX_READY');
    const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    this.#options = options;
    this.#sandboxes = sandboxes;
    this.#running = {
      containers: new Set(running.map(({id}) => id)),
      sandboxes: new Set(ready.map(({id}) => id)),
    };
    this.#runningPods = new Set(ready.map(({labels}) => labels[POD_UID_LABEL] ?? ''));
    this.#offered = new Set(options.nodeManagers?.takeExtendedResources().capacity.keys());
    this.#wanted = new Set(sources.pods.map(({uid}) => uid));
    this.#own = new Map(nodePods.own.map((record) => [record.uid, record]));
    const isOrphan = ({uid, removedAt}: PodRecord): boolean =>
      removedAt === undefined && !this.#wanted.has(uid);
    this.#orphans = [...this.#own.values()].filter(isOrphan);
    this.#older = new Map(this.#orphans.toReversed().map((record) => [podFullName(record), record]));
    this.#unmanaged = new UnmanagedPods(new PodStore(node.rootDir), endpoint);
  }

  /** Plans a pod of a source. */
  async planWanted(desired: DesiredPod, signal: AbortSignal): Promise<PodTakeover> {
    const ref = podRef(desired.pod);
    const source = configSourceOf(desired.pod);
    try {
      return await this.#planWanted(desired, source, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      const reasons = [error.message, ...(error.hint === undefined ? [] : [error.hint])];
      return createTakeover(ref, 'impossible', {source, reasons});
    }
  }

  async #planWanted(
    {pod, uid}: DesiredPod,
    source: PodSourceName | undefined,
    signal: AbortSignal,
  ): Promise<PodTakeover> {
    const record = this.#own.get(uid);
    const known = record?.removedAt === undefined ? record : undefined;
    const ref = podRef(pod);
    const ending = this.#describeEnd(pod);
    if (ending !== undefined)
      return createTakeover(ref, this.#runningPods.has(uid) ? 'stopped' : 'kept', {
        source,
        reasons: [ending],
      });
    this.#admit(pod);
    if (known === undefined) await this.#requireAdoption(pod, record);
    const older = known === undefined ? this.#older.get(podFullName(ref)) : undefined;
    const findConflicts = async () => await Promise.resolve({known, older});
    const takenOverAt = this.#options.clock.now();
    const plan = await planPod({...this.#options, takenOverAt}, {pod, findConflicts}, signal);
    const isRunning = this.#runningPods.has(older?.uid ?? uid);
    const judged = judgePlan(plan, this.#running, {source, isRunning});
    const takeover = {...judged, reasons: [...judged.reasons, ...this.#explainUnknownResources(pod)]};
    if (older === undefined) return takeover;
    this.#replaced.add(older.uid);
    return {...takeover, fields: [{path: 'metadata.uid', before: older.uid, after: uid}, ...plan.fields]};
  }

  /** Says which resources of a static pod nobody on the node offers; see reportUnknownResources. */
  #explainUnknownResources(pod: Pod): readonly string[] {
    const {nodeManagers} = this.#options;
    if (nodeManagers === undefined || !isStaticPod(pod)) return [];
    const names = unknownResources(pod).filter(
      (name) => !nodeManagers.offersResource(name) && !this.#offered.has(name),
    );
    if (names.length === 0) return [];
    return [
      `no device plugin has registered ${names.join(', ')}: containers that start run without, as under any kubelet`,
    ];
  }

  /** Plans the pods that no source has: those of the daemon, and those of others. */
  planOthers(): readonly PodTakeover[] {
    const {missing} = this.#options.sources;
    const orphans = this.#orphans.filter(({uid}) => !this.#replaced.has(uid));
    const orphaned = orphans.map((record) =>
      missing.length === 0
        ? createTakeover(record, 'stopped', {reasons: ['no source has it']})
        : createTakeover(record, 'unknown', {
            reasons: [`only a source that cannot be read (${missing.join(', ')}) may have it`],
          }),
    );
    return [...orphaned, ...this.#planForeign()];
  }

  /** Plans the pods of other kcri processes, and those in the runtime that belong to no kubelet of the root directory. */
  #planForeign(): readonly PodTakeover[] {
    const seen = new Set<string>([...this.#own.keys(), ...this.#wanted]);
    const ofOthers = this.#options.nodePods.others.filter(({uid}) => !seen.has(uid));
    for (const {uid} of ofOthers) seen.add(uid);
    const refs = new Map(
      this.#sandboxes.flatMap(({metadata, labels}): readonly (readonly [PodUid, PodRef])[] => {
        const uid = podUid(labels[POD_UID_LABEL] ?? metadata?.uid ?? '');
        if (metadata === undefined || seen.has(uid)) return [];
        return [[uid, {namespace: metadata.namespace, name: metadata.name, uid}]];
      }),
    );
    return [
      ...ofOthers.map((record) => createTakeover(record, 'leftAlone', {reasons: [ownerOf(record)]})),
      ...[...refs.values()].map((ref) =>
        createTakeover(ref, 'leftAlone', {reasons: ['it is not a pod of this root directory']}),
      ),
    ];
  }

  /** Returns why a pod of a source is not to run any more; undefined if it is. */
  #describeEnd({metadata: {deletionTimestamp}, status}: Pod): string | undefined {
    if (deletionTimestamp !== undefined) return 'the pod is being deleted';
    return hasEnded(status?.phase) ? `the pod has ended with the phase ${status.phase}` : undefined;
  }

  /** Admits a pod to the node, as the daemon does when its source delivers it. Throws PodRejectedError. */
  #admit(pod: Pod): void {
    const {node, nodeObject, admission} = this.#options;
    const others = this.#active;
    const request = {pod, others, preemptable: others, node: {...node, ...nodeObject}};
    const rejection = admission ? findRejection(request) : undefined;
    if (rejection !== undefined) throw new PodRejectedError(podRef(pod), rejection);
    const {victims = []} = (admission ? computeNeededPreemption(request) : undefined) ?? {};
    for (const victim of victims) this.#preemptors.set(podRef(victim).uid, podRef(pod));
    this.#active = [...others.filter((other) => !victims.includes(other)), pod];
  }

  /** Returns the takeover of a pod that may be preempted for another one. */
  withPreemption(takeover: PodTakeover): PodTakeover {
    const preemptor = this.#preemptors.get(takeover.uid);
    if (preemptor === undefined) return takeover;
    const reasons = [`the critical pod ${namespacedName(preemptor)} needs what it requests`];
    return createTakeover(takeover, 'preempted', {source: takeover.source, reasons});
  }

  /** Pods that run on the node after the takeover. */
  get active(): readonly Pod[] {
    return this.#active;
  }

  /** Rejects like ManagedPods.adopt if the pod belongs to others. */
  async #requireAdoption(pod: Pod, removed: PodRecord | undefined): Promise<void> {
    const ref = podRef(pod);
    const owned = await this.#unmanaged.conflictingPod(ref, (uid) => this.#own.has(uid));
    if (owned !== undefined) throw createOwnedError(ref, owned, this.#options.endpoint);
    const found = this.#sandboxes.filter(({labels}) => labels[POD_UID_LABEL] === ref.uid);
    const status = {...emptyPodStatus(ref.uid), sandboxes: found};
    if (isForeign(removed, {status, isListed: found.length > 0})) throw createForeignError(ref);
  }
}

/** Returns whose pod another kcri process has recorded. */
function ownerOf({manager, endpoint}: PodRecord): string {
  return manager === 'kubelet' ? `it was created on the runtime ${endpoint}` : 'it is a pod of "kcri sync"';
}
