import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.js';
import {CONTAINER_FILTERS, containerQuery, type ContainerFilterValues} from '../cli/filter-flags.js';
import {formOf, messageText, outputFlag, templateFlag, type Form} from '../cli/formats.js';
import {arranger, listFlags, listTable, type ListFlagValues} from '../cli/list-flags.js';
import {
  CONTAINER_COLUMN_FIELDS,
  CONTAINER_ORDERS,
  containerBlock,
  containerColumns,
  containerDetailColumns,
  type ContainerRow,
} from '../cli/views/containers.js';
import type {Connection, Container, FieldMask} from '../cri/index.js';
import {imageTags, listContainers} from '../operations/containers.js';
import {containerDetails} from '../operations/details.js';
import {containerKind} from '../operations/look-up.js';
import {labelledPodOf, podsOf} from '../operations/pod-labels.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type ListForm = Form<(typeof FORMATS)[number]>;

interface PsFlags extends ContainerFilterValues, ListFlagValues {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly 'no-trunc': boolean;
  readonly 'resolve-image-path': boolean;
}

/** The tags to show as images, by container. */
type Tags = ReadonlyMap<string, string>;

export default class Ps extends BaseCommand {
  static override summary = 'List containers';
  static override description =
    'Shows running containers; --all shows all of them.\n\n' +
    'The wide table also asks for the status of each container and pod, for addresses, PIDs, exit codes and the ' +
    'ports of the node that lead to the pod.';
  static override examples = [
    '<%= config.bin %> ps -a',
    '<%= config.bin %> ps --pod web --label app=web -o wide',
    '<%= config.bin %> ps -a --state exited --sort name',
    '<%= config.bin %> ps -o name --namespace kube-system',
    '<%= config.bin %> ps -o jsonpath=\'{range .containers[*]}{.id}{"\\n"}{end}\'',
  ];
  static override flags = {
    ...CONTAINER_FILTERS,
    id: Flags.string({helpValue: 'ID', description: 'Only the container with an id that begins so.'}),
    namespace: Flags.string({
      helpValue: 'REGEX',
      description: "Only containers whose pod's namespace matches a regular expression.",
    }),
    state: Flags.string({
      char: 's',
      helpValue: 'created|running|exited|unknown',
      description: 'Only containers in a state. [default: running]',
    }),
    all: Flags.boolean({char: 'a', description: 'Containers in all states.'}),
    ...listFlags(CONTAINER_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each container.'}),
    'resolve-image-path': Flags.boolean({
      char: 'r',
      description: 'Show images by their tag, not by their id.',
    }),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Ps);
    await (this.compat ? this.#asCrictl(flags) : this.#list(flags));
  }

  async #list(flags: PsFlags): Promise<void> {
    const form = await formOf(flags, FORMATS, this);
    const query = {...containerQuery(flags), fields: fieldsFor(form, flags)};
    const arrange = arranger(flags, CONTAINER_ORDERS);
    const services = await this.cri();
    const {signal} = this;
    const containers = await withContext('listing containers', listContainers(services, query, signal));
    const idsOnly = flags.quiet || !['table', 'wide', 'name'].includes(form.kind);
    const podOf =
      idsOnly && flags.sort === undefined
        ? labelledPodOf
        : await podsOf(services.runtime, containers, signal);
    const rows = arrange(containers.map((container) => ({container, pod: podOf(container)})));
    const tags = async (): Promise<Tags> => await imageTags(services.images, containers, signal);
    await this.#print(form, rows, {flags, services, tags});
  }

  async #asCrictl(flags: PsFlags): Promise<void> {
    const {checkLabels, crictlContainers, crictlPodOf, crictlTags, saying} =
      await import('../cli/compat/lists.js');
    const services = await this.cri();
    checkLabels(flags);
    const {signal} = this;
    const containers = await saying('listing containers: list containers', () =>
      crictlContainers(services, flags, signal),
    );
    const form = await formOf(flags, FORMATS, this);
    const rows = containers.map((container) => ({container, pod: crictlPodOf(container)}));
    const tags = (): Promise<Tags> =>
      saying('listing containers', () =>
        crictlTags(services.images, containers, {full: flags['no-trunc'], signal}),
      );
    await this.#print(form, rows, {flags, services, tags});
  }

  async #print(form: ListForm, rows: readonly ContainerRow[], {flags, services, tags}: PrintOptions) {
    const containers = rows.map(({container}) => container);
    const nowMs = this.context.clock.now();
    if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
      this.print(await messageText(form, 'ListContainersResponse', {containers}));
    else if (flags.quiet) this.printAll(containers, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(rows, (row) => containerBlock(row, nowMs));
    else if (form.kind === 'name')
      this.printAll(rows, ({container, pod}) => `${containerKind(() => pod).fullName(container)}\n`);
    else {
      const layout = {...flags, forTerminal: this.forTerminal};
      const shown = flags['resolve-image-path'] ? await tags() : undefined;
      const columns = containerColumns({nowMs, full: flags['no-trunc'], tags: shown});
      if (form.kind === 'table') this.show(listTable(columns, rows, layout));
      else {
        const more = containerDetailColumns(await this.#details(services, containers));
        this.show(listTable([...columns, ...more], rows, {...layout, narrow: true}));
      }
    }
  }

  async #details({runtime}: Connection, containers: readonly Container[]) {
    const {byId, failure} = await containerDetails(runtime, containers, this.signal);
    if (failure !== undefined) this.warn(`some details are missing: ${failure.message}`);
    return byId;
  }
}

/** What is needed of each container; undefined = all. */
function fieldsFor({kind}: ListForm, flags: PsFlags): FieldMask<Container> | undefined {
  const columnsOnly = (kind === 'table' || kind === 'name') && !flags.verbose && !flags['resolve-image-path'];
  return columnsOnly ? CONTAINER_COLUMN_FIELDS : undefined;
}

interface PrintOptions {
  readonly flags: PsFlags;
  readonly services: Connection;
  readonly tags: () => Promise<Tags>;
}
