import {
  containerId,
  podSandboxId,
  type Connection,
  type Container,
  type ContainerState,
  type Image,
  type ImageService,
} from '../cri/index.js';
import {isIdPrefix, matches, newestFirst} from './filters.js';
import {podNameOf, podNamespaceOf} from './pod-labels.js';

/** Which containers are wanted; what is left out does not matter. */
export interface ContainerQuery {
  /** An id or the beginning of one. */
  readonly id?: string | undefined;
  /** A sandbox's id or the beginning of one, or a pod's name. */
  readonly pod?: string | undefined;
  readonly state?: ContainerState | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: RegExp | undefined;
  readonly namespace?: RegExp | undefined;
  /** An image's name or id. */
  readonly image?: string | undefined;
  /** Only the newest so many. */
  readonly limit?: number | undefined;
}

/**
 * The containers that match, newest first. One ListContainers; one ImageStatus more when the query names an
 * image. An image that isn't there matches nothing.
 */
export async function listContainers(
  {runtime, images}: Pick<Connection, 'runtime' | 'images'>,
  query: ContainerQuery,
  signal: AbortSignal,
): Promise<readonly Container[]> {
  const image = query.image === undefined ? undefined : await imageNames(images, query.image, signal);
  const {containers} = await runtime.listContainers({filter: filterOf(query)}, {signal});
  const wanted = containers.filter(
    (container) => matchesQuery(container, query) && (image === undefined || usesImage(container, image)),
  );
  return newestFirst(wanted, query.limit);
}

function filterOf({id, pod, state, labels}: ContainerQuery) {
  return {
    ...(id === undefined ? {} : {id: containerId(id)}),
    ...(pod !== undefined && isIdPrefix(pod) ? {podSandboxId: podSandboxId(pod)} : {}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
}

function matchesQuery(container: Container, {pod, name, namespace}: ContainerQuery): boolean {
  return (
    container.metadata !== undefined &&
    (pod === undefined || isIdPrefix(pod) || podNameOf(container) === pod) &&
    matches(name, container.metadata.name) &&
    matches(namespace, podNamespaceOf(container) ?? 'unknown')
  );
}

/** Everything that an image is called by; empty when it isn't there. */
async function imageNames(
  images: ImageService,
  image: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const {image: found} = await images.imageStatus({image: {image}}, {signal});
  return new Set(found === undefined ? [] : namesOf(found));
}

/** Everything that an image is called by. */
export function namesOf({id, repoTags, repoDigests}: Image): readonly string[] {
  return [id, ...repoTags, ...repoDigests];
}

function usesImage(container: Container, names: ReadonlySet<string>): boolean {
  return imageKeys(container).some((key) => names.has(key));
}

/** What a container says about its image; which of these a runtime fills differs. */
export function imageKeys({imageId, imageRef, image}: Container): readonly string[] {
  return [imageId, imageRef, image?.image ?? ''].filter((key) => key !== '');
}

/** The first tag of each container's image by the container's id, from one ListImages. Untagged ones are absent. */
export async function imageTags(
  images: ImageService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const {images: all} = await images.listImages({}, {signal});
  const tags = new Map(
    all.flatMap((image) => namesOf(image).map((name) => [name, image.repoTags[0]] as const)),
  );
  const pairs = containers.map(
    (container) =>
      [
        container.id,
        imageKeys(container)
          .map((key) => tags.get(key))
          .find(Boolean),
      ] as const,
  );
  return new Map(pairs.filter((pair): pair is readonly [Container['id'], string] => pair[1] !== undefined));
}
