import {counted} from '../../base/counted.js';
import {checkExitCodeFlag, setListExitCode} from '../../features/lists/list-flags.js';
import {compare} from '../../base/compare.js';
import {UsageError} from '../../base/errors.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {listFlag, nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';
import {getFlags} from '../../features/get/get-flags.js';
import {parseOutputFormat, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {
  EventChangeDetector,
  eventColumns,
  eventJson,
  type RecordedPodEvent,
} from '../../features/events/event-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatObjectDocument, formatObjects} from '../../features/pods/pod-text.js';
import type {ListedPod} from '../../features/pods/listed-pod.js';
import {PodReader} from '../../features/pods/pod-reader.js';
import type {ListedPodFlagValues} from '../../features/pods/pod-selection-flags.js';
import {RuntimeEventDetector} from '../../features/get/runtime-event-detector.js';
import {hasSeveralNodes, selectPodsOfNodes, showsNamespaces} from '../../features/pods/pods-of-nodes.js';
import {selectPodsToShow, watchPods, type PodsToShow} from '../../features/get/watch-pods.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

/** Types of events, in the spelling of the API. */
const TYPES = ['Normal', 'Warning'] as const;

type EventTest = (event: RecordedPodEvent) => boolean;

interface Layout {
  readonly form: OutputFormat<(typeof FORMATS)[number]>;
  readonly table: GrowingTable<RecordedPodEvent>;
  readonly isShown: EventTest;
  readonly exitCode: boolean;
}

export default class GetEvents extends BaseCommand {
  static override readsSeveralSaved = true;
  static override summary = 'List the events of pods';
  static override description =
    'Lists what "kubectl get events" lists, newest last: events recorded by the kubelet or by "kcri ' +
    'sync". The last hundred events of each pod are stored until the pod is deleted. Events of pods that kcri ' +
    'did not create are not stored; with -w, changes of their containers are listed. For the events of the ' +
    'runtime, use "kcri events".';
  static override usage = 'get events [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get events --types=Warning',
    '<%= config.bin %> get events web -w',
    "<%= config.bin %> get events -o jsonpath='{.items[*].reason}'",
  ];
  static override flags = {
    ...getFlags(FORMATS, 'Watch for new events.'),
    ...nonEmptyFlags({
      types: withChoices(
        listFlag({
          helpValue: 'TYPE',
          description: 'List only events of this type. Can be repeated. [default: all]',
        }),
        TYPES,
      ),
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetEvents);
    checkExitCodeFlag(flags);
    const isShown = parseTypes(flags.types);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    if (hasSeveralNodes(this.services)) {
      await this.#ofNodes(argv as string[], flags, {form, isShown});
      return;
    }
    const reader = new PodReader(this.services);
    const selected = await selectPodsToShow(reader, argv as string[], flags);
    if (selected === undefined) return;
    const columns = eventColumns({
      wide: form.kind === 'wide',
      namespace: selected.showsNamespace,
      nowMs: () => this.context.clock.now(),
    });
    const layout = {
      form,
      table: new GrowingTable(columns, {header: !flags['no-headers']}),
      isShown,
      exitCode: flags['exit-code'],
    };
    if (flags.watch) await this.#watch(reader, selected, layout);
    else await this.#once(reader, selected.pods, layout);
  }

  /** Lists the events of the pods of several nodes, which are saved ones. */
  async #ofNodes(
    words: readonly string[],
    flags: ListedPodFlagValues & {readonly 'no-headers': boolean; readonly 'exit-code': boolean},
    {form, isShown}: Pick<Layout, 'form' | 'isShown'>,
  ): Promise<void> {
    const all = flags['all-namespaces'];
    const ofNodes = await selectPodsOfNodes(
      this.services,
      words,
      all ? {...flags, namespace: undefined} : flags,
    );
    const found = await Promise.all(
      ofNodes.map(async ({node, reader, listed}) =>
        (await reader.recordedEvents(listed)).filter(isShown).map((recorded) => ({...recorded, node})),
      ),
    );
    const events = found.flat().toSorted((a, b) => compare(a.event.lastTimestamp, b.event.lastTimestamp));
    setListExitCode(this.report, flags, events.length);
    if (form.kind !== 'table' && form.kind !== 'wide') {
      const items = events.map((recorded) => ({...eventJson(recorded), node: recorded.node}));
      this.out.printData(await formatObjects(form, items, false));
      return;
    }
    if (events.length === 0 && !flags['exit-code']) this.report.info('No resources found');
    const columns = [
      {header: 'NODE', value: ({node}: (typeof events)[number]) => node},
      ...eventColumns({
        wide: form.kind === 'wide',
        namespace: showsNamespaces(ofNodes, all),
        nowMs: () => this.context.clock.now(),
      }),
    ];
    this.out.printText(new GrowingTable(columns, {header: !flags['no-headers']}).text(events));
  }

  async #once(
    reader: PodReader,
    listed: readonly ListedPod[],
    {form, table, isShown, exitCode}: Layout,
  ): Promise<void> {
    const events = (await reader.recordedEvents(listed)).filter(isShown);
    setListExitCode(this.report, {'exit-code': exitCode}, events.length);
    const others = listed.filter(({manager}) => manager !== 'kcri').length;
    if (form.kind !== 'table' && form.kind !== 'wide') {
      this.out.printData(await formatObjects(form, events.map(eventJson), false));
      return;
    }
    if (events.length === 0 && !exitCode) this.report.info('No resources found');
    if (others > 0) this.report.info(notStoredText(others));
    this.out.printText(table.text(events));
  }

  async #watch(reader: PodReader, selected: PodsToShow, {form, table, isShown}: Layout): Promise<void> {
    const {out, services} = this;
    const changes = new EventChangeDetector();
    const ofRuntime = new RuntimeEventDetector();
    await watchPods(services, reader, selected, {
      read: async (listed) => [
        ...(await reader.recordedEvents(listed)),
        ...ofRuntime.detect(listed, this.context.clock.now()),
      ],
      show: async (events) => {
        const changed = changes.detect(events).filter(isShown);
        if (form.kind === 'table' || form.kind === 'wide') out.printText(table.text(changed));
        else for (const event of changed) out.printData(await formatObjectDocument(form, eventJson(event)));
      },
    });
  }
}

/** Returns the test of `--types`, which ignores case as kubectl does. Throws UsageError. */
function parseTypes(words: readonly string[] | undefined): EventTest {
  if (words === undefined) return () => true;
  const types = new Set<string>(
    words.map((word) => {
      const type = TYPES.find((each) => each.toLowerCase() === word.toLowerCase());
      if (type === undefined)
        throw new UsageError(`invalid --types "${word}"`, {hint: `use ${TYPES.join(' or ')}`});
      return type;
    }),
  );
  return ({event}) => types.has(event.type);
}

/** Returns the note about the events of `count` pods that kcri did not create. */
function notStoredText(count: number): string {
  return `kcri: ${counted(count, 'pod')} not created by kcri: kcri does not store their events; "kcri get events -w" lists new ones`;
}
