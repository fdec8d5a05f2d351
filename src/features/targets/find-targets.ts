import {containersOf} from '../../api/pod-containers.js';
import {findClosestMatch} from '../../base/closest-match.js';
import {compare} from '../../base/compare.js';
import type {Container, ContainerId} from '../../cri/index.js';
import {findRecordsByName} from '../../kubelet/index.js';
import {
  ambiguousError,
  bothKindsError,
  createContainerKind,
  createFinder,
  toTarget,
  type ObjectKind,
} from '../../operations/resolve/find-by-name.js';
import {NotFoundError} from '../../operations/resolve/target.js';
import {findBySandboxId, withoutKind, type ListedPod} from '../pods/listed-pod.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {findWorkloadPods, workloadWithoutPodsError} from '../pods/workload-pods.js';

/** A pod as a command names it. */
export interface PodTarget {
  readonly kind: 'pod';
  readonly listed: ListedPod;
}

/** A container of a pod as a command names it. */
export interface ContainerTarget {
  readonly kind: 'container';
  readonly listed: ListedPod;
  readonly name: string;
  /** ID of the newest instance; undefined if none has been created. */
  readonly id: ContainerId | undefined;
  /** True if the ID was given, so that no other instance of the container is meant. */
  readonly isPinned: boolean;
}

/** Pod or container, whichever program manages it. */
export type LifecycleTarget = PodTarget | ContainerTarget;

/** Scope of the words. */
export interface TargetScope {
  /** Pod to which the words are limited, from `--pod`. */
  readonly pod?: string | undefined;
  /** Container of each named pod, from `--container`. */
  readonly container?: string | undefined;
}

/** Targets of a command, and the errors for words that name nothing. */
export interface FoundTargets {
  readonly targets: readonly LifecycleTarget[];
  readonly missing: readonly NotFoundError[];
}

/**
 * Finds pods and containers by their IDs, ID prefixes and names among the given pods: `pod`, `namespace/pod`, `pod/NAME`
 * and UIDs of pods; workloads such as `deployment/web` for all of their pods; `container`, `pod/container` and `namespace/pod/container`. A word that names both a pod and its only
 * container means the pod. Without words, all pods are targets. Throws AmbiguousError if a word matches several objects.
 */
export function findTargets(
  pods: readonly ListedPod[],
  words: readonly string[],
  {pod, container}: TargetScope,
): FoundTargets {
  const scope = pod === undefined ? pods : [requirePod(pods, pod)];
  const names = withoutKind(words, scope);
  if (names.length === 0) return {targets: scope.map(podTarget), missing: []};
  const search = new TargetSearch(scope, {containersOnly: pod !== undefined});
  const found: LifecycleTarget[] = [];
  const missing: NotFoundError[] = [];
  for (const word of names) {
    const ofWorkload = findWorkloadPods(scope, word);
    if (ofWorkload.length > 0) {
      found.push(
        ...ofWorkload.map((each) =>
          container === undefined ? podTarget(each) : containerOf(each, container),
        ),
      );
      continue;
    }
    const target = search.find(word, container);
    if (target === undefined) missing.push(search.missingError(word, container !== undefined));
    else found.push(target);
  }
  return {targets: withoutRepeats(found), missing};
}

/** Returns the name of a target: `NAMESPACE/POD`, with `/CONTAINER` for a container. */
export function targetTitle(target: LifecycleTarget): string {
  const pod = formatPodTitle(target.listed);
  return target.kind === 'pod' ? pod : `${pod}/${target.name}`;
}

/** Returns the newest instance of a container by name, also one that has not been created. Throws NotFoundError. */
export function containerOf(listed: ListedPod, name: string): ContainerTarget {
  const newest = listed.inRuntime?.containers.find(({metadata}) => metadata?.name === name);
  const names = containerNames(listed);
  if (newest === undefined && !names.includes(name)) {
    const closest = findClosestMatch(name, names);
    throw new NotFoundError(
      `container "${name}" is not valid for pod "${formatPodTitle(listed)}" out of: ${names.join(', ')}`,
      {hint: closest === undefined ? undefined : `did you mean "${closest}"?`},
    );
  }
  return {kind: 'container', listed, name, id: newest?.id, isPinned: false};
}

/** Returns the names of all containers of a pod: those of its spec, if it is known, and those of the runtime. */
function containerNames({record, ofKubelet, inRuntime}: ListedPod): readonly string[] {
  const pod = record?.pod ?? ofKubelet;
  const created = (inRuntime?.containers ?? []).map(({metadata}) => metadata?.name ?? '').toReversed();
  return [...new Set([...(pod === undefined ? [] : containersOf(pod).map(({name}) => name)), ...created])];
}

function podTarget(listed: ListedPod): PodTarget {
  return {kind: 'pod', listed};
}

function requirePod(pods: readonly ListedPod[], word: string): ListedPod {
  const search = new TargetSearch(pods, {containersOnly: false});
  const target = search.findPod(word);
  if (target === undefined) throw search.missingError(word, true);
  return target.listed;
}

