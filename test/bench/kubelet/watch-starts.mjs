import {NODE_NAME, until} from './node.mjs';

/** Records the start times of containers, as reported by the runtime, by pod name. */
export function watchStarts(node) {
  const started = new Map();
  void (async () => {
    for await (const {containerEventType, containerId, podSandboxStatus} of node.runtime.getContainerEvents(
      {},
    ))
      if (containerEventType === 'CONTAINER_STARTED_EVENT' && containerId !== podSandboxStatus?.id)
        started.set(podSandboxStatus?.metadata?.name, performance.now());
  })().catch(() => undefined); // the daemon was stopped
  return {
    /** Resolves to the time of the pod's first container start after `time`. */
    after: async (pod, time) => {
      const name = `${pod}-${NODE_NAME}`;
      await until(`${pod} runs`, () => (started.get(name) ?? -Infinity) > time);
      return started.get(name);
    },
  };
}
