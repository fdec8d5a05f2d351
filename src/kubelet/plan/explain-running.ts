import {findContainer} from '../../api/pod-containers.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {Json} from '../../format/json.js';
import {NO_OBJECTS} from '../contract/api-objects.js';
import type {NodeFacts} from '../contract/node-facts.js';
import {diffRunningConfigs} from '../managers/kuberuntime/diff-running-configs.js';
import {explainConfig} from '../managers/kuberuntime/provenance/call-rules.js';
import {joinPath, type PathSegment} from '../managers/kuberuntime/provenance/provenance.js';
import {leavesOf, type ExplainedField} from '../managers/kuberuntime/provenance/rule-tree.js';
import {valueAt} from '../managers/kuberuntime/provenance/scope.js';
import {readRunningConfigs, type RunningConfigs} from '../managers/kuberuntime/running-config.js';
import type {PodRef} from '../contract/pod-ref.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import {targetOf} from './planned-changes.js';
import {hideEnvValues, hideSecretValues} from './shown-config.js';

/** Config of a running sandbox or container, and the inputs of its fields as far as they are known. */
export interface ExplainedConfig {
  /** `sandbox` or `container "web"`. */
  readonly target: string;
  readonly config: Json;
  readonly fields: readonly ExplainedField[];
  /** Reason why the config could not be compared with the manifest. */
  readonly unverified?: string;
}

/**
 * Explains the configs that the runtime received for a pod. `pod` is its manifest as of now, undefined if it is not known. A value
 * that the manifest and the node would not give now, and one that depends on an unknown manifest, is `unknown`. With an ID, only
 * the config of this sandbox or container is explained. Rejects with CriError.
 */
export async function explainRunningPod(
  {services, node}: NodeAndRuntime,
  {ref, pod, id}: {readonly ref: PodRef; readonly pod: Pod | undefined; readonly id?: string | undefined},
  signal: AbortSignal,
): Promise<readonly ExplainedConfig[]> {
  const running = await readRunningConfigs(services.runtime, ref, signal, id);
  return explainRunningConfigs(running, {ref, pod, node});
}

/** Explains configs; see explainRunningPod. */
export function explainRunningConfigs(
  running: RunningConfigs,
  {ref, pod, node}: {readonly ref: PodRef; readonly pod: Pod | undefined; readonly node: NodeFacts},
): readonly ExplainedConfig[] {
  const changes = new Map(
    (pod === undefined ? [] : diffRunningConfigs(pod, running, {node, objects: NO_OBJECTS})).map((diff) => [
      diff.target,
      diff.changes.map(({path}) => path),
    ]),
  );
  const explain = (config: Json, name?: string): ExplainedConfig => {
    const target = targetOf(name);
    if (pod === undefined) return {target, ...explainForeign(config, {ref, node, name})};
    const container = name === undefined ? undefined : findContainer(pod, name);
    const shown = name === undefined ? config : hideSecretValues(config, [pod], name);
    const explained = explainConfig(shown, {pod, node}, container);
    const [first, ...others] = changes.get(target) ?? [];
    if (first?.startsWith(NOT_COMPARED) === true)
      return {target, config: shown, fields: explained, unverified: first.slice(NOT_COMPARED.length, -1)};
    const differing = first === undefined ? [] : [first, ...others];
    return {target, config: shown, fields: explained.map((field) => verified(field, config, differing))};
  };
  return [
    ...(running.sandbox === undefined ? [] : [explain(running.sandbox)]),
    ...Array.from(running.containers, ([name, config]) => explain(config, name)),
  ];
}

/** Start of the path of a config that cannot be generated (diffRunningConfigs). */
const NOT_COMPARED = 'config (';

/** Returns a field whose inputs are unknown if the manifest would give it another value now. */
function verified(field: ExplainedField, config: Json, differing: readonly string[]): ExplainedField {
  const path = namedPath(config, field.path);
  const differs = differing.some(
    (each) => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`),
  );
  return differs
    ? {...field, text: `unknown: now it would have another value, of ${field.text}`, sources: []}
    : field;
}

/** Returns a path with the names of list members, as in differences of configs. */
function namedPath(config: Json, path: readonly PathSegment[]): string {
  return path.reduce<string>((text, segment, index) => {
    if (typeof segment !== 'number') {
      const key = joinPath([segment]);
      return text === '' || key.startsWith('[') ? `${text}${key}` : `${text}.${key}`;
    }
    const member = valueAt(config, path.slice(0, index + 1)) as Readonly<Record<string, string>> | undefined;
    return `${text}[${member?.['key'] ?? member?.['container_path'] ?? segment}]`;
  }, '');
}

/** Explains a config of a pod without a manifest, from what the config itself says about the pod. */
function explainForeign(
  config: Json,
  {ref, node, name}: {readonly ref: PodRef; readonly node: NodeFacts; readonly name: string | undefined},
): Pick<ExplainedConfig, 'config' | 'fields'> {
  const {labels = {}, annotations = {}} = config as Pick<Pod['metadata'], 'labels' | 'annotations'>;
  const container: Container | undefined = name === undefined ? undefined : {name, image: ''};
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...ref, ...(container === undefined && {labels, annotations})},
    spec: {containers: container === undefined ? [] : [container]},
  };
  const shown = name === undefined ? config : hideEnvValues(config);
  const known = new Map(
    explainConfig(shown, {pod, node}, container).map((field) => [joinPath(field.path), field]),
  );
  const fields = leavesOf(shown).map(({path, value}) => {
    const field = known.get(joinPath(path));
    return field?.sources.every(isKnown) === true ? field : {...UNKNOWN, path, value};
  });
  return {config: shown, fields};
}

const UNKNOWN = {
  text: 'unknown: it depends on a manifest or a kubelet configuration that is not known here',
  sources: [],
};

/** Reports whether an input is known without the manifest and the configuration of the kubelet. */
function isKnown({kind, name, value}: ExplainedField['sources'][number]): boolean {
  if (kind === 'manifest') return name.startsWith('metadata.') && value !== undefined;
  return kind === 'kubelet' || kind === 'run' ? name !== 'managers of the node' : false;
}
