import {containerId, podSandboxId} from '../cri/ids.js';
import type {
  Connection,
  Container,
  ContainerFilter,
  ContainerState,
  FieldMask,
  Image,
  ImageService,
  Init,
  RuntimeService,
} from '../cri/index.js';
import {hasLabels, isFullId, matches, newestFirst} from './filters.js';
import {goesBy, imageFinder, namesOf, usesImage} from './image-names.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../cri/list-all.js';
import {finder, SANDBOX_KIND} from './look-up.js';
import {labelledPodOf, POD_LABELS, podsOf, type PodOf} from './pod-labels.js';

/** Which containers are wanted; what is left out does not matter. */
export interface ContainerQuery {
  /** An id or the beginning of one. */
  readonly id?: string | undefined;
  /** A sandbox's id or the beginning of one, or a pod's name, `namespace/name` or UID. */
  readonly pod?: string | undefined;
  /** The sandboxes to look in, when they are known. */
  readonly sandboxes?: ReadonlySet<string> | undefined;
  readonly state?: ContainerState | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: RegExp | undefined;
  readonly namespace?: RegExp | undefined;
  /** An image's name, with any tag unless it has one, or the beginning of its id. */
  readonly image?: string | undefined;
  /** Only the newest so many. */
  readonly limit?: number | undefined;
  /** What is wanted of each, besides what the query itself looks at; all unless given. */
  readonly fields?: FieldMask<Container> | undefined;
}

/**
 * The containers that match, newest first. One ListContainers; one ListPodSandbox more when the query names a
 * pod, one ListImages when it names an image. Every condition is checked here as well, since runtimes differ in
 * which ones they look at.
 */
export async function listContainers(
  {runtime, images}: Pick<Connection, 'runtime' | 'images'>,
  query: ContainerQuery,
  signal: AbortSignal,
): Promise<readonly Container[]> {
  const [all, sandboxes, image] = await Promise.all([
    listAllContainers(runtime, filterOf(query), signal, fieldsOf(query)),
    sandboxesOf(runtime, query, signal),
    imageMatcher(images, query.image, signal),
  ]);
  const podOf = query.namespace === undefined ? labelledPodOf : await podsOf(runtime, all, signal);
  const wanted = all.filter(
    (container) =>
      matchesQuery(container, query, podOf) &&
      (sandboxes?.has(container.podSandboxId) ?? true) &&
      image(container),
  );
  return newestFirst(wanted, query.limit);
}

/** What the runtime is asked for: it takes the beginning of an id only when that is unique. */
function filterOf({id, pod, state, labels}: ContainerQuery): Init<ContainerFilter> {
  return {
    ...(id !== undefined && isFullId(id) ? {id: containerId(id)} : {}),
    ...(pod !== undefined && isFullId(pod) ? {podSandboxId: podSandboxId(pod)} : {}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
}

/** What an image is found by is most of a container. */
function fieldsOf({fields, image, labels}: ContainerQuery): FieldMask<Container> | undefined {
  if (fields === undefined || image !== undefined) return undefined;
  return {
    ...fields,
    id: true,
    podSandboxId: true,
    metadata: true,
    state: true,
    labels: labels === undefined ? (fields.labels ?? POD_LABELS) : true,
    createdAt: true,
  };
}

function matchesQuery(
  container: Container,
  {id = '', state, labels, name, namespace}: ContainerQuery,
  podOf: PodOf,
): boolean {
  return (
    container.metadata !== undefined &&
    container.id.startsWith(id) &&
    (state === undefined || container.state === state) &&
    hasLabels(container.labels, labels) &&
    matches(name, container.metadata.name) &&
    (namespace === undefined || matches(namespace, podOf(container)?.namespace ?? 'unknown'))
  );
}

/** The ids of the sandboxes to look in; undefined = all. */
async function sandboxesOf(
  runtime: RuntimeService,
  {pod, sandboxes}: ContainerQuery,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  if (pod === undefined) return sandboxes;
  if (isFullId(pod)) return new Set([pod]);
  const named = finder(await listAllSandboxes(runtime, {}, signal), SANDBOX_KIND, false)(pod);
  return new Set(named.map(({id}) => id));
}

type Matcher = (container: Container) => boolean;

async function imageMatcher(
  images: ImageService,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<Matcher> {
  return wanted === undefined ? () => true : usersOf(wanted, await listAllImages(images, signal));
}

/** Tells which containers were made of the image that a name means. */
export function usersOf(wanted: string, images: readonly Image[]): Matcher {
  const names = new Set(images.filter((image) => goesBy(image, wanted)).flatMap(namesOf));
  return (container) => usesImage(container, wanted, names);
}

/** The first tag of each container's image by the container's id, from one ListImages. Untagged ones are absent. */
export async function imageTags(
  images: ImageService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const imageOf = imageFinder(await listAllImages(images, signal));
  const tags = containers.map((container) => [container.id, imageOf(container)?.repoTags[0]] as const);
  return new Map(tags.filter((pair): pair is readonly [Container['id'], string] => pair[1] !== undefined));
}
