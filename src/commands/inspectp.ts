import {podArgs} from '../cli/arguments.js';
import {choosePods} from '../cli/choose-pods.js';
import {isFiltered, SANDBOX_FILTERS, sandboxQuery, type SandboxFilterValues} from '../cli/filter-flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {sandboxStatusFacts} from '../cli/views/status-facts.js';
import {sandboxStatusJson} from '../cli/views/status-json.js';
import {sandboxStatusText} from '../cli/views/status-text.js';
import {podSandboxId, type PodSandboxId} from '../cri/index.js';
import {inspectSandbox} from '../operations/inspect.js';
import {nothingFound, type Target} from '../operations/resolve.js';

export default class Inspectp extends InspectCommand {
  static override summary = 'Show all about pods';
  static override description =
    'Without names, all pods that the filters let through. Filters beside names say where to look for them.';
  static override usage = 'inspectp [POD...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> inspectp kube-system/coredns',
    '<%= config.bin %> inspectp web -o table',
    '<%= config.bin %> inspectp --label app=web -q',
    "<%= config.bin %> inspectp web -o jsonpath='{.status.network.ip}'",
  ];
  static override args = podArgs;
  static override flags = {...INSPECT_FLAGS, ...SANDBOX_FILTERS};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspectp);
    await this.checkFormat(flags);
    const refs = args.pod ?? [];
    const targets = await (this.compat ? this.#chosenAsCrictl(refs, flags) : this.#chosen(refs, flags));
    const {runtime} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets,
      fetch: async (id, verbose) => await inspectSandbox(runtime, id, {verbose, signal}),
      json: sandboxStatusJson,
      text: sandboxStatusFacts,
      crictlText: sandboxStatusText,
      crictlContext: 'get the status of pod sandboxes',
    });
  }

  async #chosen(
    refs: readonly string[],
    flags: SandboxFilterValues,
  ): Promise<readonly Target<PodSandboxId>[]> {
    const query = refs.length === 0 || isFiltered(flags) ? sandboxQuery(flags) : undefined;
    const {runtime} = await this.cri();
    return await choosePods(runtime, {refs, query}, {signal: this.signal});
  }

  /** crictl knows ids only, and filters only without them. */
  async #chosenAsCrictl(
    refs: readonly string[],
    flags: SandboxFilterValues,
  ): Promise<readonly Target<PodSandboxId>[]> {
    const found = (ref: string) => ({kind: 'found', ref, id: podSandboxId(ref)}) as const;
    if (refs.length > 0) return refs.map(found);
    const {checkLabels, crictlSandboxes, saying} = await import('../cli/compat/lists.js');
    const {runtime} = await this.cri();
    await saying('parse label string slice', async () => {
      checkLabels(flags);
    });
    const chosen = await saying('listing pod sandboxes', () => crictlSandboxes(runtime, flags, this.signal));
    if (chosen.length === 0) throw nothingFound('kcri pods');
    return chosen.map(({id}) => found(id));
  }
}
