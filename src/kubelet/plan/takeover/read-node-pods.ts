import {SILENT_LOGGER} from '../../../base/logger.js';
import {findLeftPods, findMovedPods} from '../../pods/registry/left-pods.js';
import {PodStore, type PodRecord} from '../../pods/registry/pod-store.js';
import type {NodeAndRuntime} from '../../pods/registry/read-node.js';
import {KeptStaticPods} from '../../pods/takeover/kept-static-pods.js';

/** Pods of a node, as a daemon that starts on its runtime loads them. */
export interface NodePods {
  /** Records of the daemon and of the pods that it takes over, also of pods that have been removed. */
  readonly own: readonly PodRecord[];
  /** Records of other kcri processes. */
  readonly others: readonly PodRecord[];
  readonly staticPods: KeptStaticPods;
}

/** Reads the pods of a node. Changes nothing. Rejects with SystemError and CriError. */
export async function readNodePods(found: NodeAndRuntime, signal: AbortSignal): Promise<NodePods> {
  const {node, services, endpoint} = found;
  const known = await new PodStore(node.rootDir).list();
  const {removed} = known;
  const ofDaemons = known.records.filter(({manager}) => manager === 'kubelet');
  const moved = await findMovedPods(ofDaemons, found, signal);
  const byUid = new Map(moved.map((record) => [record.uid, record]));
  const records = known.records.map((record) => byUid.get(record.uid) ?? record);
  const isOwn = (record: PodRecord): boolean => record.manager === 'kubelet' && record.endpoint === endpoint;
  const left = await findLeftPods(known, found, signal);
  const present = [...records.filter(isOwn), ...left];
  const staticPods = new KeptStaticPods({runtime: services.runtime, node, logger: SILENT_LOGGER});
  await staticPods.load(present, async () => new Set(), signal);
  return {
    own: [...removed.filter(isOwn), ...present],
    others: records.filter((record) => !isOwn(record)),
    staticPods,
  };
}
