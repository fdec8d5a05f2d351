import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {
  CONTAINER_FILTERS,
  CONTAINER_SCOPE_FLAGS,
  containerQuery,
  filterText,
} from '../features/containers/filter-flags.js';
import {EXPLAIN_FLAG, INSPECT_FLAGS} from '../features/inspect/inspect-flags.js';
import {FROM_FLAG} from '../cli/flags/flag-types.js';
import {containerOrPodArgs} from '../cli/flags/positional-arguments.js';
import {inspectTargets, kcriInspect} from '../features/inspect/inspect-targets.js';
import {formatContainerDetails} from '../features/inspect/inspect-details.js';
import {containerStatusJson} from '../features/inspect/inspect-json.js';
import {
  parseContainerSelection,
  POD_CONTAINER_FLAG,
  choosePodContainers,
} from '../features/containers/select-containers.js';
import {inspectContainer} from '../operations/inspect/inspect-objects.js';

export default class Inspect extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show details of containers';
  static override description =
    'Without names, shows all running containers that match the filters. With names, filters restrict ' +
    'where the names are looked up. Of a pod, the default container is shown, as by exec; "kcri inspectp" ' +
    'shows the sandbox of the pod.';
  static override usage = 'inspect [CONTAINER...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> inspect web/nginx -o table',
    '<%= config.bin %> inspect shop/web -c nginx -q -o yaml',
    "<%= config.bin %> inspect nginx -o jsonpath='{.info.pid}'",
  ];
  static override args = containerOrPodArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    ...FROM_FLAG,
    ...EXPLAIN_FLAG,
    ...CONTAINER_FILTERS,
    ...CONTAINER_SCOPE_FLAGS,
    ...POD_CONTAINER_FLAG,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspect);
    const {services, signal} = this;
    await inspectTargets(services, flags, {
      strategy: await this.dialect.strategy('inspect', INSPECT),
      refs: args.container ?? [],
      fetch: async (id, verbose) => await inspectContainer((await this.cri()).runtime, id, {verbose, signal}),
      json: containerStatusJson,
      text: formatContainerDetails,
    });
  }
}

const INSPECT: CommandStrategies['inspect'] = kcriInspect(async (services, refs, flags) => {
  if (refs.length === 0 && flags.container !== undefined)
    throw new UsageError('--container requires a pod', {
      hint: 'name the pod, as in "POD --container NAME", or use --pod and --name',
    });
  const selection =
    refs.length > 0
      ? await parseContainerSelection(refs, flags, {states: 'all'})
      : {refs, query: await containerQuery(flags), filters: filterText(flags), byPod: false};
  const {container, explain: verify = false} = flags;
  return await choosePodContainers(services, await services.connections.default(), selection, {
    container,
    verify,
  });
});
