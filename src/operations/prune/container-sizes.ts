import {forEachLimit} from '../../base/async/for-each-limit.js';
import {CriError, isNotFound, isUnimplemented, type Connection, type Container} from '../../cri/index.js';
import {connectContainerd} from '../../containerd/connect-containerd.js';
import {fetchContainerStats} from '../stats/fetch-stats.js';

const AT_ONCE = 16;

/**
 * Returns the sizes of writable layers in bytes, by container. containerd's own API has them for all containers; the stats
 * of the CRI, of other runtimes, have those of running ones, and containerd's are up to ten seconds old. Containers of
 * unknown size are missing.
 */
export async function readContainerSizes(
  {runtime, endpoint}: Pick<Connection, 'runtime' | 'endpoint'>,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const sizes = new Map<string, bigint>();
  if (containers.length === 0) return sizes;
  const ids = containers.map(({id}) => id);
  await ignoringCriErrors(() => addContainerdSizes(endpoint, ids, {sizes, signal}));
  if (ids.every((id) => sizes.has(id))) return sizes;
  await ignoringCriErrors(async () => {
    const {stats} = await fetchContainerStats(runtime, {}, {signal, thorough: true});
    for (const {attributes, writableLayer} of stats)
      if (attributes !== undefined && writableLayer?.usedBytes !== undefined && !sizes.has(attributes.id))
        sizes.set(attributes.id, writableLayer.usedBytes.value);
  });
  return sizes;
}

/** Adds the sizes of containers by containerd's snapshots. Rejects with CriError on another runtime. */
async function addContainerdSizes(
  endpoint: string,
  ids: readonly string[],
  {sizes, signal}: {readonly sizes: Map<string, bigint>; readonly signal: AbortSignal},
): Promise<void> {
  using containerd = connectContainerd(endpoint);
  let isOther = false;
  await forEachLimit(ids, AT_ONCE, async (id) => {
    if (isOther) return;
    try {
      const {container} = await containerd.containers.get({id}, {signal});
      const {snapshotter = '', snapshotKey: key = ''} = container ?? {};
      if (key === '') return;
      sizes.set(id, (await containerd.snapshots.usage({snapshotter, key}, {signal})).size);
    } catch (error) {
      if (isUnimplemented(error)) isOther = true;
      else if (!isNotFound(error)) throw error;
    }
  });
}

/** Runs a measurement. Its failure leaves sizes unknown. */
async function ignoringCriErrors(measure: () => Promise<void>): Promise<void> {
  try {
    await measure();
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
  }
}
