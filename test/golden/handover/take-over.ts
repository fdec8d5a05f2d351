import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {LeftNode} from './left-node.js';
import {RECORDED_NODE, storeRecordedPods, takeoverTimeMs} from './recorded-takeover.js';

/** Starts kcri on the node in place of the recorded kubelet. */
export async function takeOver(node: LeftNode): Promise<ClusterTestbed> {
  const {rootDir, logsDir, manifests, runtime} = node;
  return await ClusterTestbed.start(
    (api) => {
      storeRecordedPods(api, node);
    },
    {rootDir, logsDir, manifests, runtime, nowMs: takeoverTimeMs(node), node: RECORDED_NODE},
  );
}
