import {forEachLimit} from '../../base/async/for-each-limit.js';
import {CriError, isNotFound, isUnavailable, type ContainerStatusResponse} from '../../cri/index.js';
import type {Container, ContainerId, ImageService, PodSandboxId, RuntimeService} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import type {RuntimePodFacts} from '../../operations/generate/generate-pod.js';
import {lacksConfig} from '../../operations/generate/runtime-configs.js';
import {inspectContainer, inspectSandbox} from '../../operations/inspect/inspect-objects.js';
import {parseImageInfo, type ImageInfo} from '../../operations/inspect/verbose-info.js';

const MAX_CONCURRENT_CALLS = 8;

/** Connections of a runtime. */
export interface RuntimeConnections {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
}

/** Reads what a runtime knows about a pod; only about one container if `only` is set. Rejects with KcriError. */
export async function readPodFacts(
  {runtime, images}: RuntimeConnections,
  id: PodSandboxId,
  {only, signal}: {readonly only?: ContainerId | undefined; readonly signal: AbortSignal},
): Promise<RuntimePodFacts> {
  const sandbox = await inspectSandbox(runtime, id, {verbose: true, signal});
  const listed = await listAllContainers(runtime, {podSandboxId: id}, signal);
  const chosen = newestAttempts(listed).filter((container) => only === undefined || container.id === only);
  const responses = new Map<ContainerId, ContainerStatusResponse>();
  const found = new Map<string, ImageInfo>();
  await forEachLimit(chosen, MAX_CONCURRENT_CALLS, async ({id: containerId}) => {
    try {
      responses.set(containerId, await inspectContainer(runtime, containerId, {verbose: true, signal}));
    } catch (error) {
      // It may have been removed in the meantime.
      if (!isNotFound(error)) throw error;
    }
  });
  const containers = chosen.flatMap((container) => responses.get(container.id) ?? []);
  const refs = new Set(containers.filter(lacksConfig).map(({status}) => status?.imageRef ?? ''));
  for (const ref of refs) {
    const info = await imageInfo(images, ref, signal);
    if (info !== undefined) found.set(ref, info);
  }
  return {sandbox, containers, findImage: (imageRef) => found.get(imageRef)};
}

/**
 * Returns the build information of an image; undefined if the runtime does not know the reference any more, or rejects it,
 * as cri-dockerd does with those of its own containers. Rejects with CriError if the runtime is unavailable.
 */
async function imageInfo(
  images: ImageService,
  ref: string,
  signal: AbortSignal,
): Promise<ImageInfo | undefined> {
  try {
    const {info} = await images.imageStatus({image: {image: ref}, verbose: true}, {signal});
    return Object.keys(info).length === 0 ? undefined : parseImageInfo(info);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CriError && !isUnavailable(error)) return undefined;
    throw error;
  }
}

/** Returns the newest attempt of each container, in the order of their creation. */
function newestAttempts(containers: readonly Container[]): readonly Container[] {
  const oldestFirst = containers.toSorted((a, b) => Number(a.createdAt - b.createdAt));
  const byName = new Map<string, Container>();
  for (const container of oldestFirst) {
    const name = container.metadata?.name ?? container.id;
    byName.delete(name);
    byName.set(name, container);
  }
  return [...byName.values()];
}
