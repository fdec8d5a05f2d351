import {KcriError, UsageError} from '../../base/errors.js';
import {
  containerId,
  podSandboxId,
  type Connection,
  type Container,
  type Image,
  type ImageService,
  type PodSandbox,
  type RuntimeService,
} from '../../cri/index.js';
import {truncateDigest} from '../../format/truncate-id.js';
import {matchesPattern, sortNewestFirst, parseLabels} from '../../operations/filters/list-filters.js';
import {compileGoRegexp} from '../../operations/filters/go-regexp.js';
import {repoDigest, toNamedImage} from '../../operations/filters/image-matching.js';
import {sortImages} from '../../operations/images/list-images.js';
import {podNameOf, podNamespaceOf, type PodName} from '../../operations/pods/pod-labels.js';
import {
  containerQuery,
  sandboxQuery,
  type ContainerFilterValues,
  type SandboxFilterValues,
} from '../containers/filter-flags.js';

/**
 * Lists as in crictl, including faults: the runtime applies its filters before the other filters are validated, and
 * each layer adds its own context to errors.
 */

/** Adds crictl's context to an error, outermost first. */
class CrictlError extends KcriError {
  readonly code: string;

  constructor(doing: string, cause: KcriError) {
    super(`${doing}${cause.message}`, {cause});
    this.code = cause.code;
  }
}

/** Runs `work` and prefixes every KcriError with its context, including command-line errors. */
export async function withErrorContext<T>(doing: string, work: () => Promise<T>, mark = ': '): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KcriError ? new CrictlError(doing + mark, error) : error;
  }
}

