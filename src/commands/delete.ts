import {UsageError} from '../base/errors.js';
import {chosenRecords} from '../cli/chosen-records.js';
import {integerFlag} from '../cli/flags.js';
import {PodCommand} from '../cli/pod-command.js';
import {leftError} from '../cli/sync-outcome.js';
import {podTitle} from '../cli/sync-view/text.js';
import type {LocalPods, PodRecord} from '../kubelet/index.js';

export default class Delete extends PodCommand {
  static override summary = 'End pods that kcri made, and remove all that is left of them';
  static override description =
    'Takes pods by name, namespace/name or UID, or the manifests that they were made from. Containers get their ' +
    'grace period; then containers, sandbox, logs, volumes and directories go. Pods that kcri did not make are ' +
    'never touched.';
  static override usage = 'delete [OPTIONS] POD|FILE|DIR...';
  static override strict = false;
  static override examples = [
    'kcri delete web',
    'kcri delete default/web --grace-period 0',
    'kcri delete examples/web.yaml',
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
    const {openLocalPods, SILENT_OBSERVER} = await import('../kubelet/index.js');
    const pods = openLocalPods(await this.describeNode(), SILENT_OBSERVER);
    const records = await this.#records(pods, argv);
    const {stdin} = this.context;
    for (const record of await chosenRecords(records, argv as string[], {stdin, signal: this.signal})) {
      this.signal.throwIfAborted();
      await this.#end(pods, record, grace);
    }
  }

  /** kcri's pods; one whose record is broken can still be ended by its UID. */
  async #records(pods: LocalPods, words: readonly unknown[]): Promise<readonly PodRecord[]> {
    const {records, broken} = await pods.store.list();
    const salvaged: PodRecord[] = [];
    for (const {uid, error} of broken) {
      if (words.includes(uid)) salvaged.push(await pods.salvage(uid));
      else this.warn(error);
    }
    return [...records, ...salvaged];
  }

  /** One pod that can't be ended doesn't keep the others. */
  async #end(pods: LocalPods, record: PodRecord, gracePeriodSeconds: number | undefined): Promise<void> {
    const {signal} = this;
    try {
      await pods.exclusively(record, signal, async () => {
        await pods.end(record, {gracePeriodSeconds, signal});
      });
      this.print(`pod "${podTitle(record)}" deleted`);
    } catch (error) {
      this.fail(signal.aborted ? signal.reason : error);
      this.fail(leftError(record, 'is left half deleted'));
    }
  }
}
