import {podArgs} from '../cli/arguments.js';
import {SANDBOX_FILTERS, sandboxQuery} from '../cli/filter-flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {sandboxStatusJson} from '../cli/views/status-json.js';
import {sandboxStatusText} from '../cli/views/status-text.js';
import {inspectSandbox} from '../operations/inspect.js';
import {nothingFound, resolveSandboxes} from '../operations/resolve.js';
import {listSandboxes, type SandboxQuery} from '../operations/sandboxes.js';
import {withContext} from '../operations/with-context.js';

export default class Inspectp extends InspectCommand {
  static override summary = 'Show all about pods';
  static override description = 'Without names, all pods that the filters let through.';
  static override usage = 'inspectp [POD...] [OPTIONS]';
  static override args = podArgs;
  static override flags = {...INSPECT_FLAGS, ...SANDBOX_FILTERS};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspectp);
    await this.checkFormat(flags);
    const given = args.pod ?? [];
    const refs = given.length > 0 ? given : await this.#chosen(sandboxQuery(flags));
    const {runtime} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets: await resolveSandboxes(runtime, refs, {signal}),
      fetch: async (id, verbose) => await inspectSandbox(runtime, id, {verbose, signal}),
      json: sandboxStatusJson,
      text: sandboxStatusText,
    });
  }

  async #chosen(query: SandboxQuery): Promise<readonly string[]> {
    const {runtime} = await this.cri();
    const chosen = withContext('listing pod sandboxes', listSandboxes(runtime, query, this.signal));
    const ids = (await chosen).map(({id}) => id);
    if (ids.length === 0) throw nothingFound('kcri pods');
    return ids;
  }
}
