import {BaseCommand} from '../../cli/base-command.js';
import {leftError} from '../../cli/sync-outcome.js';
import {down} from '../../private-runtime/down.js';

export default class RuntimeDown extends BaseCommand {
  static override summary = 'End the private containerd with all its pods and remove all it made';
  static override description = `Every pod on it is ended at once. No process, mount, network, cgroup or file is left, nor an image that was
pulled or loaded. Other runtimes are not touched. When none is there it does nothing.`;

  async run(): Promise<void> {
    await this.parse(RuntimeDown);
    const {rootDir} = this;
    const progress = (step: string): void => {
      this.note(`kcri: ${step}`);
    };
    const removePods = (endpoint: string): Promise<void> => this.#removePods(endpoint);
    const forgetImages = async (endpoint: string): Promise<void> => {
      const {FilePullRecords} = await import('../../kubelet/index.js');
      await new FilePullRecords(rootDir, endpoint).forgetRuntime();
    };
    await down({rootDir, progress, clock: this.context.clock, removePods, forgetImages}, this.signal);
  }

  /** Volumes, logs and records of kcri's pods there. One that can't be removed keeps neither the others nor the runtime. */
  async #removePods(endpoint: string): Promise<void> {
    const {describeAbandonedNode, openLocalPods, PodStore, SILENT_OBSERVER} =
      await import('../../kubelet/index.js');
    const {records, gone, broken} = await new PodStore(this.rootDir).list();
    for (const {error} of broken) this.warn(error);
    const own = [...records, ...gone].filter((record) => record.endpoint === endpoint);
    if (own.length === 0) return;
    const node = await describeAbandonedNode(
      endpoint,
      this.rootDir,
      this.context.clock,
      this.context.cgroupMount,
    );
    const pods = openLocalPods(node, SILENT_OBSERVER);
    for (const record of own) {
      try {
        await pods.exclusively(record, this.signal, () => pods.end(record));
      } catch (error) {
        this.fail(error);
        this.fail(leftError(record, 'is left half deleted'));
      }
    }
  }
}
