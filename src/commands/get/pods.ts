import * as Flags from '@oclif/core/flags';
import type {Pod} from '../../api/types/v1-pod.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {getFlags} from '../../cli/flags/get-flags.js';
import {
  parseOutputFormat,
  type ObjectFormat,
  type OutputFormat,
} from '../../cli/output/parse-output-format.js';
import {PodChangeDetector} from '../../cli/output/views/pod-change-detector.js';
import {computePodRow, type PodRow} from '../../cli/output/views/pod-row.js';
import {GrowingTable, podColumns} from '../../cli/output/views/pod-table.js';
import {formatPodDocument, formatPods, sortPods} from '../../cli/output/views/pod-text.js';
import {PodReader} from '../../cli/pods/pod-reader.js';
import {selectPodsToShow, watchPods, type PodsToShow} from '../../cli/pods/watch-pods.js';
import type {ObservedPod} from '../../kubelet/index.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type PodForm = OutputFormat<(typeof FORMATS)[number]>;

interface GetFlags {
  readonly namespace?: string | undefined;
  readonly 'sort-by'?: string | undefined;
}

export default class GetPods extends BaseCommand {
  static override summary = 'List pods created by kcri, with their status';
  static override description =
    'Lists what "kubectl get pods" lists: ready containers, status, restarts and age, as reported by ' +
    'the runtime of each pod. If a runtime is unavailable, the last known state is shown with a ' +
    'warning. Pods of other root directories are not listed.';
  static override usage = 'get pods [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get pods',
    '<%= config.bin %> get pods web -o wide --watch',
    "<%= config.bin %> get pods -l app=web -o jsonpath='{.items[*].status.podIP}'",
  ];
  static override flags = {
    ...getFlags(FORMATS, 'Watch for changes of the listed pods.'),
    'sort-by': Flags.string({
      helpValue: 'JSONPATH',
      description: 'Sort by a field, such as .metadata.creationTimestamp. [default: namespace and name]',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetPods);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const reader = new PodReader(this.services);
    const selected = await selectPodsToShow(reader, argv as string[], flags);
    if (selected === undefined) return;
    const {words, records, showsNamespace} = selected;
    const columns = podColumns({wide: form.kind === 'wide', namespace: showsNamespace});
    const layout = {form, table: new GrowingTable(columns, {header: !flags['no-headers']})};
    if (flags.watch) await this.#watch(reader, selected, layout);
    else await this.#once(await reader.observe(records), {...layout, single: words.length === 1}, flags);
  }

  async #once(
    observed: readonly ObservedPod[],
    {single, ...layout}: Layout & {readonly single: boolean},
    flags: GetFlags,
  ): Promise<void> {
    const unsorted = observed.map(({pod}) => pod);
    const pods = await sortPods(unsorted, flags['sort-by']);
    const {form} = layout;
    if (isForPeople(form)) {
      if (pods.length === 0) this.report.info(noResourcesText(flags));
      this.out.printText(this.#lines(pods, layout));
    } else this.out.print(await formatPods(form, pods, single && pods.length === 1));
  }

  #lines(pods: readonly Pod[], {form, table}: Layout): string {
    if (form.kind === 'name') return pods.map(({metadata}) => `pod/${metadata.name ?? ''}\n`).join('');
    const now = this.context.clock.now();
    return table.text(pods.map((pod) => computePodRow(pod, now)));
  }

  /** Shows every pod once, and again when anything but its age changes or when it is deleted. */
  async #watch(reader: PodReader, selected: PodsToShow, layout: Layout): Promise<void> {
    const changes = new PodChangeDetector();
    await watchPods(this.services, reader, selected, {
      read: async (records) => await reader.observe(records),
      show: async (observed) => {
        const pods = observed.map(({pod}) => pod);
        await this.#showChanged(changes.detect(pods, this.context.clock.now()), layout);
      },
    });
  }

  async #showChanged(pods: readonly Pod[], layout: Layout): Promise<void> {
    const {form} = layout;
    if (isForPeople(form)) this.out.printText(this.#lines(pods, layout));
    else for (const pod of pods) this.out.printData(await formatPodDocument(form, pod));
  }
}

/** Layout of the table of pods; a watch continues the table. */
interface Layout {
  readonly form: PodForm;
  readonly table: GrowingTable<PodRow>;
}

function isForPeople(form: PodForm): form is Exclude<PodForm, ObjectFormat> {
  return form.kind === 'table' || form.kind === 'wide' || form.kind === 'name';
}

function noResourcesText({namespace}: GetFlags): string {
  return namespace === undefined ? 'No resources found' : `No resources found in ${namespace} namespace.`;
}
