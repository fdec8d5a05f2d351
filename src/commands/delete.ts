import {SystemError, UsageError} from '../base/errors.js';
import {chosenRecords} from '../cli/chosen-records.js';
import {integerFlag} from '../cli/flags.js';
import {PodCommand} from '../cli/pod-command.js';
import {isOfOthers, leftError} from '../cli/sync-outcome.js';
import {podTitle} from '../cli/sync-view/text.js';
import {canonicalEndpoint} from '../cri/endpoint.js';
import type {LocalPods, PodRecord} from '../kubelet/index.js';

export default class Delete extends PodCommand {
  static override summary = 'End pods that kcri made, and remove all that is left of them';
  static override description =
    'Takes pods by name, namespace/name or UID, or the manifests that they were made from. Containers get their ' +
    'grace period; then containers, sandbox, logs, volumes and directories go. Without --runtime-endpoint each pod ' +
    'is ended on the runtime that it was made on. Pods that kcri did not make are never touched.';
  static override usage = 'delete [OPTIONS] POD|FILE|DIR...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> delete web',
    '<%= config.bin %> delete default/web --grace-period 0',
    '<%= config.bin %> delete examples/web.yaml',
  ];
  static override flags = {
    'grace-period': integerFlag({
      helpValue: 'SECONDS',
      description: "How long containers may take to end. [default: the pod's own]",
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Delete);
    if (argv.length === 0) throw new UsageError('no pod is given');
    const grace = flags['grace-period'];
    if (grace !== undefined && grace < 0) throw new UsageError('--grace-period must not be negative');
    const records = await this.#records(argv);
    const {stdin} = this.context;
    const chosen = await chosenRecords(records, argv as string[], {stdin, signal: this.signal});
    for (const [endpoint, group] of await this.#byEndpoint(chosen)) {
      const pods = await this.#openOrFail(endpoint);
      if (pods === undefined) continue;
      for (const record of group) {
        this.signal.throwIfAborted();
        await this.#end(pods, record, grace);
      }
    }
  }

  /** kcri's pods; one whose record is broken can still be ended by its UID. */
  async #records(words: readonly unknown[]): Promise<readonly PodRecord[]> {
    const {openLocalPods, PodStore, SILENT_OBSERVER} = await import('../kubelet/index.js');
    const {records, broken} = await new PodStore(this.rootDir).list();
    const salvaged: PodRecord[] = [];
    for (const {uid, error} of broken) {
      if (!words.includes(uid)) this.warn(error);
      // Where it was made is not known: it is what the settings say, or what is found.
      else salvaged.push(await openLocalPods(await this.describeNode(), SILENT_OBSERVER).salvage(uid));
    }
    return [...records, ...salvaged];
  }

  /** The runtime that was named is asked for all pods; else each pod's own. */
  async #byEndpoint(records: readonly PodRecord[]): Promise<ReadonlyMap<string, readonly PodRecord[]>> {
    const {runtimeEndpoint} = await this.settings();
    const groups = new Map<string, PodRecord[]>();
    for (const record of records) {
      const endpoint = runtimeEndpoint ?? record.endpoint;
      groups.set(endpoint, [...(groups.get(endpoint) ?? []), record]);
    }
    return groups;
  }

  /** A runtime that can't be asked doesn't keep the pods of others. */
  async #openOrFail(endpoint: string): Promise<LocalPods | undefined> {
    try {
      return await this.#open(endpoint);
    } catch (error) {
      this.signal.throwIfAborted();
      this.fail(error);
      return undefined;
    }
  }

  /** When kcri's own runtime was taken down, all that is left of its pods is on this machine's disk. */
  async #open(endpoint: string): Promise<LocalPods> {
    const [{describeAbandonedNode, openLocalPods, SILENT_OBSERVER}, {isTakenDown}] = await Promise.all([
      import('../kubelet/index.js'),
      import('../private-runtime/taken-down.js'),
    ]);
    const canonical = await canonicalEndpoint(endpoint);
    const node = (await isTakenDown(canonical, this.rootDir))
      ? await describeAbandonedNode(canonical, this.rootDir, this.context.clock, this.context.cgroupMount)
      : await this.describeNode({}, await this.connectTo(endpoint));
    return openLocalPods(node, SILENT_OBSERVER);
  }

  /** One pod that can't be ended doesn't keep the others. */
  async #end(pods: LocalPods, record: PodRecord, gracePeriodSeconds: number | undefined): Promise<void> {
    const {signal} = this;
    try {
      await pods.exclusively(record, signal, async () => {
        const current = await this.#stillThere(pods, record);
        if (current !== undefined) await pods.end(current, {gracePeriodSeconds, signal});
        else this.warn(`pod "${podTitle(record)}" was deleted by another kcri meanwhile`);
      });
      this.print(`pod "${podTitle(record)}" deleted`);
    } catch (error) {
      this.fail(signal.aborted ? signal.reason : error);
      if (!isOfOthers(error)) this.fail(leftError(record, 'is left half deleted'));
    }
  }

  /**
   * The pod as it is recorded by the time that nobody else works on it; undefined when another kcri has ended it.
   * A pod that was made in its place meanwhile is not what was asked for: then it rejects with SupersededError.
   */
  async #stillThere(pods: LocalPods, record: PodRecord): Promise<PodRecord | undefined> {
    try {
      const known = await pods.store.get(record.uid);
      if (known !== undefined && known.goneAt === undefined) return known;
    } catch (error) {
      if (error instanceof SystemError) return record;
      throw error;
    }
    const {SupersededError} = await import('../kubelet/index.js');
    if ((await pods.findByName(record)) !== undefined) throw new SupersededError(record, 'replaced');
    return undefined;
  }
}
