import {join} from 'node:path';
import {expect} from 'vitest';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {createManagerSettings} from '../../../src/kubelet/configuration/manager-settings.js';
import {machineOf, ORACLE_MACHINES} from '../../kubelet/resources/machine/machine-oracle.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {LeftNode} from './left-node.js';
import {
  changedPods,
  changingCalls,
  lostMirrorPods,
  RECORDED_NODE,
  runningIds,
  storeRecordedPods,
  takeoverTimeMs,
} from './recorded-takeover.js';

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
      node: {...RECORDED_NODE, ...MANAGERS, devicePluginsDir: join(rootDir, 'device-plugins')},
    },
  );
}

/** Time after which kcri has decided about all pods. */
const SETTLE_MS = 3000;

/** Starts kcri on the node, and expects it to change no container and no status. */
export async function takeOverUnchanged(node: LeftNode): Promise<ClusterTestbed> {
  const running = runningIds(node.runtime.containers);
  const testbed = await takeOver(node);
  try {
    const {daemon, api} = testbed;
    await daemon.until('all pods are known', () => daemon.view.pods().length === node.pods.length);
    await daemon.clock.sleep(SETTLE_MS);
    expect(changingCalls(daemon.fake)).toEqual([]);
    expect(runningIds(daemon.fake.containers)).toEqual(running);
    expect(changedPods(node, api)).toEqual([]);
    expect(lostMirrorPods(node, api)).toEqual([]);
    return testbed;
  } catch (error) {
    await testbed[Symbol.asyncDispose]();
    throw error;
  }
}
