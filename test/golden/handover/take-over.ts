import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {createManagerSettings} from '../../../src/kubelet/configuration/manager-settings.js';
import {machineOf, ORACLE_MACHINES} from '../../kubelet/resources/machine/machine-oracle.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {LeftNode} from './left-node.js';
import {RECORDED_NODE, storeRecordedPods, takeoverTimeMs} from './recorded-takeover.js';

/** Managers of the node as the recorded kubelet had them: with the policies `none` and `None`. */
const MANAGERS = {
  ...createManagerSettings(readKubeletConfig([], new Map()).values),
  machine: () => machineOf(ORACLE_MACHINES.get('s1n1c4t2-split')!.machineInfo),
};

/** Starts kcri on the node in place of the recorded kubelet. */
export async function takeOver(node: LeftNode): Promise<ClusterTestbed> {
  const {rootDir, logsDir, manifests, runtime} = node;
  return await ClusterTestbed.start(
    (api) => {
      storeRecordedPods(api, node);
    },
    {
      rootDir,
      logsDir,
      manifests,
      runtime,
      nowMs: takeoverTimeMs(node),
      node: {...RECORDED_NODE, ...MANAGERS},
    },
  );
}
