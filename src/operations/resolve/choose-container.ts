import {findClosestMatch} from '../../base/closest-match.js';
import {compare} from '../../base/compare.js';
import type {Container} from '../../cri/index.js';
import {NotFoundError} from './target.js';

/** Annotation of a pod that names the container for kubectl's commands. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Names of the containers in a Pod's spec, in its order. */
export interface ContainerLayout {
  readonly containers: readonly string[];
  readonly initContainers: readonly string[];
}

/** Pod and its containers in the runtime. */
export interface PodContainers {
  /** Name of the pod. */
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** All attempts of all containers of the pod's sandbox. */
  readonly containers: readonly Container[];
  /** Layout of the pod's spec; undefined if unknown. */
  readonly layout: ContainerLayout | undefined;
}

/** Container chosen for a pod. */
export interface ChosenContainer {
  readonly container: Container;
  /** Note for the user if the choice was not obvious, in kubectl's words. */
  readonly note: string | undefined;
}

/**
 * Returns the newest attempt of a pod's container: the named one, the one in the default-container annotation, or the
 * first of the spec. Without a spec, the running container created first, or the one created first. Throws
 * NotFoundError. Follows kubectl (podcmd.go FindOrDefaultContainerByName).
 */
export function chooseContainer(pod: PodContainers, name: string | undefined): ChosenContainer {
  const created = orderOfCreation(pod.containers);
  const {containers: regular, initContainers: init} = pod.layout ?? {containers: created, initContainers: []};
  const names = [...regular, ...init.map((each) => `${each} (init)`)];
  const requested = name ?? pod.annotations[DEFAULT_CONTAINER] ?? '';
  const chosen =
    requested !== ''
      ? requested
      : pod.layout === undefined
        ? firstRunning(pod.containers, created)
        : regular[0];
  if (chosen === undefined) throw new NotFoundError(`pod ${pod.name} does not have any containers`);
  const container = newestAttempt(pod.containers, chosen);
  if (container === undefined)
    throw missingContainerError(pod.name, chosen, {all: [...regular, ...init], names});
  const isObvious = requested !== '' || names.length === 1;
  return {
    container,
    note: isObvious ? undefined : `Defaulted container "${chosen}" out of: ${names.join(', ')}`,
  };
}

function missingContainerError(
  pod: string,
  chosen: string,
  {all, names}: {readonly all: readonly string[]; readonly names: readonly string[]},
): NotFoundError {
  if (all.includes(chosen))
    return new NotFoundError(`container "${chosen}" of pod ${pod} has not been created`);
  const closest = findClosestMatch(chosen, all);
  return new NotFoundError(`container ${chosen} is not valid for pod ${pod} out of: ${names.join(', ')}`, {
    hint: closest === undefined ? undefined : `did you mean "${closest}"?`,
  });
}

function nameOf({metadata}: Container): string {
  return metadata?.name ?? '';
}

/** Returns the names of containers in the order in which their oldest attempts were created. */
function orderOfCreation(containers: readonly Container[]): readonly string[] {
  const oldestFirst = containers.toSorted((a, b) => compare(a.createdAt, b.createdAt));
  return [...new Set(oldestFirst.map(nameOf))];
}

function firstRunning(containers: readonly Container[], names: readonly string[]): string | undefined {
  const running = new Set(containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(nameOf));
  return names.find((name) => running.has(name)) ?? names[0];
}

function newestAttempt(containers: readonly Container[], name: string): Container | undefined {
  return containers
    .filter((container) => nameOf(container) === name)
    .toSorted((a, b) => compare(b.createdAt, a.createdAt))[0];
}
