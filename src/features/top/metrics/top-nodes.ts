import {anySignal} from '../../../base/async/any-signal.js';
import type {KcriError} from '../../../base/errors.js';
import {RemoteError} from '../../../remote/remote-error.js';
import type {CommandContext, EnvironmentContext, SignalContext} from '../../../cli/command/contexts.js';
import {TopNode, type NodeSample} from './top-node.js';
import type {TopSelection} from './top-sampler.js';

/** A node whose last sample failed. */
export interface NodeFailure {
  readonly node: string | undefined;
  readonly error: KcriError;
}

/** Last samples of all nodes. */
export interface SampledNodes {
  readonly samples: readonly NodeSample[];
  readonly failures: readonly NodeFailure[];
  readonly nowMs: number;
}

/** Longest time that the samples of other nodes wait for a node, in ms. */
const PATIENCE_MS = 1000;

/** The nodes of `top`, which are sampled at the same time. */
export class TopNodes {
  readonly #services: EnvironmentContext & SignalContext;
  readonly #nodes: readonly TopNode[];
  /** True if the nodes have names. */
  readonly areSeveral: boolean;
  /** Name of the only node if it is remote. */
  readonly remoteName: string | undefined;

  private constructor(
    services: EnvironmentContext & SignalContext,
    nodes: readonly TopNode[],
    remoteName: string | undefined,
  ) {
    this.#services = services;
    this.#nodes = nodes;
    this.areSeveral = nodes.some(({name}) => name !== undefined);
    this.remoteName = remoteName;
  }

  /** Names of all nodes; undefined for a node without others. */
  get names(): readonly (string | undefined)[] {
    return this.#nodes.map(({name}) => name);
  }

  /** Returns the name of the remote node, or the number of nodes, and of those that answer; empty for this machine. */
  titleOf(samples: readonly Pick<NodeSample, 'isStale'>[]): string {
    if (!this.areSeveral) return this.remoteName ?? '';
    const live = samples.filter(({isStale}) => !isStale).length;
    const all = `${this.#nodes.length} nodes`;
    return live === this.#nodes.length ? all : `${live} of ${all}`;
  }

  /**
   * Prepares the nodes of the endpoints. A single remote node is connected to, since ssh may ask questions. Rejects with
   * KcriError.
   */
  static async open(services: CommandContext, selection: TopSelection): Promise<TopNodes> {
    const {dialect, settings} = services;
    if (settings.runtimeEndpoints.length > 1 && dialect.queriesSeveralNodes) {
      const [{assertNoImageEndpoint}, {nameNodes}] = await Promise.all([
        import('../../nodes/query-all-nodes.js'),
        import('../../nodes/name-nodes.js'),
      ]);
      await assertNoImageEndpoint(settings);
      const named = [...nameNodes(settings.runtimeEndpoints)];
      const nodes = named.map(
        ([endpoint, name]) =>
          new TopNode({name, whole: services, selection, open: async () => await services.forNode(endpoint)}),
      );
      return new TopNodes(services, nodes, undefined);
    }
    const remote = await settings.remoteEndpoint();
    if (remote === undefined) {
      const node = new TopNode({name: undefined, whole: services, selection, open: undefined});
      return new TopNodes(services, [node], undefined);
    }
    // Questions would garble the screen once it is shown.
    const open = async (attempt: number) =>
      await Promise.resolve(services.reconnecting({mayAsk: attempt === 0}));
    const node = new TopNode({name: undefined, whole: services, selection, open});
    await node.connect();
    const {nameNodes} = await import('../../nodes/name-nodes.js');
    return new TopNodes(services, [node], nameNodes([remote]).get(remote));
  }

  /** Reports whether the selection may have pods. Of a single node, missing pods are reported. Rejects with KcriError. */
  async havePods(): Promise<boolean> {
    const [first] = this.#nodes;
    return this.areSeveral || first === undefined || (await first.hasPods());
  }

  /**
   * Samples all nodes. With `isPatient`, waits for all of them; otherwise a node that does not answer is shown with its
   * last sample while others answer. Rejects with the error of a single node of this machine, and with the signal's
   * reason.
   */
  async sample({isPatient}: {readonly isPatient: boolean}): Promise<SampledNodes> {
    const {context, signal} = this.#services;
    const sampling = Promise.all(
      this.#nodes.map(async (node) => {
        await node.sample();
      }),
    );
    if (isPatient || !this.areSeveral) await sampling;
    else {
      const patience = new AbortController();
      using either = anySignal(signal, patience.signal);
      const waiting = context.clock.sleep(PATIENCE_MS, either.signal);
      await Promise.race([sampling, waiting]).finally(() => {
        patience.abort();
      });
    }
    return {
      samples: this.#nodes.flatMap(({latest}) => latest ?? []),
      failures: this.#nodes.flatMap(({name: node, failure: error}) =>
        error === undefined ? [] : {node, error},
      ),
      nowMs: context.clock.now(),
    };
  }
}

/** Returns what failed in one line: of several nodes their names, and the reason of the first. */
export function failuresText(failures: readonly NodeFailure[]): string | undefined {
  const [first, ...others] = failures;
  if (first === undefined) return undefined;
  if (others.length === 0) return failureText(first);
  // A line may have no room for more than the names.
  return `${failures.map(({node = ''}) => node).join(', ')} failed: ${failureText(first)}`;
}

/** Returns what failed on a node in one line. */
export function failureText({node, error}: NodeFailure): string {
  return node === undefined || error instanceof RemoteError
    ? error.plainMessage
    : `node "${node}": ${error.plainMessage}`;
}
