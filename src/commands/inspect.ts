import * as Flags from '@oclif/core/flags';
import {containerArgs} from '../cli/arguments.js';
import {CONTAINER_FILTERS, containerQuery} from '../cli/filter-flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {containerStatusJson} from '../cli/views/status-json.js';
import {containerStatusText} from '../cli/views/status-text.js';
import {listContainers, type ContainerQuery} from '../operations/containers.js';
import {inspectContainer} from '../operations/inspect.js';
import {nothingFound, resolveContainers} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Inspect extends InspectCommand {
  static override summary = 'Show all about containers';
  static override description = 'Without names, all running containers that the filters let through.';
  static override usage = 'inspect [CONTAINER...] [OPTIONS]';
  static override args = containerArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    ...CONTAINER_FILTERS,
    namespace: Flags.string({
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
    const given = args.container ?? [];
    const refs = given.length > 0 ? given : await this.#chosen(containerQuery(flags));
    const {runtime} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets: await resolveContainers(runtime, refs, {signal}),
      fetch: async (id, verbose) => await inspectContainer(runtime, id, {verbose, signal}),
      json: containerStatusJson,
      text: containerStatusText,
    });
  }

  async #chosen(query: ContainerQuery): Promise<readonly string[]> {
    const chosen = listContainers(await this.cri(), query, this.signal);
    const ids = (await withContext('listing containers', chosen)).map(({id}) => id);
    if (ids.length === 0) throw nothingFound('kcri ps -a');
    return ids;
  }
}
