import {
  containerId,
  podSandboxId,
  type ContainerId,
  type ContainerStatusResponse,
  type ImageStatusResponse,
  type PodSandboxId,
  type PodSandboxStatusResponse,
} from '../../cri/index.js';
import {nothingFoundError, type Target} from '../../operations/resolve/target.js';
import type {CommandStrategies} from '../../cli/dialect/command-strategies.js';
import type {ConnectionContext, SignalContext} from '../../cli/command/contexts.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import type {InspectStrategy} from './inspect-targets.js';
import {
  formatCrictlContainer,
  formatCrictlImage,
  formatCrictlSandbox,
  type CrictlTextOptions,
} from './crictl-inspect-table.js';
import {
  checkLabels,
  listCrictlContainers,
  listCrictlImages,
  listCrictlSandboxes,
  withErrorContext,
} from '../lists/crictl-lists.js';

interface CrictlInspection<Id, Response, Flags> {
  readonly id: (ref: string) => Id;
  /** Lists the IDs that filters select; crictl ignores filters beside IDs. */
  readonly list: (services: ConnectionContext & SignalContext, flags: Flags) => Promise<readonly string[]>;
  /** Command that lists all objects, for the hint. */
  readonly listCommand: string;
  readonly text: (response: Response, options: CrictlTextOptions) => string;
  /** Context of errors. */
  readonly context?: string;
}

/**
 * Creates an inspection as in crictl. It fetches objects one by one, prints each table immediately, and stops at the
 * first failure.
 */
function crictlInspect<Id, Response, Flags>({
  id: idOf,
  list,
  listCommand,
  text,
  context,
}: CrictlInspection<Id, Response, Flags>): InspectStrategy<Id, Response, Flags> {
  return {
    checksFormatFirst: false,
    targets: async (services, refs, flags) => {
      const found = (ref: string): Target<Id> => ({kind: 'found', ref, id: idOf(ref)});
      if (refs.length > 0) return refs.map(found);
      const ids = await list(services, flags);
      if (ids.length === 0) throw nothingFoundError(listCommand);
      return ids.map(found);
    },
    fetchAll: async (services, flags, targets, fetch) => {
      const options = {nowMs: services.context.clock.now(), verbose: !flags.quiet};
      const responses: Response[] = [];
      await forEachTarget(services, targets, async (id) => {
        const fetching = async () => await fetch(id, options.verbose);
        const response = await (context === undefined ? fetching() : withErrorContext(context, fetching));
        if (flags.output === 'table') services.out.print(text(response, options));
        else responses.push(response);
      });
      return responses;
    },
  };
}

export const CRICTL_INSPECT: CommandStrategies['inspect'] = crictlInspect<
  ContainerId,
  ContainerStatusResponse,
  Parameters<CommandStrategies['inspect']['targets']>[2]
>({
  id: containerId,
  list: async ({connections, signal}, flags) => {
    const connection = await connections.default();
    checkLabels(flags);
    const containers = await withErrorContext('listing containers', () =>
      listCrictlContainers(connection, flags, signal),
    );
    return containers.map(({id}) => id);
  },
  listCommand: 'kcri ps -a',
  text: formatCrictlContainer,
  context: 'get the status of containers',
});

export const CRICTL_INSPECTP: CommandStrategies['inspectp'] = crictlInspect<
  PodSandboxId,
  PodSandboxStatusResponse,
  Parameters<CommandStrategies['inspectp']['targets']>[2]
>({
  id: podSandboxId,
  list: async ({connections, signal}, flags) => {
    const {runtime} = await connections.default();
    await withErrorContext('parse label string slice', async () => {
      checkLabels(flags);
    });
    const sandboxes = await withErrorContext('listing pod sandboxes', () =>
      listCrictlSandboxes(runtime, flags, signal),
    );
    return sandboxes.map(({id}) => id);
  },
  listCommand: 'kcri pods',
  text: formatCrictlSandbox,
  context: 'get the status of pod sandboxes',
});

export const CRICTL_INSPECTI: CommandStrategies['inspecti'] = crictlInspect<
  string,
  ImageStatusResponse,
  Parameters<CommandStrategies['inspecti']['targets']>[2]
>({
  id: (ref) => ref,
  list: async ({connections, signal}, {name, filter: filters}) => {
    const {images} = await connections.default();
    return (await listCrictlImages(images, {name, filters}, signal)).map(({id}) => id);
  },
  listCommand: 'kcri images',
  text: formatCrictlImage,
});
