import * as Flags from '@oclif/core/flags';
import type {Pod} from '../../api/v1.js';
import {formOf, outputFlag, templateFlag, type Form, type ObjectForm} from '../../cli/formats.js';
import {POD_CHOICE, SeenPodsCommand, type PodChoiceValues} from '../../cli/seen-pods-command.js';
import {PodChanges} from '../../cli/views/pod-changes.js';
import {podDocument, podsText, sortPods} from '../../cli/views/pod-json.js';
import {podRow, type PodRow} from '../../cli/views/pod-row.js';
import {GrowingTable, podColumns} from '../../cli/views/pod-table.js';
import {repeated} from '../../cli/watch.js';
import type {PodRecord, SeenPod} from '../../kubelet/index.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type PodForm = Form<(typeof FORMATS)[number]>;

interface GetFlags extends PodChoiceValues {
  readonly 'all-namespaces': boolean;
  readonly 'no-headers': boolean;
  readonly 'sort-by'?: string | undefined;
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly watch: boolean;
}

/** How often a watch looks: as often as the kubelet asks a runtime what has changed. */
const WATCH_MS = 1000;

export default class GetPods extends SeenPodsCommand {
  static override summary = 'List the pods that kcri made, with their status';
  static override description =
    'Shows what "kubectl get pods" would: how many containers are ready, what the pod waits for, restarts and age, ' +
    'asked of the runtime that each pod was made on. When that is down, the pods are shown as they were last seen, ' +
    'and standard error says so. Pods of other root directories and of others are not shown.';
  static override usage = 'get pods [POD...] [OPTIONS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get pods',
    '<%= config.bin %> get pods web -o wide',
    '<%= config.bin %> get pods -w',
    "<%= config.bin %> get pods -l app=web -o jsonpath='{.items[*].status.podIP}'",
  ];
  static override flags = {
    ...POD_CHOICE,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'Show the namespaces of the pods, of all namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Leave the names of the columns out.'}),
    'sort-by': Flags.string({
      helpValue: 'JSONPATH',
      description: 'What to sort by, such as .metadata.creationTimestamp. [default: namespace and name]',
    }),
    watch: Flags.boolean({char: 'w', description: 'Go on, and show each pod again when it has changed.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetPods);
    const words = argv as string[];
    const form = await formOf(flags, FORMATS, this);
    const choice = flags['all-namespaces'] ? {...flags, namespace: undefined} : flags;
    const records = await this.chosenRecords(words, choice);
    // Of those that are named none is there, which has been told.
    if (words.length > 0 && records.length === 0) return;
    const layout = {form, table: this.#table(form, flags, records)};
    if (flags.watch) await this.#watch(choice, words, layout);
    else await this.#once(await this.see(records), {...layout, single: words.length === 1}, flags);
  }

  /** The namespace is shown when it is asked for, and when it tells pods apart from those of `default`. */
  #table(form: PodForm, flags: GetFlags, records: readonly PodRecord[]): GrowingTable<PodRow> {
    const others = flags.namespace === undefined && records.some(({namespace}) => namespace !== 'default');
    const columns = podColumns({wide: form.kind === 'wide', namespace: flags['all-namespaces'] || others});
    return new GrowingTable(columns, {header: !flags['no-headers']});
  }

  async #once(
    seen: readonly SeenPod[],
    {single, ...layout}: Layout & {readonly single: boolean},
    flags: GetFlags,
  ): Promise<void> {
    const unsorted = seen.map(({pod}) => pod);
    const pods = await sortPods(unsorted, flags['sort-by']);
    const {form} = layout;
    if (isForPeople(form)) {
      if (pods.length === 0) this.note(nothingIn(flags));
      this.show(this.#lines(pods, layout));
    } else this.print(await podsText(form, pods, single && pods.length === 1));
  }

  #lines(pods: readonly Pod[], {form, table}: Layout): string {
    if (form.kind === 'name') return pods.map(({metadata}) => `pod/${metadata.name ?? ''}\n`).join('');
    const now = this.context.clock.now();
    return table.text(pods.map((pod) => podRow(pod, now)));
  }

  /** Every pod once, and then again when something of it but its age has changed, and when it is gone. */
  async #watch(choice: PodChoiceValues, words: readonly string[], layout: Layout): Promise<void> {
    const {clock} = this.context;
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    const changes = new PodChanges();
    const look = async (): Promise<readonly SeenPod[]> =>
      await this.see(await this.chosenRecords(words, choice, () => undefined));
    try {
      for await (const seen of repeated(look, {clock, pauseMs: WATCH_MS, signal})) {
        const pods = seen.map(({pod}) => pod);
        await this.#showChanged(changes.since(pods, clock.now()), layout);
        await this.stdout.ready(signal);
      }
    } catch (error) {
      // Ctrl-C is how a watch ends.
      if (!signal.aborted) throw error;
    }
  }

  async #showChanged(pods: readonly Pod[], layout: Layout): Promise<void> {
    const {form} = layout;
    if (isForPeople(form)) this.show(this.#lines(pods, layout));
    else for (const pod of pods) this.stdout.write(await podDocument(form, pod));
  }
}

/** How pods are shown; the table goes on from one look to the next. */
interface Layout {
  readonly form: PodForm;
  readonly table: GrowingTable<PodRow>;
}

function isForPeople(form: PodForm): form is Exclude<PodForm, ObjectForm> {
  return form.kind === 'table' || form.kind === 'wide' || form.kind === 'name';
}

function nothingIn({namespace}: GetFlags): string {
  return namespace === undefined ? 'No resources found' : `No resources found in ${namespace} namespace.`;
}
