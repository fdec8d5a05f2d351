import {encodePod} from '../../../api/json/encode-pod.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {abortable} from '../../../base/async/abortable.js';
import {WakeableSleep} from '../../../base/async/wakeable-sleep.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {isAlreadyExists, isConflict, isNotFound, type ApiClient} from '../../../kube-api/index.js';
import type {ClusterHost} from '../../contract/cluster/cluster-link.js';
import {namespacedName, podRef} from '../../contract/pod-ref.js';
import {CONFIG_MIRROR_ANNOTATION, configHashOf, isMirrorPodOf} from '../../sources/static-pod.js';
import {deleteAtOnce, podPath} from './pod-requests.js';

/** Options of {@link MirrorPods}. */
export interface MirrorPodsOptions {
  readonly client: ApiClient;
  /** Returns the Node object, which owns the mirror pods; undefined until it is known. */
  readonly node: () => Node | undefined;
  /** Resolves when the last statuses of the pods were sent, or could not be. */
  readonly statusesTried: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Actions that give the API server the mirror pods of the static pods. */
export type MirrorPodAction =
  | {readonly kind: 'create'; readonly pod: Pod}
  /** The mirror pod is being deleted or represents another version of the static pod. */
  | {readonly kind: 'replace'; readonly pod: Pod; readonly mirror: Pod}
  /** No static pod has the name of the mirror pod. */
  | {readonly kind: 'delete'; readonly mirror: Pod};

/** Returns the actions that the mirror pods need (tryReconcileMirrorPods, HandlePodCleanups). */
export function computeMirrorPodActions(
  host: Pick<ClusterHost, 'staticPods' | 'orphanedMirrorPods'>,
): readonly MirrorPodAction[] {
  const wanted = host.staticPods().flatMap(({pod, mirror}): readonly MirrorPodAction[] => {
    if (mirror === undefined) return [{kind: 'create', pod}];
    const isDeleted = mirror.metadata.deletionTimestamp !== undefined;
    return isDeleted || !isMirrorPodOf(mirror, pod) ? [{kind: 'replace', pod, mirror}] : [];
  });
  return [...wanted, ...host.orphanedMirrorPods().map((mirror) => ({kind: 'delete' as const, mirror}))];
}

/** Period of the checks besides those for changed pods, in ms (housekeepingPeriod). */
const CHECK_MS = 2000;
/** Time in ms in which a change of a manifest that precedes one in the API server becomes known. */
const MANIFEST_DELAY_MS = 50;
/** Time after which an action is repeated if the watch shows no effect of it, in ms. */
const REPEAT_MS = 60_000;

/**
 * Creates, replaces and deletes the mirror pods that represent the static pods in the API server (mirror_client.go). A
 * static pod does not wait for its mirror pod.
 */
export class MirrorPods {
  readonly #options: MirrorPodsOptions;
  readonly #logger: FileLogger;
  readonly #sleep: WakeableSleep;
  #done: readonly DoneAction[] = [];
  /** Last refusal by the API server, by name of the pod. */
  readonly #refusals = new Map<string, string>();

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('mirror-pods.ts');
    this.#sleep = new WakeableSleep(options.clock);
  }

  /** Checks the mirror pods at once, since a pod or the node has changed. */
  changed(): void {
    this.#sleep.wake();
  }

