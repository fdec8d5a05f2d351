import {hostname} from 'node:os';
import {containersOf} from '../../../api/pod-containers.js';
import {KcriError} from '../../../base/errors.js';
import type {CommandContext, SignalContext, EnvironmentContext} from '../../../cli/command/contexts.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import {TopActions} from '../../top/actions/top-actions.js';
import type {NodeSample} from '../../top/metrics/top-node.js';
import {
  failureText,
  type NodeFailure,
  type SampledNodes,
  type TopNodes,
} from '../../top/metrics/top-nodes.js';
import {podKeyOf, type TopGroup, type TopItem} from '../../top/model/top-item.js';
import {shortCause} from '../../why/short-cause.js';
import type {UiHistory, UiNode, UiPod} from '../protocol.js';
import {NodeGauge} from './node-gauge.js';
import {PodGroups} from './pod-groups.js';
import {PodUsages} from './pod-usages.js';
import {UsageRecorder} from './usage-recorder.js';
import {isFine, podTone, uiPod} from './ui-rows.js';

/** A pod, or one of its containers, to read or to change. */
export interface UiTarget {
  readonly item: TopItem;
  readonly shown: ShownPod;
  /** The container of the row, or all containers of the pod. */
  readonly containers: readonly TopItem[];
  readonly actions: TopActions;
  /** Services with connections to the node. */
  readonly services: CommandContext;
}

/** All nodes and pods at one point in time. */
export interface UiSnapshot {
  readonly nowMs: number;
  /** The nodes with their last measurements, which may be newer than the pods. */
  readonly nodes: readonly UiNode[];
  /** Pods in JSON, without their usage, by key. */
  readonly podTexts: ReadonlyMap<string, string>;
  /** Usage of pods in JSON, by the same keys. */
  readonly usageTexts: ReadonlyMap<string, string>;
  /** Pods and containers by key. */
  readonly targets: ReadonlyMap<string, UiTarget>;
  /** Services with connections to the nodes, by key; of nodes that answered once. */
  readonly nodeServices: ReadonlyMap<string, CommandContext>;
}

/** Returns the key of a node. */
export const nodeKey = (name: string): string => `node ${name}`;

/** Samples the nodes for the page. */
export class UiSampler {
  readonly #services: EnvironmentContext & SignalContext;
  readonly #nodes: TopNodes;
  readonly #recorder = new UsageRecorder();
  readonly #groups = new PodGroups();
  readonly #usages = new PodUsages();
  /** JSON of pods by their rows; of those that need no explanation, which depends on the time. */
  readonly #texts = new WeakMap<TopGroup, string>();
  readonly #hostname = hostname();
  #onMeasured: () => void = () => undefined;
  /** Actions and gauges by the services with connections to a node. */
  readonly #actions = new WeakMap<CommandContext, TopActions>();
  readonly #gauges = new WeakMap<CommandContext, NodeGauge>();
  /** The last samples, for a time at which the only node cannot be sampled. */
  #samples: readonly NodeSample[] = [];

  constructor(services: EnvironmentContext & SignalContext, nodes: TopNodes) {
    this.#services = services;
    this.#nodes = nodes;
  }

  /** Sets what is called when a node was measured. */
  watch(onMeasured: () => void): void {
    this.#onMeasured = onMeasured;
  }

  /** Recent usage of all rows. */
  get history(): Readonly<Record<string, UiHistory>> {
    return this.#recorder.rows;
  }

