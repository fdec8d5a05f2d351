import {containerId, podSandboxId} from '../../cri/ids.js';
import type {
  Connection,
  Container,
  ContainerFilter,
  ContainerState,
  FieldMask,
  ImageService,
  Init,
  RuntimeService,
} from '../../cri/index.js';
import type {TextPattern} from '../filters/go-regexp.js';
import {isFullId} from '../filters/full-id.js';
import {hasLabels, matchesPattern, sortNewestFirst} from '../filters/list-filters.js';
import {createImageFinder, createImageUserMatcher} from '../filters/image-matching.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../../cri/list-all.js';
import {createFinder, SANDBOX_KIND} from '../resolve/find-by-name.js';
import {podFromLabels, POD_LABEL_MASK, createPodLookup, type PodLookup} from '../pods/pod-labels.js';

/** Conditions for containers. Omitted conditions match all. */
export interface ContainerQuery {
  /** ID or ID prefix of the container. */
  readonly id?: string | undefined;
  /** ID or ID prefix of a sandbox, or name, `namespace/name` or UID of a pod. */
  readonly pod?: string | undefined;
  /** IDs of the sandboxes to search, if known. */
  readonly sandboxes?: ReadonlySet<string> | undefined;
  readonly state?: ContainerState | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: TextPattern | undefined;
  readonly namespace?: TextPattern | undefined;
  /** Name of an image, with any tag if it has none, or ID prefix of an image. */
  readonly image?: string | undefined;
  /** Maximum number of containers; the newest are returned. */
  readonly limit?: number | undefined;
  /** Fields needed of each container, besides those of the query; default all. */
  readonly fields?: FieldMask<Container> | undefined;
}

/**
 * Returns the containers that match, newest first. Calls ListContainers, ListPodSandbox if the query names a pod, and
 * ListImages if it names an image. All conditions are checked again, since runtimes support different filters.
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
  const podOf = query.namespace === undefined ? podFromLabels : await createPodLookup(runtime, all, signal);
  const matching = all.filter(
    (container) =>
      matchesQuery(container, query, podOf) &&
      (sandboxes?.has(container.podSandboxId) ?? true) &&
      image(container),
  );
  return sortNewestFirst(matching, query.limit);
}

/** Returns the runtime's filter. It accepts an ID prefix only if it is unique. */
function filterOf({id, pod, state, labels}: ContainerQuery): Init<ContainerFilter> {
  return {
    ...(id !== undefined && isFullId(id) ? {id: containerId(id)} : {}),
    ...(pod !== undefined && isFullId(pod) ? {podSandboxId: podSandboxId(pod)} : {}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
}

/** Returns the fields to decode. Matching an image needs most fields, so that all are decoded. */
function fieldsOf({fields, image, labels}: ContainerQuery): FieldMask<Container> | undefined {
  if (fields === undefined || image !== undefined) return undefined;
  return {
    ...fields,
    id: true,
    podSandboxId: true,
    metadata: true,
    state: true,
    labels: labels === undefined ? (fields.labels ?? POD_LABEL_MASK) : true,
    createdAt: true,
  };
}

function matchesQuery(
  container: Container,
  {id = '', state, labels, name, namespace}: ContainerQuery,
  podOf: PodLookup,
): boolean {
  return (
    container.metadata !== undefined &&
    container.id.startsWith(id) &&
    (state === undefined || container.state === state) &&
    hasLabels(container.labels, labels) &&
    matchesPattern(name, container.metadata.name) &&
    (namespace === undefined || matchesPattern(namespace, podOf(container)?.namespace ?? 'unknown'))
  );
}

/** Returns the IDs of the sandboxes to search, undefined for all. */
async function sandboxesOf(
  runtime: RuntimeService,
  {pod, sandboxes}: ContainerQuery,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  if (pod === undefined) return sandboxes;
  if (isFullId(pod)) return new Set([pod]);
  const named = createFinder(await listAllSandboxes(runtime, {}, signal), SANDBOX_KIND, false)(pod);
  return new Set(named.map(({id}) => id));
}

type Matcher = (container: Container) => boolean;

async function imageMatcher(
  images: ImageService,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Matcher> {
  return name === undefined ? () => true : createImageUserMatcher(name, await listAllImages(images, signal));
}

/**
 * Returns the first tag of each container's image by container ID, from one ListImages call. Containers of untagged
 * images are absent.
 */
export async function listImageTags(
  images: ImageService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const imageOf = createImageFinder(await listAllImages(images, signal));
  const tags = containers.map((container) => [container.id, imageOf(container)?.repoTags[0]] as const);
  return new Map(tags.filter((pair): pair is readonly [Container['id'], string] => pair[1] !== undefined));
}
