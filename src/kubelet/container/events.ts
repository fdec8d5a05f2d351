import type {Pod} from '../../api/v1.js';

/** A Kubernetes event about a pod or one of its containers, in the kubelet's words. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly pod: Pod;
  /** `spec.containers{web}`; absent for events about the whole pod. */
  readonly fieldPath?: string;
}

/** Takes events as they happen; must not throw. */
export type EventSink = (event: PodEvent) => void;

/** Which list of the Pod a container stands in. */
export type ContainerKind = 'initContainers' | 'containers';

/** An EventSink bound to one container, or to the pod as a whole. */
export interface ContainerEvents {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** Events about one container of a pod. */
export function containerEvents(
  sink: EventSink,
  pod: Pod,
  kind: ContainerKind,
  name: string,
): ContainerEvents {
  return eventsAbout(sink, {pod, fieldPath: `spec.${kind}{${name}}`});
}

/** Events about the pod as a whole. */
export function podEvents(sink: EventSink, pod: Pod): ContainerEvents {
  return eventsAbout(sink, {pod});
}

function eventsAbout(sink: EventSink, about: Pick<PodEvent, 'pod' | 'fieldPath'>): ContainerEvents {
  return {
    normal: (reason, message) => {
      sink({type: 'Normal', reason, message, ...about});
    },
    warning: (reason, message) => {
      sink({type: 'Warning', reason, message, ...about});
    },
  };
}
