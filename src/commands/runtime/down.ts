import {BaseCommand} from '../../cli/command/base-command.js';
import {createPodLeftError} from '../../features/sync/pod-outcome.js';
import {takeDownRuntime} from '../../private-runtime/lifecycle/take-down-runtime.js';

export default class RuntimeDown extends BaseCommand {
  static override summary = 'Stop the private containerd and remove everything it created';
  static override description =
    'Kills all its pods and removes their processes, mounts, networks, cgroups and files, and all ' +
    'pulled or loaded images. Does nothing if no private containerd exists. Other runtimes are not ' +
    'affected.';
  static override examples = ['<%= config.bin %> runtime down'];
  static override usage = 'runtime down';

  async run(): Promise<void> {
    await this.parse(RuntimeDown);
    const {rootDir} = this.settings;
    const progress = (step: string): void => {
      this.report.info(`kcri: ${step}`);
    };
    const removePods = (endpoint: string): Promise<void> => this.#removePods(endpoint);
    const forgetImages = async (endpoint: string): Promise<void> => {
      const {FilePullRecordsAccessor} = await import('../../kubelet/index.js');
      await new FilePullRecordsAccessor(rootDir, endpoint).forgetRuntime();
    };
    await takeDownRuntime(
      {
        rootDir,
        onProgress: progress,
        clock: this.context.clock,
        removePods,
        removeImageRecords: forgetImages,
      },
      this.signal,
    );
  }

  /** Removes volumes, logs and records of its pods; reports errors and continues. */
  async #removePods(endpoint: string): Promise<void> {
    const {readAbandonedNode, openPodRegistry, PodStore, SILENT_OBSERVER} =
      await import('../../kubelet/index.js');
    const {records, removed, broken} = await new PodStore(this.settings.rootDir).list();
    for (const {error} of broken) this.report.warn(error);
    const own = [...records, ...removed].filter((record) => record.endpoint === endpoint);
    if (own.length === 0) return;
    const node = await readAbandonedNode(
      endpoint,
      this.settings.rootDir,
      this.context.clock,
      this.context.cgroupMount,
    );
    const pods = openPodRegistry(node, SILENT_OBSERVER);
    for (const record of own) {
      try {
        await pods.locks.withPodLock(record, this.signal, () => pods.remover.deletePod(record));
      } catch (error) {
        this.report.fail(error);
        this.report.fail(createPodLeftError(record, 'is partially deleted'));
      }
    }
  }
}
