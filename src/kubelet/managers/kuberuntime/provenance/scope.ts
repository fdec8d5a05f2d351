import {applyPodDefaults} from '../../../../api/defaults/pod-defaults.js';
import {omit} from '../../../../base/omit.js';
import {allContainersOf} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {Json} from '../../../../format/json.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {Grant} from '../../../contract/node-manager.js';
import {because, joinPath, named, type Named, type PathSegment, type Provenance} from './provenance.js';

/** Facts from which a call was made. */
export interface ExplainedFacts {
  readonly pod: Pod;
  readonly node: NodeFacts;
  readonly objects?: ApiObjects | undefined;
  /** What the managers of the node give the container. */
  readonly granted?: readonly Grant[];
}

/** Lists of containers in a Pod spec. */
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Names the inputs of the calls for a pod. */
export class PodScope {
  readonly pod: Pod;
  readonly node: NodeFacts;

  constructor({pod, node}: ExplainedFacts) {
    this.pod = pod;
    this.node = node;
  }

  /** Returns a field of the Pod. */
  field(...path: readonly PathSegment[]): Named {
    return manifestField(this.pod, path, joinPath(path));
  }

  /** Returns a constant or fixed rule of the kubelet, by its text. */
  rule(text: string): Named {
    return {source: {kind: 'kubelet', name: text}, text};
  }

  /** Returns a fact that only this run of the pod decides. */
  run(name: string, value?: Json): Named {
    return named({kind: 'run', name, ...(value !== undefined && {value})});
  }

  /** Returns a fact about the machine or its runtime. */
  fact(name: string, value?: Json): Named {
    return named({kind: 'node', name, ...(value !== undefined && {value})});
  }

  /** Returns a field of the kubelet's configuration. */
  setting(name: string, value?: Json): Named {
    return named({kind: 'configuration', name, ...(value !== undefined && {value})});
  }

  /** Returns a field of every container and its value, where it is set. */
  ofContainers(...path: readonly PathSegment[]): readonly Named[] {
    return LISTS.flatMap((list) =>
      (this.pod.spec[list] ?? []).flatMap((container: Pick<Container, 'name'>, index) => {
        const found = manifestField(this.pod, ['spec', list, index, ...path], container.name);
        return found.source.value === undefined ? [] : [found];
      }),
    );
  }

  /** Returns fields of all containers as one input. */
  everyContainer(path: string, text: string): readonly Named[] {
    const [first, ...others] = (['containers', 'initContainers'] as const).filter(
      (list) => (this.pod.spec[list]?.length ?? 0) > 0,
    );
    const of = (list: string): Named['source'] => ({kind: 'manifest', name: `spec.${list}[*].${path}`});
    return [
      {source: of(first ?? 'containers'), text},
      ...others.map((list) => ({source: of(list), text: 'and of the init containers'})),
    ];
  }

  /** Describes the pod's namespace, name and UID. */
  identity(): Provenance {
    const {pod} = this;
    return because`${this.field('metadata', 'namespace')}, ${this.field('metadata', 'name')} and ${named(
      {kind: 'manifest', name: 'metadata.uid', value: pod.metadata.uid ?? ''},
      'uid',
    )}`;
  }
}

/** Names the inputs of the calls for a container. */
export class ContainerScope extends PodScope {
  readonly container: Container;
  readonly objects: ApiObjects | undefined;
  readonly granted: readonly Grant[];
  readonly #path: readonly PathSegment[];

  constructor(facts: ExplainedFacts, container: Container) {
    super(facts);
    this.container = container;
    this.objects = facts.objects;
    this.granted = facts.granted ?? [];
    this.#path = LISTS.flatMap((list) => {
      const index = (this.pod.spec[list] ?? []).findIndex(({name}) => name === container.name);
      return index === -1 ? [] : [['spec', list, index] as const];
    })[0] ?? ['spec', 'containers', 0];
  }

  /** Returns a field of the container, which the text names without the path of the container. */
  own(...path: readonly PathSegment[]): Named {
    return manifestField(this.pod, [...this.#path, ...path], joinPath(path));
  }

  /** Returns what the managers of the node give the container; what one of them gives, if it is named. */
  ofManagers(manager?: string): Named {
    const texts = this.granted
      .filter((grant) => manager === undefined || grant.manager === manager)
      .map(({text}) => text);
    const text = texts.length === 0 ? 'managers of the node' : texts.join(', ');
    return {source: {kind: 'run', name: 'managers of the node', value: texts}, text};
  }
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: readonly PathSegment[]): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? (value as Readonly<Record<PathSegment, unknown>>)[segment]
        : undefined,
    root,
  );
}

function manifestField(pod: Pod, path: readonly PathSegment[], text: string): Named {
  const name = joinPath(path);
  const value = valueAt(pod, path) as Json | undefined;
  if (value === undefined) return {source: {kind: 'manifest', name}, text: `${text} not set`};
  return named({kind: isDefault(pod, path, value) ? 'default' : 'manifest', name, value}, text);
}

/** Pods that are reduced to one container, with API defaults for what they lack. */
const known = new WeakMap<Pod, Map<string, boolean>>();

/** Reports whether the API's defaults would give the field the same value if the manifest did not have it. */
function isDefault(pod: Pod, path: readonly PathSegment[], value: Json): boolean {
  if (path[0] !== 'spec') return false;
  const ofPod = known.get(pod) ?? new Map<string, boolean>();
  known.set(pod, ofPod);
  const name = joinPath(path);
  let result = ofPod.get(name);
  if (result === undefined) ofPod.set(name, (result = computeIsDefault(pod, path, value)));
  return result;
}

function computeIsDefault(pod: Pod, path: readonly PathSegment[], value: Json): boolean {
  const [reduced, at] = withOneContainer(pod, path);
  const bare = without(reduced, at) as Pod;
  try {
    return JSON.stringify(valueAt(applyPodDefaults(bare), at)) === JSON.stringify(value);
  } catch (error) {
    // A field that the defaults depend on has none itself.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Returns a pod with only the container of the path, or with one container: defaults do not depend on the others. */
function withOneContainer(pod: Pod, path: readonly PathSegment[]): readonly [Pod, readonly PathSegment[]] {
  const [, list, index, ...rest] = path;
  const {containers} = pod.spec;
  const spec = omit(pod.spec, ...LISTS);
  if (typeof index === 'number' && LISTS.some((name) => name === list)) {
    const container = allContainersOf({
      spec: {...spec, containers: [], [String(list)]: pod.spec[list as 'containers']},
    })[index];
    return [
      {
        ...pod,
        spec: {
          ...spec,
          containers: [],
          [String(list)]: container === undefined ? [] : [container],
        },
      },
      ['spec', String(list), 0, ...rest],
    ];
  }
  return [{...pod, spec: {...spec, containers: containers.slice(0, 1)}}, path];
}

/** Returns a copy of a value without what is at the path. */
function without(root: unknown, [segment, ...rest]: readonly PathSegment[]): unknown {
  if (segment === undefined || typeof root !== 'object' || root === null) return root;
  if (Array.isArray(root)) {
    return root.flatMap((item: unknown, index) => {
      if (index !== segment) return [item];
      return rest.length === 0 ? [] : [without(item, rest)];
    });
  }
  const {[segment]: value, ...others} = root as Readonly<Record<PathSegment, unknown>>;
  return rest.length === 0 || value === undefined ? others : {...root, [segment]: without(value, rest)};
}
