import {formOf, outputFlag, templateFlag} from '../cli/formats.js';
import {POD_CHOICE, SeenPodsCommand} from '../cli/seen-pods-command.js';
import {kubeletSection} from '../cli/views/describe/kubelet.js';
import {describedPod} from '../cli/views/describe/pod.js';
import {podsText} from '../cli/views/pod-json.js';
import type {PodRecord} from '../kubelet/index.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Describe extends SeenPodsCommand {
  static override summary = 'Show all about pods that kcri made, and what happened to them';
  static override description =
    'Shows what "kubectl describe pod" would: containers with their states, conditions, volumes and the last events. ' +
    'Without names, all pods that the flags let through. Of a pod that a kubelet keeps it also shows what that one ' +
    'alone knows: how its probes stand, back-offs, the last sync and the next. When the runtime of a pod is down, it is shown as it was ' +
    'last seen, and standard error says so.';
  static override usage = 'describe [POD...] [OPTIONS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> describe web',
    '<%= config.bin %> describe -l app=web',
    '<%= config.bin %> describe web -o yaml',
  ];
  static override flags = {...POD_CHOICE, output: outputFlag(FORMATS), template: templateFlag};

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Describe);
    const words = argv as string[];
    const form = await formOf(flags, FORMATS, this);
    const records = await this.chosenRecords(words, flags);
    if (words.length > 0 && records.length === 0) return;
    const seen = await this.see(records);
    if (form.kind !== 'table') {
      const pods = seen.map(({pod}) => pod);
      this.print(await podsText(form, pods, words.length === 1 && pods.length === 1));
      return;
    }
    if (seen.length === 0) this.note('No resources found');
    const {PodHistories} = await import('../kubelet/index.js');
    const {clock} = this.context;
    const histories = new PodHistories(this.rootDir, clock);
    const kept = await this.#kept(records);
    const texts = await Promise.all(
      seen.map(async ({pod, record: {uid}}) => {
        const text = describedPod(pod, await histories.events(uid), clock.now());
        return `${text}${kept.get(uid) ?? ''}`;
      }),
    );
    this.show(texts.join('\n\n'));
  }

  /** What the kubelet that keeps some of the pods says of each. */
  async #kept(records: readonly PodRecord[]): Promise<ReadonlyMap<string, string>> {
    const uids = records.filter(({manager}) => manager === 'kubelet').map(({uid}) => uid);
    const report = uids.length === 0 ? undefined : await this.kubeletReport(uids);
    return new Map(report?.pods.map((pod) => [pod.uid, kubeletSection(report, pod)]));
  }
}
