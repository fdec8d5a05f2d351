import type {CsiCluster} from '../../../../contract/volumes/csi-cluster.js';
import type {ControllerAttachments} from '../../../../contract/volumes/csi-volumes.js';

/** Volumes of other plugins that controllers attach, with their users. See ControllerAttachments. */
export class PluginAttachments implements ControllerAttachments {
  readonly #cluster: Pick<CsiCluster, 'untilAttached'>;
  readonly #onChange: () => void;
  /** Pods, by UID, that use each volume. */
  readonly #users = new Map<string, Set<string>>();
  readonly #waiting = new Set<string>();

  /** `onChange` is called when a volume is used by its first pod, or by none any more. */
  constructor(cluster: Pick<CsiCluster, 'untilAttached'>, onChange: () => void) {
    this.#cluster = cluster;
    this.#onChange = onChange;
  }

  /** Unique names of the volumes that pods use. */
  get names(): readonly string[] {
    return [...this.#users.keys()];
  }

  use(uniqueName: string, podUid: string): void {
    const users = this.#users.get(uniqueName);
    if (users !== undefined) {
      users.add(podUid);
      return;
    }
    this.#users.set(uniqueName, new Set([podUid]));
    this.#onChange();
  }

  async untilAttached(
    uniqueName: string,
    {uid, volume}: {readonly uid: string; readonly volume: string},
    signal: AbortSignal,
  ): Promise<string> {
    const key = `${uid}/${volume}`;
    this.use(uniqueName, uid);
    this.#waiting.add(key);
    try {
      return await this.#cluster.untilAttached(uniqueName, signal);
    } finally {
      this.#waiting.delete(key);
    }
  }

  /** Reports whether a volume of a pod waits until it is attached. */
  isWaiting(podUid: string, volume: string): boolean {
    return this.#waiting.has(`${podUid}/${volume}`);
  }

  release(podUid: string): void {
    for (const [name, users] of this.#users) {
      if (!users.delete(podUid) || users.size > 0) continue;
      this.#users.delete(name);
      this.#onChange();
    }
  }
}
