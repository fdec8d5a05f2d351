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
import {truncateDigest} from '../../format/id.js';
import {matches, newestFirst, parseLabels} from '../../operations/filters.js';
import {goRegexp} from '../../operations/go-regexp.js';
import {repoDigest, underName} from '../../operations/image-names.js';
import {orderImages} from '../../operations/images.js';
import {podNameOf, podNamespaceOf, type PodName} from '../../operations/pod-labels.js';
import {
  containerQuery,
  sandboxQuery,
  type ContainerFilterValues,
  type SandboxFilterValues,
} from '../filter-flags.js';

/**
 * The lists as crictl makes them, faults included: it leaves filters to the runtime, finds out only then what is
 * wrong with the others, and says in each layer of its own what it was doing.
 */

/** What went wrong and what crictl was doing, outermost first. */
class CrictlError extends KcriError {
  readonly code: string;

  constructor(doing: string, cause: KcriError) {
    super(`${doing}${cause.message}`, {cause});
    this.code = cause.code;
  }
}

/** Does something, with what is being done in front of every error, also of those of the command line. */
export async function saying<T>(doing: string, work: () => Promise<T>, mark = ': '): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KcriError ? new CrictlError(doing + mark, error) : error;
  }
}

/** The containers that flags choose. Throws KcriError. */
export async function crictlContainers(
  {runtime, images}: Pick<Connection, 'runtime' | 'images'>,
  flags: ContainerFilterValues,
  signal: AbortSignal,
): Promise<readonly Container[]> {
  const {id = '', pod = '', image = ''} = flags;
  const {state, labels, limit} = containerQuery({...flags, name: undefined, namespace: undefined});
  const filter = {
    ...(id === '' ? {} : {id: containerId(id)}),
    ...(pod === '' ? {} : {podSandboxId: podSandboxId(pod)}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
  const {containers} = await saying('call list containers RPC', () =>
    runtime.listContainers({filter}, {signal}),
  );
  const {name, namespace} = containerQuery({...flags, label: undefined});
  const ofImage = await imageUsers(images, containers, {image, signal});
  const wanted = containers.filter(
    (container) =>
      ofImage(container) &&
      container.metadata !== undefined &&
      matches(name, container.metadata.name) &&
      matches(namespace, crictlPodOf(container).namespace),
  );
  return newestFirst(wanted, limit);
}

/** The pod as `ps` shows it, each part by itself. */
export function crictlPodOf(container: Container): PodName {
  return {
    name: podNameOf(container) ?? 'unknown',
    namespace: podNamespaceOf(container) ?? 'unknown',
  };
}

/** crictl looks up every container's image by the name in its config, and compares ids. */
async function imageUsers(
  images: ImageService,
  containers: readonly Container[],
  {image, signal}: {readonly image: string; readonly signal: AbortSignal},
): Promise<(container: Container) => boolean> {
  if (image === '' || containers.length === 0) return () => true;
  const idOf = async (name: string): Promise<string | undefined> =>
    (await images.imageStatus({image: {image: name}}, {signal})).image?.id;
  return await saying('check image match', async () => {
    const wanted = await idOf(image);
    const users = new Set<string>();
    for (const name of new Set(containers.map((container) => container.image?.image ?? '')))
      if (wanted !== undefined && (await idOf(name)) === wanted) users.add(name);
    return (container) => users.has(container.image?.image ?? '');
  });
}

/** The tags that `ps -r` shows, by container: looked up one by one, by ids that are truncated already. */
export async function crictlTags(
  images: ImageService,
  containers: readonly Container[],
  {full, signal}: {readonly full: boolean; readonly signal: AbortSignal},
): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  for (const container of containers) {
    const name = container.image?.image ?? '';
    const asked = images.imageStatus({image: {image: full ? name : truncateDigest(name)}}, {signal});
    const {image} = await saying('failed to fetch repo image', () => asked, ' ');
    const [tag] = image?.repoTags ?? [];
    if (tag !== undefined) tags.set(container.id, tag);
  }
  return tags;
}

/** The sandboxes that flags choose. Throws KcriError. */
export async function crictlSandboxes(
  runtime: RuntimeService,
  flags: SandboxFilterValues,
  signal: AbortSignal,
): Promise<readonly PodSandbox[]> {
  const {id = ''} = flags;
  const {state, labels, limit} = sandboxQuery({...flags, name: undefined, namespace: undefined});
  const filter = {
    ...(id === '' ? {} : {id: podSandboxId(id)}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
  const {items} = await saying('call list sandboxes RPC', () => runtime.listPodSandbox({filter}, {signal}));
  const {name, namespace} = sandboxQuery(flags);
  const wanted = items.filter(
    ({metadata}) =>
      metadata !== undefined && matches(name, metadata.name) && matches(namespace, metadata.namespace),
  );
  return newestFirst(wanted, limit);
}

/** Labels are looked at before anything else; the error does not say why. Throws UsageError. */
export function checkLabels({label}: {readonly label?: readonly string[] | undefined}): void {
  parseLabels(label);
}

/** The images that a name and conditions leave; the name is the runtime's to look at. Throws KcriError. */
export async function crictlImages(
  images: ImageService,
  {
    name = '',
    filters = [],
  }: {readonly name?: string | undefined; readonly filters?: readonly string[] | undefined},
  signal: AbortSignal,
): Promise<readonly Image[]> {
  return await saying('listing images', async () => {
    const {images: all} = await images.listImages({filter: {image: {image: name}}}, {signal});
    const ordered = orderImages(all);
    if (ordered.length === 0) return ordered;
    return await saying('filter images', async () => filters.reduce(filtered, ordered));
  });
}

type Condition = (images: readonly Image[], value: string) => readonly Image[];

const CONDITIONS: Readonly<Record<string, Condition>> = {
  before: (images, value) => rowsAbove(images.toReversed(), value).toReversed(),
  dangling: (images, value) => {
    if (!/^(true|false)$/.test(value)) return [];
    return images.filter((image) => (image.repoTags.length === 0) === (value === 'true'));
  },
  reference: (images, value) => {
    const pattern = goRegexp(value);
    return images.filter((image) => {
      const {repo} = repoDigest(image);
      return pattern.test(repo) || repo === value;
    });
  },
  since: (images, value) => rowsAbove(images, value),
};

function filtered(images: readonly Image[], filter: string): readonly Image[] {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(filter) ?? [];
  const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
  if (condition === undefined) throw new UsageError(`unknown filter flag: ${filter}`);
  return condition(images, value);
}

/** What stands above an image in a list, or all of it. */
function rowsAbove(images: readonly Image[], value: string): readonly Image[] {
  const [tagged, digested] = [value.includes(':'), value.includes('@')];
  const comparable = digested ? images.filter(({repoDigests}) => tagged && repoDigests.length > 0) : images;
  const end = comparable.findIndex((image) => {
    if (digested) return image.repoDigests[0]?.startsWith(value) === true;
    if (!tagged) return image.id.startsWith(value);
    const {repo, tag} = underName(image, image.repoTags[0]);
    return `${repo}:${tag}` === value;
  });
  return end === -1 ? comparable : comparable.slice(0, end);
}
