import type {UiPod} from '../../features/ui/protocol.js';

/** Properties of a tab of a pod's page. */
export interface TabProps {
  readonly pod: UiPod;
  /** Name of the container that the address names. */
  readonly container: string | undefined;
  /** Changes the container. */
  readonly onContainer: (name: string | undefined) => void;
}

/** Returns a text that differs when the pod's status does. */
export function summaryOf(pod: UiPod): string {
  return [pod, ...pod.containers].map(({state, ready, restarts}) => `${state} ${ready} ${restarts}`).join();
}
