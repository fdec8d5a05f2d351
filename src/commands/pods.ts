import * as Flags from '@oclif/core/flags';
import {isListWord} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {SANDBOX_FILTERS, sandboxQuery, type SandboxFilterValues} from '../cli/filter-flags.js';
import {formOf, messageText, outputFlag, templateFlag, type Form} from '../cli/formats.js';
import {arranger, listFlags, listTable, type ListFlagValues} from '../cli/list-flags.js';
import {
  podContainers,
  SANDBOX_COLUMN_FIELDS,
  SANDBOX_ORDERS,
  sandboxBlock,
  sandboxColumns,
  sandboxDetailColumns,
} from '../cli/views/sandboxes.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import type {FieldMask, PodSandbox} from '../cri/index.js';
import {sandboxDetails} from '../operations/details.js';
import {listAllContainers} from '../cri/list-all.js';
import {SANDBOX_KIND} from '../operations/look-up.js';
import {listSandboxes} from '../operations/sandboxes.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type ListForm = Form<(typeof FORMATS)[number]>;

interface PodsFlags extends SandboxFilterValues, ListFlagValues {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly 'no-trunc': boolean;
}

export default class Pods extends BaseCommand {
  static override summary = 'List pods';
  static override description =
    'The wide table also asks for the status of each pod, for addresses, PIDs and the ports of the node that lead ' +
    'to it, and counts containers.';
  static override examples = [
    '<%= config.bin %> pods',
    '<%= config.bin %> pods --state ready --namespace kube-system -o wide',
    '<%= config.bin %> pods --sort namespace --no-headers',
    '<%= config.bin %> pods -o name',
  ];
  static override strict = false;
  static override flags = {
    ...SANDBOX_FILTERS,
    id: Flags.string({helpValue: 'ID', description: 'Only the pod with an id that begins so.'}),
    ...listFlags(SANDBOX_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each pod.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Pods);
    if (!this.compat) checkWords(argv as string[]);
    await (this.compat ? this.#asCrictl(flags) : this.#list(flags));
  }

  async #list(flags: PodsFlags): Promise<void> {
    const form = await formOf(flags, FORMATS, this);
    const query = {...sandboxQuery(flags), fields: fieldsFor(form, flags)};
    const arrange = arranger(flags, SANDBOX_ORDERS);
    const {runtime} = await this.cri();
    const listed = await withContext('listing pod sandboxes', listSandboxes(runtime, query, this.signal));
    await this.#print(form, arrange(listed), flags);
  }

  async #asCrictl(flags: PodsFlags): Promise<void> {
    const {checkLabels, crictlSandboxes, saying} = await import('../cli/compat/lists.js');
    const {runtime} = await this.cri();
    checkLabels(flags);
    const items = await saying('listing pod sandboxes: list pod sandboxes', () =>
      crictlSandboxes(runtime, flags, this.signal),
    );
    await this.#print(await formOf(flags, FORMATS, this), items, flags);
  }

  async #print(form: ListForm, items: readonly PodSandbox[], flags: PodsFlags): Promise<void> {
    if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
      this.print(await messageText(form, 'ListPodSandboxResponse', {items}));
    else if (flags.quiet) this.printAll(items, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(items, sandboxBlock);
    else if (form.kind === 'name') this.printAll(items, (item) => `${SANDBOX_KIND.fullName(item)}\n`);
    else {
      const layout = {...flags, forTerminal: this.forTerminal};
      const columns = sandboxColumns(this.context.clock.now(), flags['no-trunc']);
      if (form.kind === 'table') this.show(listTable(columns, items, layout));
      else {
        const more = await this.#detailColumns(items);
        this.show(listTable([...columns, ...more], items, {...layout, narrow: true}));
      }
    }
  }

  async #detailColumns(items: readonly PodSandbox[]) {
    const {runtime} = await this.cri();
    const [{byId, failure}, containers] = await Promise.all([
      sandboxDetails(runtime, items, this.signal),
      withContext('listing containers', listAllContainers(runtime, {}, this.signal)),
    ]);
    if (failure !== undefined) this.warn(`some details are missing: ${failure.message}`);
    return sandboxDetailColumns(byId, podContainers(containers));
  }
}

/** What is needed of each pod; undefined = all. */
function fieldsFor({kind}: ListForm, {verbose}: PodsFlags): FieldMask<PodSandbox> | undefined {
  return (kind === 'table' || kind === 'name') && !verbose ? SANDBOX_COLUMN_FIELDS : undefined;
}

/** Throws ArgumentsError. */
function checkWords(words: readonly string[]): void {
  const [unexpected] = isListWord(words[0]) ? words.slice(1) : words;
  if (unexpected !== undefined) throw new ArgumentsError(`unexpected argument "${unexpected}"`);
}
