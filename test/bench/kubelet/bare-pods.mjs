// Pods that sleep, made by direct calls of the runtime.
import {BUSYBOX} from './node.mjs';

/** Label of these pods, by which they are found again. */
const LABELS = {'kcri-bench': 'bare'};

/** Starts a pod with one container that sleeps, in the host's network. */
export async function startPod({runtime}, name, logDirectory) {
  const config = {
    metadata: {name, namespace: 'bench', uid: `uid-of-${name}`, attempt: 0},
    logDirectory: `${logDirectory}/${name}`,
    labels: LABELS,
    linux: {securityContext: {namespaceOptions: {network: 'NODE', pid: 'CONTAINER', ipc: 'POD'}}},
  };
  const {podSandboxId} = await runtime.runPodSandbox({config});
  const container = {
    metadata: {name: 'main', attempt: 0},
    image: {image: BUSYBOX},
    command: ['sleep', '1000000'],
    logPath: 'main.log',
    labels: LABELS,
    linux: {},
  };
  const {containerId} = await runtime.createContainer({
    podSandboxId,
    config: container,
    sandboxConfig: config,
  });
  await runtime.startContainer({containerId});
  return {podSandboxId, containerId};
}

/** Stops and removes a pod. */
export async function removePod({runtime}, {podSandboxId}) {
  await runtime.stopPodSandbox({podSandboxId});
  await runtime.removePodSandbox({podSandboxId});
}

/** Removes all of these pods. */
export async function removePods(connection) {
  const {items} = await connection.runtime.listPodSandbox({filter: {labelSelector: LABELS}});
  for (const {id} of items) await removePod(connection, {podSandboxId: id});
}