function withoutRepeats(targets: readonly LifecycleTarget[]): readonly LifecycleTarget[] {
  const known = new Map(
    targets.map((target) => [`${target.kind} ${target.listed.uid} ${targetTitle(target)}`, target]),
  );
  return [...known.values()];
}

/** Finds pods and containers by words. */
class TargetSearch {
  readonly #pods: readonly ListedPod[];
  readonly #containersOnly: boolean;
  readonly #podOf = new Map<string, ListedPod>();
  readonly #kind: ObjectKind<Container>;
  readonly #findContainers: (word: string) => readonly Container[];

  constructor(pods: readonly ListedPod[], {containersOnly}: {readonly containersOnly: boolean}) {
    this.#pods = pods;
    this.#containersOnly = containersOnly;
    const containers = pods.flatMap((pod) => pod.inRuntime?.containers ?? []);
    for (const pod of pods) for (const {id} of pod.inRuntime?.containers ?? []) this.#podOf.set(id, pod);
    this.#kind = createContainerKind(({id}) => this.#podOf.get(id));
    this.#findContainers = createFinder(containers, this.#kind, true);
  }

  /** Returns the pod or container of a word, or the named container of its pod, undefined if there is none. Throws AmbiguousError. */
  find(word: string, name?: string): LifecycleTarget | undefined {
    if (name === undefined) return this.#findAny(word);
    const pod = this.findPod(word);
    return pod === undefined ? undefined : containerOf(pod.listed, name);
  }

  #findAny(word: string): LifecycleTarget | undefined {
    const pod = this.#containersOnly ? undefined : this.findPod(word);
    const found = this.#findContainers(word);
    const [container] = found;
    const listed = container === undefined ? undefined : this.#podOf.get(container.id);
    if (container === undefined || listed === undefined) return pod ?? this.#notCreated(word);
    if (pod !== undefined) {
      if (!isOnlyContainer(pod.listed, found))
        throw bothKindsError(word, formatPodTitle(pod.listed), found, this.#kind);
      return pod;
    }
    toTarget(word, found, this.#kind); // throws if several match
    const name = container.metadata?.name ?? '';
    const isPinned = container.id.startsWith(word) && !this.#kind.names(container).includes(word);
    return {kind: 'container', listed, name, id: container.id, isPinned};
  }

  /** Returns the pod of a word, undefined if there is none. Throws AmbiguousError. */
  findPod(word: string): PodTarget | undefined {
    const named = findRecordsByName(this.#pods, word);
    const found = named.length > 0 ? named : findBySandboxId(this.#pods, word);
    const titles = new Set(found.map((listed) => formatPodTitle(listed)));
    if (titles.size > 1) throw ambiguousError(word, `${titles.size} pods`, [...titles]);
    const [newest] = found.toSorted(byAge);
    return newest === undefined ? undefined : podTarget(newest);
  }

  /** Returns a container of a spec that has not been created: `pod/container` or `namespace/pod/container`. */
  #notCreated(word: string): ContainerTarget | undefined {
    const slash = word.lastIndexOf('/');
    const name = word.slice(slash + 1);
    const pods = this.#containersOnly
      ? this.#pods
      : slash < 0
        ? []
        : [this.findPod(word.slice(0, slash))?.listed];
    const [pod] = pods;
    return pod !== undefined && containerNames(pod).includes(name) ? containerOf(pod, name) : undefined;
  }

  missingError(word: string, podsOnly: boolean): NotFoundError {
    const ofWorkload = workloadWithoutPodsError(word);
    if (ofWorkload !== undefined) return ofWorkload;
    const pods = this.#pods.flatMap((pod) => [pod.name, formatPodTitle(pod)]);
    const containers = [...this.#podOf].length === 0 ? [] : this.#pods.flatMap((pod) => containerNames(pod));
    const closest = findClosestMatch(word, podsOnly ? pods : [...pods, ...containers]);
    return new NotFoundError(podsOnly ? `pod "${word}" not found` : `no pod or container "${word}"`, {
      hint:
        closest === undefined
          ? `run "kcri get pods"${podsOnly ? '' : ' or "kcri ps -a"'} to list them`
          : `did you mean "${closest}"?`,
    });
  }
}

/** Orders pods of one name: the one that kcri has a record of, then the newest. */
function byAge(a: ListedPod, b: ListedPod): number {
  const createdAt = ({inRuntime}: ListedPod): bigint => inRuntime?.sandboxes[0].createdAt ?? 0n;
  return (
    Number(b.record !== undefined) - Number(a.record !== undefined) || compare(createdAt(b), createdAt(a))
  );
}

/** Reports whether the containers are no others than the only one of the pod. */
function isOnlyContainer(listed: ListedPod, containers: readonly Container[]): boolean {
  const own = new Set<string>((listed.inRuntime?.containers ?? []).map(({id}) => id));
  return containerNames(listed).length === 1 && containers.every(({id}) => own.has(id));
}
