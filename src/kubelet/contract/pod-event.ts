import type {Pod} from '../../api/types/v1-pod.js';

/** A Kubernetes event about a pod or one of its containers, in the kubelet's wording. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly pod: Pod;
  /** Path of the container, such as `spec.containers{web}`; absent for events about the whole pod. */
  readonly fieldPath?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Receives events as they happen; must not throw. */
export type EventSink = (event: PodEvent) => void;

/** List of the Pod spec that contains a container. */
export type ContainerKind = 'initContainers' | 'containers' | 'ephemeralContainers';

/** An EventSink bound to one container, or to the pod as a whole. */
export interface EventRecorder {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** Creates a recorder of events about one container of a pod. */
export function createContainerEventRecorder(
  sink: EventSink,
  pod: Pod,
  kind: ContainerKind,
  name: string,
): EventRecorder {
  return eventsAbout(sink, {pod, fieldPath: `spec.${kind}{${name}}`});
}

/** Creates a recorder of events about the pod as a whole. */
export function createPodEventRecorder(sink: EventSink, pod: Pod): EventRecorder {
  return eventsAbout(sink, {pod});
}

function eventsAbout(sink: EventSink, about: Pick<PodEvent, 'pod' | 'fieldPath'>): EventRecorder {
  return {
    normal: (reason, message) => {
      sink({type: 'Normal', reason, message, ...about});
    },
    warning: (reason, message) => {
      sink({type: 'Warning', reason, message, ...about});
    },
  };
}
