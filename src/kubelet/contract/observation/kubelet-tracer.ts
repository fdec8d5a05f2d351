import type {IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {Pod} from '../../../api/types/v1-pod.js';

/** Spans of a kubelet about pods (kubelet.go). */
export type PodSpan = 'syncPod' | 'syncTerminatingPod' | 'syncTerminatedPod';

/** A pod's work that is traced. */
export interface TracedPodWork<T> {
  readonly span: PodSpan;
  readonly pod: Pod;
  /** Reason for the sync, such as `create`. */
  readonly updateType: string;
  readonly work: () => Promise<T>;
  /** Returns the error of a result that is a failure; undefined if it is none. */
  readonly errorOf?: (result: T) => unknown;
}

/** A request that the kubelet's server has authorized. */
export interface TracedRequest {
  readonly raw: IncomingMessage;
  /** Connection of the client. */
  readonly socket: Socket;
  /** Path pattern of its handler in the kubelet's router; undefined if the router has none. */
  readonly route: string | undefined;
  /** Path pattern by which the server has found the handler. */
  readonly pattern: string;
}

/** Span of a request. */
export interface RequestSpan {
  /** Runs the work in the span, to which the calls of the runtime during it belong, and settles with its result. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Ends the span with the status of the response. */
  end(status: number): void;
}

/** Traces a kubelet. What is called for in a span, such as calls of the runtime, belongs to the span. */
export interface KubeletTracer {
  /** Runs the work of a pod worker in a span, and settles with its result. */
  tracePod<T>(work: TracedPodWork<T>): Promise<T>;
  /** Runs a garbage collection in a span, and settles with its result. */
  traceCollection(what: 'Containers' | 'Images', collect: () => Promise<void>): Promise<void>;
  /** Starts the span of a request. */
  startRequest(request: TracedRequest): RequestSpan;
}
