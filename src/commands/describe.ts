import type {Pod} from '../api/types/v1-pod.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {POD_SELECTION_FLAGS} from '../cli/flags/pod-selection-flags.js';
import {kubeletSection} from '../cli/output/describe/describe-kubelet.js';
import {describePod} from '../cli/output/describe/describe-pod.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {formatPods} from '../cli/output/views/pod-text.js';
import {fetchKubeletReport} from '../cli/pods/kubelet-reports.js';
import {PodReader} from '../cli/pods/pod-reader.js';
import type {PodRecord} from '../kubelet/index.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Describe extends BaseCommand {
  static override summary = 'Show details and events of pods';
  static override description =
    'Shows what "kubectl describe pod" shows: containers and their states, conditions, volumes, and ' +
    'recent events. Without names, describes all pods that match the flags. Of pods that kcri did not ' +
    'create, what the runtime reports is shown.\n\nFor a pod that a running ' +
    'kubelet manages, it also shows probe results, back-offs, and the last and next sync. If the ' +
    'runtime of a pod is unavailable, the last known state is shown with a warning.';
  static override usage = 'describe [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> describe web',
    '<%= config.bin %> describe -l app=web',
    '<%= config.bin %> describe web -o yaml',
  ];
  static override flags = {...POD_SELECTION_FLAGS, ...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Describe);
    const words = argv as string[];
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const reader = new PodReader(this.services);
    const listed = await reader.select(words, flags);
    if (words.length > 0 && listed.length === 0) return;
    const observed = await reader.observe(listed);
    if (form.kind !== 'table') {
      const pods = observed.map(({pod}) => pod);
      this.out.printData(await formatPods(form, pods, words.length === 1 && pods.length === 1));
      return;
    }
    if (observed.length === 0) this.report.info('No resources found');
    const {clock} = this.context;
    const sections = await this.#kubeletSections(listed.flatMap(({record}) => record ?? []));
    const texts = await Promise.all(
      observed.map(async ({pod, listed: each}) => {
        const {uid, record} = each;
        const events = (await reader.recordedEvents([each])).map(({event}) => event);
        const text = describePod(
          pod,
          {events, logs: await this.#lastLogLines(pod, record?.endpoint)},
          clock.now(),
        );
        return `${text}${sections.get(uid) ?? ''}`;
      }),
    );
    this.out.printText(texts.join('\n\n'));
  }

  /** Returns the last log lines of the pod's failed containers; none if its runtime is unavailable. */
  async #lastLogLines(
    pod: Pod,
    endpoint: string | undefined,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const {connections} = this.services;
    const {readLastLogLines} = await import('../cli/pods/last-log-lines.js');
    const connect = async () =>
      await (endpoint === undefined ? connections.default() : connections.open(endpoint));
    return await readLastLogLines(connect, pod, this.signal);
  }

  /** Returns the running kubelet's reports about each of its pods. */
  async #kubeletSections(records: readonly PodRecord[]): Promise<ReadonlyMap<string, string>> {
    const uids = records.filter(({manager}) => manager === 'kubelet').map(({uid}) => uid);
    const report = uids.length === 0 ? undefined : await fetchKubeletReport(this.services, uids);
    return new Map(report?.pods.map((pod) => [pod.uid, kubeletSection(report, pod)]));
  }
}
