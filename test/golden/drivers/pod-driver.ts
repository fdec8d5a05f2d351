import type {Clock} from '../../../src/base/clock.js';
import type {Connection} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import type {PodEvent} from '../../../src/kubelet/index.js';
import type {PodWithStatus} from '../canonical/canonical-pods.js';

/**
 * Value of the random source: periods with jitter are nearly as long as they can be. They were when "pull-missing" and
 * "restart-rules" were recorded; the other cases do not depend on it.
 */
export const JITTER = 0.99 * 2 ** 32;

/** Runs the pods of a case in place of the recorded kubelet. */
export interface PodDriver {
  readonly events: readonly PodEvent[];
  /** All pods in the order of their creation. */
  readonly pods: readonly Pick<PodWithStatus, 'pod'>[];
  /** The pods right before their manifests were deleted, by name. */
  readonly podsBeforeDeletion: readonly PodWithStatus[];
  /** Reasons of rejections, and messages about missed events. */
  readonly rejections: readonly string[];
  /** Environment of shell commands. Undefined if they cannot access the driver. */
  readonly shellEnvironment?: Readonly<Record<string, string>>;
  /** Sends the request of a curl command to the kubelet's HTTP server. */
  readonly curl?: (command: string) => Promise<unknown>;
  /** Starts, or restarts, with the present manifests. */
  start(): Promise<void>;
  /** Stops, and leaves the pods running. */
  stop(): Promise<void>;
  /** Adds or replaces a manifest. */
  putManifest(file: string, text: string): Promise<void>;
  /** Deletes all manifests. Resolves when nothing is left of their pods. */
  deleteManifests(): Promise<void>;
}

/** Environment of a driver. */
export interface PodDriverOptions {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
}

/** Creates a driver. `stop` releases its resources. */
export type CreatePodDriver = (options: PodDriverOptions) => PodDriver;

/** Sorts pods by name. */
export function sortPodsByName(pods: readonly PodWithStatus[]): readonly PodWithStatus[] {
  const nameOf = ({pod}: PodWithStatus): string => pod.metadata.name ?? '';
  return pods.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
