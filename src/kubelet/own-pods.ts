import type {Pod} from '../api/v1.js';
import {SystemError} from '../base/errors.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import type {Pleg} from './container/pleg.js';
import {formatPod, namespacedName, podRef, type PodRef} from './container/pod-ref.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import type {LocalPods} from './local-pods.js';
import {OtherPods} from './pod/other-pods.js';
import {OtherRuntimeError} from './pod-error.js';
import type {PodRecord} from './pod/pod-store.js';
import type {PodSyncer} from './pod-syncer.js';

/** What a daemon's own pods are told from others by. */
export interface OwnPodsOptions {
  readonly local: LocalPods;
  readonly pleg: Pick<Pleg, 'runningPods'>;
  readonly logger: Logger;
  /** Where a pod that is wanted comes from, for its record. */
  readonly originOf: (uid: PodUid) => string;
}

const NANOS_PER_MS = 1_000_000n;

/** The pods that are the daemon's: those with a record of its own, and the one PodSyncer of each. */
export class OwnPods {
  readonly #options: OwnPodsOptions;
  readonly #records = new Map<PodUid, PodRecord>();
  readonly #syncers = new Map<PodUid, PodSyncer>();
  /** The pods of which it is certain that no other kcri works on them. */
  readonly #claimed = new Set<PodUid>();
  readonly #others: OtherPods;

  constructor(options: OwnPodsOptions) {
    this.#options = options;
    this.#others = new OtherPods(options.local.store, options.local.endpoint);
  }

  /**
   * Takes over what an earlier daemon has left, but for what was made on another runtime: nobody here knows whether
   * that runs. Rejects with SystemError.
   */
  async load(): Promise<void> {
    const {local, logger} = this.#options;
    const {records, gone, broken} = await local.store.list();
    for (const record of [...records, ...gone]) {
      if (record.manager !== 'kubelet') continue;
      if (record.endpoint === local.endpoint) this.#records.set(record.uid, record);
      else if (record.goneAt === undefined) {
        const error = new OtherRuntimeError(record, record.endpoint, local.endpoint);
        logger.error(error, 'A pod is left alone', {pod: namespacedName(record), podUID: record.uid});
      }
    }
    for (const {uid, error} of broken)
      logger.error(error, 'Could not read the record of a pod', {podUID: uid});
  }

  /** Also those of which the runtime alone keeps something. */
  records(): readonly PodRecord[] {
    return [...this.#records.values()];
  }

  /** Those that are there. */
  owned(): readonly PodRecord[] {
    return this.records().filter(({goneAt}) => goneAt === undefined);
  }

  /** The record of a pod of the daemon's, also when it is gone but for what the runtime keeps. */
  get(uid: PodUid): PodRecord | undefined {
    return this.#records.get(uid);
  }

  /** The record of a pod of the daemon's that is there. */
  present(uid: PodUid): PodRecord | undefined {
    const record = this.#records.get(uid);
    return record?.goneAt === undefined ? record : undefined;
  }

  syncers(): readonly PodSyncer[] {
    return [...this.#syncers.values()];
  }

  /** What has worked on the pod so far. */
  syncer(uid: PodUid): PodSyncer | undefined {
    return this.#syncers.get(uid);
  }

  syncerOf(record: PodRecord): PodSyncer {
    const syncer = this.#syncers.get(record.uid) ?? this.#options.local.syncer(record.pod, record.place);
    this.#syncers.set(record.uid, syncer);
    return syncer;
  }

  /**
   * The pod's record, once it is certain that no other kcri works on the pod: before this daemon ran one may have begun
   * to end it, or have made it its own. Rejects with BusyPodError and SystemError.
   */
  async claim(ref: PodRef): Promise<PodRecord | undefined> {
    const {uid} = ref;
    const known = this.#records.get(uid);
    if (known === undefined || this.#claimed.has(uid)) return known;
    const {store} = this.#options.local;
    const now = await this.#options.local.unlessBusy(ref, async () => await store.get(uid));
    if (now?.manager !== 'kubelet') this.forget(uid);
    // The others see from now on that it is kept; one that is gone any of them may take.
    else if (now.goneAt === undefined) this.#claimed.add(uid);
    return this.#records.get(uid);
  }

  /** The pod is gone but for what the runtime keeps of it. */
  leave(record: PodRecord): void {
    this.#claimed.delete(record.uid);
    this.#syncers.delete(record.uid);
    this.#records.set(record.uid, record);
  }

  /** The pod is no longer the daemon's. */
  forget(uid: PodUid): void {
    this.#records.delete(uid);
    this.#syncers.delete(uid);
    this.#claimed.delete(uid);
  }

  /**
   * Makes the pod the daemon's before anything of it exists, and takes in what is wanted of it now. Rejects with
   * SystemError when somebody else has it, and with OtherRuntimeError and BusyPodError.
   */
  async own(pod: Pod, status: RuntimePodStatus): Promise<PodSyncer> {
    const ref = podRef(pod);
    const {local} = this.#options;
    const known = await this.claim(ref);
    if (known !== undefined && known.goneAt === undefined) {
      if (known.pod === pod) return this.syncerOf(known);
      await local.keepActuated(known);
      return await this.#record(pod, known);
    }
    return await local.unlessBusy(ref, async () => {
      await this.#refuseOther(ref);
      if (known === undefined || isMadeByOthers(known, status)) this.#refuseForeign(ref, status);
      return await this.#record(pod, undefined);
    });
  }

  async #record(pod: Pod, known: PodRecord | undefined): Promise<PodSyncer> {
    const {uid} = podRef(pod);
    const {local, originOf} = this.#options;
    const record = {...local.recordOf(pod, originOf(uid), known), manager: 'kubelet' as const};
    await local.store.put(record);
    this.#records.set(uid, record);
    this.#claimed.add(uid);
    const syncer = this.syncerOf(record);
    syncer.pod = pod;
    return syncer;
  }

  /** Two kcris never work on one pod, and no two runtimes have one. */
  async #refuseOther(ref: PodRef): Promise<void> {
    const other = await this.#others.inTheWayOf(ref, (uid) => this.#records.has(uid));
    if (other === undefined) return;
    if (other.manager === 'kubelet')
      throw new OtherRuntimeError(other, other.endpoint, this.#options.local.endpoint);
    const name = namespacedName(other);
    throw new SystemError(
      `the pod "${name}" of "kcri sync" is there already: ${formatPod(ref)} is not started`,
      {hint: `"kcri delete ${name}" ends it`},
    );
  }

  #refuseForeign(ref: PodRef, {sandboxes}: RuntimePodStatus): void {
    if (sandboxes.length === 0 && this.#options.pleg.runningPods().every(({uid}) => uid !== ref.uid)) return;
    throw new SystemError(
      `a pod with the UID "${ref.uid}" is in the runtime already and was not made by this kubelet: ${formatPod(ref)} is not started`,
      {hint: 'give the manifest another metadata.uid, or end that pod with the tool that made it'},
    );
  }
}

/**
 * Whether what runs of a pod that is gone is somebody else's: before anything is made of such a pod here, its record
 * says that it is there again.
 */
export function isMadeByOthers({goneAt}: PodRecord, {sandboxes}: RuntimePodStatus): boolean {
  if (goneAt === undefined) return false;
  const goneAtNanos = BigInt(Date.parse(goneAt)) * NANOS_PER_MS;
  return sandboxes.some(({state, createdAt}) => state === 'SANDBOX_READY' && createdAt > goneAtNanos);
}
