import type {CsiCluster} from '../../../../contract/volumes/csi-cluster.js';
import type {ControllerAttachments, PossibleNames} from '../../../../contract/volumes/csi-volumes.js';
import type {CsiMetrics} from '../csi-metrics.js';

/**
 * Volumes of other plugins that controllers attach, with their users. One that is mounted for all pods remains in use without a user
 * (GetVolumesInUse). See ControllerAttachments.
 */
export class PluginAttachments implements ControllerAttachments {
  readonly #cluster: Pick<CsiCluster, 'untilAttached'>;
  readonly #onChange: () => void;
  /** Pods, by UID, that use each volume; none of one that is still mounted. */
  readonly #users = new Map<string, Set<string>>();
  readonly #waiting = new Set<string>();
  readonly #metrics: Pick<CsiMetrics, 'attaching' | 'released'>;

  /** `onChange` is called when another volume is in use than before, or one no longer. */
  constructor(
    cluster: Pick<CsiCluster, 'untilAttached'>,
    onChange: () => void,
    metrics: Pick<CsiMetrics, 'attaching' | 'released'>,
  ) {
    this.#cluster = cluster;
    this.#onChange = onChange;
    this.#metrics = metrics;
  }

  /** Unique names of the volumes that are in use. */
  get names(): readonly string[] {
    return [...this.#users.keys()];
  }

  use(uniqueName: string, podUid: string): void {
    const isNew = !this.#users.has(uniqueName);
    this.#users.set(uniqueName, new Set([...(this.#users.get(uniqueName) ?? []), podUid]));
    if (isNew) this.#onChange();
  }

  /** Reports a volume as in use that an earlier process has left mounted, by all names that it can have if none is known. */
  keep(names: PossibleNames): void {
    if (names.some((name) => this.#users.has(name))) return;
    for (const name of names) this.#users.set(name, new Set());
    this.#onChange();
  }

  async untilAttached(
    uniqueName: string,
    {uid, volume, plugin}: {readonly uid: string; readonly volume: string; readonly plugin: string},
    signal: AbortSignal,
  ): Promise<string> {
    const key = `${uid}/${volume}`;
    this.use(uniqueName, uid);
    this.#waiting.add(key);
    const untilAttached = async (): Promise<string> => await this.#cluster.untilAttached(uniqueName, signal);
    try {
      return await this.#metrics.attaching(uniqueName, plugin, untilAttached);
    } finally {
      this.#waiting.delete(key);
    }
  }

  /** Reports whether a volume of a pod waits until it is attached. */
  isWaiting(podUid: string, volume: string): boolean {
    return this.#waiting.has(`${podUid}/${volume}`);
  }

  async release(podUid: string, listMounted: () => Promise<readonly PossibleNames[]>): Promise<void> {
    for (const users of this.#users.values()) users.delete(podUid);
    await this.removeUnmounted(listMounted);
  }

  /** Removes the volumes without a user that are not mounted. Rejects like `listMounted`. */
  async removeUnmounted(listMounted: () => Promise<readonly PossibleNames[]>): Promise<void> {
    const unused = [...this.#users].filter(([, users]) => users.size === 0);
    if (unused.length === 0) return;
    const mounted = new Set((await listMounted()).flat());
    for (const [name, users] of unused) {
      // A pod that has used it since then has another set.
      if (mounted.has(name) || this.#users.get(name) !== users) continue;
      this.#users.delete(name);
      this.#metrics.released(name);
      this.#onChange();
    }
  }
}