/** Returns the containers that match the flags. Rejects with KcriError. */
export async function listCrictlContainers(
  {runtime, images}: Pick<Connection, 'runtime' | 'images'>,
  flags: ContainerFilterValues,
  signal: AbortSignal,
): Promise<readonly Container[]> {
  const {id = '', pod = '', image = ''} = flags;
  const {state, labels, limit} = await containerQuery({...flags, name: undefined, namespace: undefined});
  const filter = {
    ...(id === '' ? {} : {id: containerId(id)}),
    ...(pod === '' ? {} : {podSandboxId: podSandboxId(pod)}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
  const {containers} = await withErrorContext('call list containers RPC', () =>
    runtime.listContainers({filter}, {signal}),
  );
  const {name, namespace} = await containerQuery({...flags, label: undefined});
  const ofImage = await imageUsers(images, containers, {image, signal});
  const wanted = containers.filter(
    (container) =>
      ofImage(container) &&
      container.metadata !== undefined &&
      matchesPattern(name, container.metadata.name) &&
      matchesPattern(namespace, crictlPodOf(container).namespace),
  );
  return sortNewestFirst(wanted, limit);
}

/** Returns the pod name and namespace that `ps` shows, each resolved separately. */
export function crictlPodOf(container: Container): PodName {
  return {
    name: podNameOf(container) ?? 'unknown',
    namespace: podNamespaceOf(container) ?? 'unknown',
  };
}

/**
 * Returns a filter for the containers that use the image. As in crictl, resolves the image name in every container's
 * config and compares IDs.
 */
async function imageUsers(
  images: ImageService,
  containers: readonly Container[],
  {image, signal}: {readonly image: string; readonly signal: AbortSignal},
): Promise<(container: Container) => boolean> {
  if (image === '' || containers.length === 0) return () => true;
  const idOf = async (name: string): Promise<string | undefined> =>
    (await images.imageStatus({image: {image: name}}, {signal})).image?.id;
  return await withErrorContext('check image match', async () => {
    const wanted = await idOf(image);
    const users = new Set<string>();
    for (const name of new Set(containers.map((container) => container.image?.image ?? '')))
      if (wanted !== undefined && (await idOf(name)) === wanted) users.add(name);
    return (container) => users.has(container.image?.image ?? '');
  });
}

/**
 * Returns the tags that `ps -r` shows, by container ID. Looks up images one by one, by truncated IDs unless `full` is
 * set.
 */
export async function listCrictlTags(
  images: ImageService,
  containers: readonly Container[],
  {full, signal}: {readonly full: boolean; readonly signal: AbortSignal},
): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  for (const container of containers) {
    const name = container.image?.image ?? '';
    const asked = images.imageStatus({image: {image: full ? name : truncateDigest(name)}}, {signal});
    const {image} = await withErrorContext('failed to fetch repo image', () => asked, ' ');
    const [tag] = image?.repoTags ?? [];
    if (tag !== undefined) tags.set(container.id, tag);
  }
  return tags;
}

/** Returns the sandboxes that match the flags. Rejects with KcriError. */
export async function listCrictlSandboxes(
  runtime: RuntimeService,
  flags: SandboxFilterValues,
  signal: AbortSignal,
): Promise<readonly PodSandbox[]> {
  const {id = ''} = flags;
  const {state, labels, limit} = await sandboxQuery({...flags, name: undefined, namespace: undefined});
  const filter = {
    ...(id === '' ? {} : {id: podSandboxId(id)}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
  const {items} = await withErrorContext('call list sandboxes RPC', () =>
    runtime.listPodSandbox({filter}, {signal}),
  );
  const {name, namespace} = await sandboxQuery(flags);
  const wanted = items.filter(
    ({metadata}) =>
      metadata !== undefined &&
      matchesPattern(name, metadata.name) &&
      matchesPattern(namespace, metadata.namespace),
  );
  return sortNewestFirst(wanted, limit);
}

/** Validates the label filters, which crictl checks first. Throws UsageError, which does not state the reason. */
export function checkLabels({label}: {readonly label?: readonly string[] | undefined}): void {
  parseLabels(label);
}

/** Returns the images that match the name and the filters. The runtime matches the name. Rejects with KcriError. */
export async function listCrictlImages(
  images: ImageService,
  {
    name = '',
    filters = [],
  }: {readonly name?: string | undefined; readonly filters?: readonly string[] | undefined},
  signal: AbortSignal,
): Promise<readonly Image[]> {
  return await withErrorContext('listing images', async () => {
    const {images: all} = await images.listImages({filter: {image: {image: name}}}, {signal});
    const ordered = sortImages(all);
    if (ordered.length === 0) return ordered;
    return await withErrorContext('filter images', async () => {
      let remaining = ordered;
      for (const filter of filters) remaining = await filtered(remaining, filter);
      return remaining;
    });
  });
}

type Condition = (images: readonly Image[], value: string) => readonly Image[] | Promise<readonly Image[]>;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  before: (images, value) => rowsAbove(images.toReversed(), value).toReversed(),
  dangling: (images, value) => {
    if (!/^(true|false)$/.test(value)) return [];
    return images.filter((image) => (image.repoTags.length === 0) === (value === 'true'));
  },
  reference: async (images, value) => {
    const pattern = await compileGoRegexp(value);
    return images.filter((image) => {
      const {repo} = repoDigest(image);
      return pattern.test(repo) || repo === value;
    });
  },
  since: (images, value) => rowsAbove(images, value),
};

async function filtered(images: readonly Image[], filter: string): Promise<readonly Image[]> {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(filter) ?? [];
  const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
  if (condition === undefined) throw new UsageError(`unknown filter flag: ${filter}`);
  return await condition(images, value);
}

/** Returns the images above the given one in a list, or all images if the list does not contain it. */
function rowsAbove(images: readonly Image[], value: string): readonly Image[] {
  const [tagged, digested] = [value.includes(':'), value.includes('@')];
  const comparable = digested ? images.filter(({repoDigests}) => tagged && repoDigests.length > 0) : images;
  const end = comparable.findIndex((image) => {
    if (digested) return image.repoDigests[0]?.startsWith(value) === true;
    if (!tagged) return image.id.startsWith(value);
    const {repo, tag} = toNamedImage(image, image.repoTags[0]);
    return `${repo}:${tag}` === value;
  });
  return end === -1 ? comparable : comparable.slice(0, end);
}
