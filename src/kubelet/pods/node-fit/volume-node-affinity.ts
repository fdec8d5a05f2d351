import type {PersistentVolume} from '../../../api/types/v1-persistent-volumes.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {matchesNodeSelector} from '../../resources/node-selector.js';

/** Reports whether the node affinity of a volume allows this node (CheckVolumeNodeAffinity). */
export function isVolumeOnNode(
  {spec}: PersistentVolume,
  node: Pick<NodeFacts, 'nodeName' | 'labels'>,
): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || matchesNodeSelector(required, node);
}

/** Returns the objects with claims that are compared with the labels of this node. */
export function withVolumeAffinity(
  objects: ApiObjects,
  node: Pick<NodeFacts, 'nodeName' | 'labels'>,
): ApiObjects {
  return {
    ...objects,
    claimedVolume: (pod, volume) => {
      const claimed = objects.claimedVolume?.(pod, volume);
      return claimed && {...claimed, isOnNode: claimed.isOnNode && isVolumeOnNode(claimed.volume, node)};
    },
  };
}