  /** Takes a sample. A node that fails has its last pods and an error. Rejects with the reason of the run's signal. */
  async sample(): Promise<UiSnapshot> {
    this.#measureNodes();
    const {samples, failures, nowMs} = await this.#sampleNodes();
    const groups = this.#groups.compute(samples);
    const usages = this.#usages.compute(samples, groups);
    const describe = (): UiSnapshot['nodes'] => this.#describeNodes(samples, failures);
    this.#recorder.record({groups, usages, nodes: describe(), nowMs});
    let targets: UiSnapshot['targets'] | undefined;
    const listTargets = (): UiSnapshot['targets'] => this.#targets(samples, groups);
    return {
      nowMs,
      get nodes() {
        return describe();
      },
      podTexts: this.#podTexts(samples, groups, nowMs),
      usageTexts: new Map(Array.from(usages, ([key, {text}]) => [key, text])),
      // Most samples answer no request.
      get targets() {
        return (targets ??= listTargets());
      },
      nodeServices: new Map(samples.map(({node, services}) => [nodeKey(this.#nameOf(node)), services])),
    };
  }

  async #sampleNodes(): Promise<SampledNodes> {
    try {
      const sampled = await this.#nodes.sample({isPatient: false});
      this.#samples = sampled.samples;
      return sampled;
    } catch (error) {
      const {context, signal} = this.#services;
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      return {
        samples: this.#samples.map((sample) => ({...sample, isStale: true})),
        failures: [{node: undefined, error}],
        nowMs: context.clock.now(),
      };
    }
  }

  #nameOf(node: string | undefined): string {
    return node ?? this.#nodes.remoteName ?? this.#hostname;
  }

  #describeNodes(samples: readonly NodeSample[], failures: readonly NodeFailure[]): readonly UiNode[] {
    return this.#nodes.names.map((node) => {
      const name = this.#nameOf(node);
      const sample = samples.find((each) => each.node === node);
      const failure = failures.find((each) => each.node === node);
      return {
        key: nodeKey(name),
        name: escapeToLine(name),
        ...(failure !== undefined && {failure: escapeToLine(failureText(failure))}),
        ...(sample !== undefined && this.#gaugeOf(sample).latest),
      };
    });
  }

  /** Begins to measure the nodes that answer: a slow one delays no sample. */
  #measureNodes(): void {
    for (const sample of this.#samples) if (!sample.isStale) this.#gaugeOf(sample).start();
  }

  /** Returns the gauge of a node. A new one begins to measure. */
  #gaugeOf({services}: NodeSample): NodeGauge {
    const known = this.#gauges.get(services);
    if (known !== undefined) return known;
    const gauge = new NodeGauge(services, () => {
      this.#onMeasured();
    });
    this.#gauges.set(services, gauge);
    gauge.start();
    return gauge;
  }

  #podTexts(
    samples: readonly NodeSample[],
    groups: readonly TopGroup[],
    nowMs: number,
  ): ReadonlyMap<string, string> {
    let shown: ReadonlyMap<string, ShownPod> | undefined;
    return new Map(
      groups.map((group): readonly [string, string] => {
        const {key, podKey, node} = group.pod;
        const known = this.#texts.get(group);
        if (known !== undefined) return [key, known];
        shown ??= shownPods(samples);
        const row = podOf(group, shown.get(podKey), {node: this.#nameOf(node), nowMs});
        const text = JSON.stringify(row);
        if (isFine(row.tone)) this.#texts.set(group, text);
        return [key, text];
      }),
    );
  }

  #targets(samples: readonly NodeSample[], groups: readonly TopGroup[]): ReadonlyMap<string, UiTarget> {
    const pods = new Map(
      samples.flatMap(({node, services, shown}) => {
        const actions = this.#actions.get(services) ?? new TopActions(services);
        this.#actions.set(services, actions);
        return shown.map((each) => [podKeyOf(node, each.listed.uid), {shown: each, services, actions}]);
      }),
    );
    return new Map(
      groups.flatMap(({pod, containers}) => {
        const found = pods.get(pod.podKey);
        if (found === undefined) return [];
        const rows = [{item: pod, containers}, ...containers.map((item) => ({item, containers: [item]}))];
        return rows.map((row) => [row.item.key, {...row, ...found}] as const);
      }),
    );
  }
}

/** Returns the pods of all nodes by their identity. */
function shownPods(samples: readonly NodeSample[]): ReadonlyMap<string, ShownPod> {
  return new Map(
    samples.flatMap(({node, shown}) => shown.map((each) => [podKeyOf(node, each.listed.uid), each] as const)),
  );
}

function podOf(
  group: TopGroup,
  shown: ShownPod | undefined,
  {node, nowMs}: {readonly node: string; readonly nowMs: number},
): UiPod {
  const images = new Map(
    shown === undefined ? [] : containersOf(shown.pod).map(({name, image}) => [name, image]),
  );
  const isExplained = shown !== undefined && !isFine(podTone(group.pod));
  const why = isExplained ? shortCause(shown, nowMs) : '<none>';
  return uiPod(group, {
    node: escapeToLine(node),
    image: (container) => images.get(container) ?? '',
    ...(why !== '<none>' && {why}),
  });
}
