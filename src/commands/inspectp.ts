import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {filterText, isFiltered, SANDBOX_FILTERS, sandboxQuery} from '../features/containers/filter-flags.js';
import {EXPLAIN_FLAG, INSPECT_FLAGS} from '../features/inspect/inspect-flags.js';
import {FROM_FLAG} from '../cli/flags/flag-types.js';
import {podArgs} from '../cli/flags/positional-arguments.js';
import {inspectTargets, kcriInspect} from '../features/inspect/inspect-targets.js';
import {formatSandboxDetails} from '../features/inspect/inspect-details.js';
import {sandboxStatusJson} from '../features/inspect/inspect-json.js';
import {selectPodSandboxes} from '../features/containers/select-pod-sandboxes.js';
import {inspectSandbox} from '../operations/inspect/inspect-objects.js';

export default class Inspectp extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show details of pods';
  static override description =
    'Without names, shows all pods that match the filters. With names, filters restrict where the ' +
    'names are looked up.';
  static override usage = 'inspectp [POD...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> inspectp kube-system/coredns -o table',
    '<%= config.bin %> inspectp --label=app=web -q',
    "<%= config.bin %> inspectp web -o jsonpath='{.status.network.ip}'",
  ];
  static override args = podArgs;
  static override flags = {...INSPECT_FLAGS, ...FROM_FLAG, ...EXPLAIN_FLAG, ...SANDBOX_FILTERS};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspectp);
    const {services, signal} = this;
    await inspectTargets(services, flags, {
      strategy: await this.dialect.strategy('inspectp', INSPECTP),
      refs: args.pod ?? [],
      fetch: async (id, verbose) => await inspectSandbox((await this.cri()).runtime, id, {verbose, signal}),
      json: sandboxStatusJson,
      text: formatSandboxDetails,
    });
  }
}

const INSPECTP: CommandStrategies['inspectp'] = kcriInspect(async (services, refs, flags) => {
  const query = refs.length === 0 || isFiltered(flags) ? await sandboxQuery(flags) : undefined;
  const {runtime} = await services.connections.default();
  return await selectPodSandboxes(runtime, {refs, query, filters: filterText(flags)}, services.resolving({}));
});
