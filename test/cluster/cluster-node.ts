import {
  startKubeletTestbed,
  type KubeletTestbed,
  type ServingDaemon,
} from '../e2e/harness/kubelet-testbed.js';
import type {RunningPodState} from '../e2e/harness/pod-testbed.js';
import type {RuntimeUnderTest} from '../e2e/harness/runtimes-under-test.js';
import type {ControlPlane} from './control-plane.js';

/** A node of the cluster: a private runtime and a kubelet with its own root directory, cgroup root and ports. */
export interface ClusterNode extends AsyncDisposable {
  readonly name: string;
  readonly kubelet: KubeletTestbed;
  /** Starts the kubelet; a previous one must have ended. */
  start(): Promise<ServingDaemon>;
  /** Kills the kubelet without giving it time to clean up. */
  kill(): Promise<void>;
  /** Returns the pod of that name in the runtime; rejects if it is not there. */
  pod(name: string): Promise<RunningPodState>;
}

/** Starts a private runtime and a kubelet that joins the control plane as `name`. */
export async function startClusterNode(
  which: RuntimeUnderTest,
  plane: ControlPlane,
  name: string,
): Promise<ClusterNode> {
  const kubelet = await startKubeletTestbed(which, name);
  const flags = [
    '--container-logs-dir=',
    '--kubeconfig',
    plane.kubeconfigOf(name),
    '--client-ca-file',
    plane.clientCaFile,
  ];
  let daemon: ServingDaemon;
  const start = async (): Promise<ServingDaemon> =>
    (daemon = await kubelet.start('clusterDNS: [10.96.0.10]\n', flags));
  await start();
  return {
    ...{name, kubelet, start},
    kill: async () => {
      daemon.kcri.kill('SIGKILL');
      await daemon.kcri.exited;
    },
    pod: (pod) => kubelet.podTestbed.pod(pod),
    [Symbol.asyncDispose]: async () => {
      await kubelet[Symbol.asyncDispose]();
    },
  };
}
