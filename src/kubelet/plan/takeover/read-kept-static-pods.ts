import {SILENT_LOGGER} from '../../../base/logger.js';
import {findLeftPods} from '../../pods/registry/left-pods.js';
import {PodStore} from '../../pods/registry/pod-store.js';
import type {NodeAndRuntime} from '../../pods/registry/read-node.js';
import {KeptStaticPods} from '../../pods/takeover/kept-static-pods.js';

/** Reads the static pods on the node as a daemon does that starts. Changes nothing. Rejects with SystemError and CriError. */
export async function readKeptStaticPods(
  found: NodeAndRuntime,
  signal: AbortSignal,
): Promise<KeptStaticPods> {
  const {node, services, endpoint} = found;
  const known = await new PodStore(node.rootDir).list();
  const own = known.records.filter((record) => record.manager === 'kubelet' && record.endpoint === endpoint);
  const kept = new KeptStaticPods({runtime: services.runtime, node, logger: SILENT_LOGGER});
  await kept.load([...own, ...(await findLeftPods(known, found, signal))], signal);
  return kept;
}