  /** Maintains the mirror pods until the signal aborts. */
  async run(host: ClusterHost, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const node = this.#options.node();
      if (node !== undefined && node.metadata.deletionTimestamp === undefined)
        await this.#reconcile(host, node, signal);
      await this.#sleep.sleep(CHECK_MS, signal);
    }
  }

  async #reconcile(host: ClusterHost, node: Node, signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    const actions = computeMirrorPodActions(host);
    const names = new Set(actions.map(nameOf));
    for (const name of this.#refusals.keys()) if (!names.has(name)) this.#refusals.delete(name);
    this.#done = this.#done.filter(({name, at}) => names.has(name) && clock.monotonic() - at < REPEAT_MS);
    for (const action of actions) {
      if (this.#done.some(({seen}) => seen === describeAction(action)) || signal.aborted) continue;
      this.#remember(action);
      // The watch shows the deletion first.
      if (action.kind === 'replace') this.#remember({kind: 'create', pod: action.pod});
      await this.#act(action, {host, node}, signal);
    }
  }

  #remember(action: MirrorPodAction): void {
    const at = this.#options.clock.monotonic();
    this.#done = [...this.#done, {name: nameOf(action), seen: describeAction(action), at}];
  }

  async #act(
    action: MirrorPodAction,
    {host, node}: {readonly host: ClusterHost; readonly node: Node},
    signal: AbortSignal,
  ): Promise<void> {
    if (action.kind === 'delete') {
      // The status of the ended containers is part of what a watch of the mirror pod shows.
      await abortable(this.#options.statusesTried(), signal);
      await this.#delete(action, signal);
      return;
    }
    const isWanted = (): boolean =>
      host.staticPods().some(({pod}) => pod.metadata.uid === action.pod.metadata.uid);
    if (action.kind === 'replace') {
      // Whoever deletes a mirror pod may have deleted its manifest just before.
      await this.#options.clock.sleep(MANIFEST_DELAY_MS, signal);
      if (!isWanted() || !(await this.#delete(action, signal))) return;
    }
    // A static pod may have ended while its mirror pod was deleted.
    if (isWanted()) await this.#create(action.pod, node, signal);
  }

  /** Logs a refusal only once, since a pod that refers to a Secret is refused every time. */
  async #create(pod: Pod, node: Node, signal: AbortSignal): Promise<void> {
    const name = namespacedName(podRef(pod));
    const refusal = this.#refusals.get(name);
    if (refusal === undefined) this.#logger.info('Creating a mirror pod for static pod', {pod: name});
    const path = `/api/v1/namespaces/${podRef(pod).namespace}/pods`;
    try {
      await this.#options.client.request({method: 'POST', path, body: createMirrorPod(pod, node)}, signal);
      this.#refusals.delete(name);
    } catch (error) {
      // The watch shows whether it is the mirror pod of this version.
      if (signal.aborted || isAlreadyExists(error)) return;
      if (refusal !== messageOf(error))
        this.#logger.error(error, 'Failed creating a mirror pod', {pod: name});
      this.#refusals.set(name, messageOf(error));
    }
  }

  /**
   * Resolves with true if the mirror pod was deleted. A replaced one is deleted by UID, an orphan by name. An orphan that
   * could not be deleted is tried again with the next check, like with the next housekeeping of a kubelet.
   */
  async #delete(
    action: Exclude<MirrorPodAction, {readonly kind: 'create'}>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const {kind, mirror} = action;
    const {name, namespace, uid} = podRef(mirror);
    const fields = {pod: namespacedName({name, namespace}), podUID: uid};
    this.#logger.info('Deleting a mirror pod', fields, 2);
    try {
      const path = podPath(namespace, name);
      await deleteAtOnce(this.#options.client, path, kind === 'replace' ? uid : undefined, signal);
      return true;
    } catch (error) {
      if (signal.aborted || isNotFound(error) || isConflict(error)) return false;
      this.#logger.error(error, 'Failed deleting a mirror pod', fields);
      if (kind === 'delete') this.#done = this.#done.filter(({seen}) => seen !== describeAction(action));
      return false;
    }
  }
}

/** An action whose effect the watch may not show yet. */
interface DoneAction {
  readonly name: string;
  /** See describeAction. */
  readonly seen: string;
  /** Time of the action, in ms of the monotonic clock. */
  readonly at: number;
}

function nameOf(action: MirrorPodAction): string {
  return namespacedName(podRef(action.kind === 'delete' ? action.mirror : action.pod));
}

/** Returns a text that differs if something else is seen of the pods, so that the action is a new one. */
function describeAction(action: MirrorPodAction): string {
  const pod = action.kind === 'delete' ? undefined : action.pod.metadata.uid;
  const mirror = action.kind === 'create' ? undefined : action.mirror.metadata.uid;
  return JSON.stringify([action.kind, pod, mirror]);
}

/** Returns the mirror pod of a static pod, which the Node owns (CreateMirrorPod). */
export function createMirrorPod(pod: Pod, {metadata}: Node): object {
  const {name = '', uid = ''} = metadata;
  const annotations = {...pod.metadata.annotations, [CONFIG_MIRROR_ANNOTATION]: configHashOf(pod)};
  const owner = {apiVersion: 'v1', kind: 'Node', name, uid, controller: true};
  return {
    ...encodePod(pod),
    metadata: {...pod.metadata, annotations, ownerReferences: [owner]},
  };
}
