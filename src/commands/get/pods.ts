import * as Flags from '@oclif/core/flags';
import type {Pod} from '../../api/v1.js';
import {formOf, type Form, type ObjectForm} from '../../cli/formats.js';
import {GetCommand, getFlags, type PodsToShow} from '../../cli/get-command.js';
import {PodChanges} from '../../cli/views/pod-changes.js';
import {podDocument, podsText, sortPods} from '../../cli/views/pod-json.js';
import {podRow, type PodRow} from '../../cli/views/pod-row.js';
import {GrowingTable, podColumns} from '../../cli/views/pod-table.js';
import type {SeenPod} from '../../kubelet/index.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type PodForm = Form<(typeof FORMATS)[number]>;

interface GetFlags {
  readonly namespace?: string | undefined;
  readonly 'sort-by'?: string | undefined;
}

export default class GetPods extends GetCommand {
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
    ...getFlags(FORMATS, 'Go on, and show each pod again when it has changed.'),
    'sort-by': Flags.string({
      helpValue: 'JSONPATH',
      description: 'What to sort by, such as .metadata.creationTimestamp. [default: namespace and name]',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetPods);
    const form = await formOf(flags, FORMATS, this);
    const asked = await this.podsToShow(argv as string[], flags);
    if (asked === undefined) return;
    const {words, records, showsNamespace} = asked;
    const columns = podColumns({wide: form.kind === 'wide', namespace: showsNamespace});
    const layout = {form, table: new GrowingTable(columns, {header: !flags['no-headers']})};
    if (flags.watch) await this.#watch(asked, layout);
    else await this.#once(await this.see(records), {...layout, single: words.length === 1}, flags);
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
  async #watch(asked: PodsToShow, layout: Layout): Promise<void> {
    const changes = new PodChanges();
    await this.watchPods(
      asked,
      async (records) => this.see(records),
      async (seen) => {
        const pods = seen.map(({pod}) => pod);
        await this.#showChanged(changes.since(pods, this.context.clock.now()), layout);
      },
    );
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
