import * as Flags from '@oclif/core/flags';
import {containerArgs} from '../cli/arguments.js';
import {chooseContainers, choiceOf} from '../cli/choose-containers.js';
import {CONTAINER_FILTERS, containerQuery, type ContainerFilterValues} from '../cli/filter-flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {containerStatusFacts} from '../cli/views/status-facts.js';
import {containerStatusJson} from '../cli/views/status-json.js';
import {containerStatusText} from '../cli/views/status-text.js';
import {containerId, type ContainerId} from '../cri/ids.js';
import {inspectContainer} from '../operations/inspect.js';
import {nothingFound, type Target} from '../operations/resolve.js';

export default class Inspect extends InspectCommand {
  static override summary = 'Show all about containers';
  static override description =
    'Without names, all running containers that the filters let through. Filters beside names say where to look ' +
    'for them.';
  static override usage = 'inspect [CONTAINER...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> inspect web/nginx',
    '<%= config.bin %> inspect nginx -o table',
    '<%= config.bin %> inspect --pod web --all -q -o yaml',
    "<%= config.bin %> inspect nginx -o jsonpath='{.info.pid}'",
  ];
  static override args = containerArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    ...CONTAINER_FILTERS,
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
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspect);
    await this.checkFormat(flags);
    const refs = args.container ?? [];
    const targets = await (this.compat ? this.#chosenAsCrictl(refs, flags) : this.#chosen(refs, flags));
    const {runtime} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets,
      fetch: async (id, verbose) => await inspectContainer(runtime, id, {verbose, signal}),
      json: containerStatusJson,
      text: containerStatusFacts,
      crictlText: containerStatusText,
      crictlContext: 'get the status of containers',
    });
  }

  async #chosen(
    refs: readonly string[],
    flags: ContainerFilterValues,
  ): Promise<readonly Target<ContainerId>[]> {
    const choice =
      refs.length > 0 ? choiceOf(refs, flags, {states: 'all'}) : {refs, query: containerQuery(flags)};
    return await chooseContainers(await this.cri(), choice, {signal: this.signal});
  }

  /** crictl knows ids only, and filters only without them. */
  async #chosenAsCrictl(
    refs: readonly string[],
    flags: ContainerFilterValues,
  ): Promise<readonly Target<ContainerId>[]> {
    const found = (ref: string) => ({kind: 'found', ref, id: containerId(ref)}) as const;
    if (refs.length > 0) return refs.map(found);
    const {checkLabels, crictlContainers, saying} = await import('../cli/compat/lists.js');
    const services = await this.cri();
    checkLabels(flags);
    const chosen = await saying('listing containers', () => crictlContainers(services, flags, this.signal));
    if (chosen.length === 0) throw nothingFound('kcri ps -a');
    return chosen.map(({id}) => found(id));
  }
}
