import {formOf, type Form} from '../../cli/formats.js';
import {GetCommand, getFlags, type PodsToShow} from '../../cli/get-command.js';
import {EventChanges, eventColumns, eventJson, type KeptEvent} from '../../cli/views/pod-events.js';
import {objectDocument, objectsText} from '../../cli/views/pod-json.js';
import {GrowingTable} from '../../cli/views/pod-table.js';
import type {PodRecord} from '../../kubelet/index.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

interface Layout {
  readonly form: Form<(typeof FORMATS)[number]>;
  readonly table: GrowingTable<KeptEvent>;
}

export default class GetEvents extends GetCommand {
  static override summary = 'List what happened to the pods that kcri made';
  static override description =
    'Shows what "kubectl get events" would of these pods, the last at the end: the events that the kubelet that ' +
    'keeps a pod, or "kcri sync", has told of. Each pod\'s last hundred are kept, and go with the pod. What a ' +
    'runtime tells of its containers shows "kcri events".';
  static override usage = 'get events [POD...] [OPTIONS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get events',
    '<%= config.bin %> get events web -w',
    "<%= config.bin %> get events -o jsonpath='{.items[*].reason}'",
  ];
  static override flags = getFlags(FORMATS, 'Go on, and show each event that happens.');

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetEvents);
    const form = await formOf(flags, FORMATS, this);
    const asked = await this.podsToShow(argv as string[], flags);
    if (asked === undefined) return;
    const columns = eventColumns({
      wide: form.kind === 'wide',
      namespace: asked.showsNamespace,
      nowMs: () => this.context.clock.now(),
    });
    const layout = {form, table: new GrowingTable(columns, {header: !flags['no-headers']})};
    if (flags.watch) await this.#watch(asked, layout);
    else await this.#once(asked.records, layout);
  }

  async #once(records: readonly PodRecord[], layout: Layout): Promise<void> {
    const {form} = layout;
    const events = await this.keptEvents(records);
    if (form.kind !== 'table' && form.kind !== 'wide') {
      this.print(await objectsText(form, events.map(eventJson), false));
      return;
    }
    if (events.length === 0) this.note('No resources found');
    this.show(layout.table.text(events));
  }

  async #watch(asked: PodsToShow, {form, table}: Layout): Promise<void> {
    const changes = new EventChanges();
    await this.watchPods(
      asked,
      async (records) => this.keptEvents(records),
      async (events) => {
        const changed = changes.since(events);
        if (form.kind === 'table' || form.kind === 'wide') this.show(table.text(changed));
        else for (const event of changed) this.stdout.write(await objectDocument(form, eventJson(event)));
      },
    );
  }
}
