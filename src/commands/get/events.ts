import * as Flags from '@oclif/core/flags';
import {formOf, outputFlag, templateFlag, type Form} from '../../cli/formats.js';
import {POD_CHOICE, SeenPodsCommand, type PodChoiceValues} from '../../cli/seen-pods-command.js';
import {EventChanges, eventColumns, eventJson, type KeptEvent} from '../../cli/views/pod-events.js';
import {objectDocument, objectsText} from '../../cli/views/pod-json.js';
import {GrowingTable} from '../../cli/views/pod-table.js';
import {repeated} from '../../cli/watch.js';
import type {PodRecord} from '../../kubelet/index.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

interface Layout {
  readonly form: Form<(typeof FORMATS)[number]>;
  readonly table: GrowingTable<KeptEvent>;
}

/** How often a watch looks. */
const WATCH_MS = 1000;

export default class GetEvents extends SeenPodsCommand {
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
  static override flags = {
    ...POD_CHOICE,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'Show the namespaces of the pods, of all namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Leave the names of the columns out.'}),
    watch: Flags.boolean({char: 'w', description: 'Go on, and show each event that happens.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetEvents);
    const words = argv as string[];
    const form = await formOf(flags, FORMATS, this);
    const choice = flags['all-namespaces'] ? {...flags, namespace: undefined} : flags;
    const records = await this.chosenRecords(words, choice);
    // Of those that are named none is there, which has been told.
    if (words.length > 0 && records.length === 0) return;
    const others = choice.namespace === undefined && records.some(({namespace}) => namespace !== 'default');
    const columns = eventColumns({
      wide: form.kind === 'wide',
      namespace: flags['all-namespaces'] || others,
      nowMs: () => this.context.clock.now(),
    });
    const layout = {form, table: new GrowingTable(columns, {header: !flags['no-headers']})};
    if (flags.watch) await this.#watch(words, choice, layout);
    else await this.#once(records, layout);
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

  async #watch(words: readonly string[], choice: PodChoiceValues, {form, table}: Layout): Promise<void> {
    const {clock} = this.context;
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    const changes = new EventChanges();
    const look = async (): Promise<readonly KeptEvent[]> =>
      await this.keptEvents(await this.chosenRecords(words, choice, () => undefined));
    try {
      for await (const events of repeated(look, {clock, pauseMs: WATCH_MS, signal})) {
        const changed = changes.since(events);
        if (form.kind === 'table' || form.kind === 'wide') this.show(table.text(changed));
        else for (const event of changed) this.stdout.write(await objectDocument(form, eventJson(event)));
        await this.stdout.ready(signal);
      }
    } catch (error) {
      // Ctrl-C is how a watch ends.
      if (!signal.aborted) throw error;
    }
  }
}
