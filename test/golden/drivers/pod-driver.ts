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

/** What keeps the pods of a case in the place of the kubelet that it was recorded from. */
export interface PodDriver {
  readonly events: readonly PodEvent[];
  /** All pods that there were, in the order in which they came. */
  readonly pods: readonly Pick<PodWithStatus, 'pod'>[];
  /** The pods just before their manifests went, by name. */
  readonly podsBeforeDeletion: readonly PodWithStatus[];
  /** What it refused to keep, and why; and that it was told of something too late. */
  readonly rejections: readonly string[];
  /** By which variables shell commands find it; undefined when there is nothing to be found. */
  readonly shellEnvironment?: Readonly<Record<string, string>>;
  /** Asks the kubelet's HTTP server, as a curl command says. */
  readonly curl?: (command: string) => Promise<unknown>;
  /** Begins, or begins again, with the manifests that there are. */
  start(): Promise<void>;
  /** Ends; what runs runs on. */
  stop(): Promise<void>;
  /** A manifest comes or is changed. */
  putManifest(file: string, text: string): Promise<void>;
  /** All manifests go; resolves when nothing is left of their pods. */
  deleteManifests(): Promise<void>;
}

/** What a keeper keeps pods with. */
export interface PodDriverOptions {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
}

/** Makes a keeper; what it holds ends with its `stop`. */
export type CreatePodDriver = (options: PodDriverOptions) => PodDriver;

/** The pods by name. */
export function sortPodsByName(pods: readonly PodWithStatus[]): readonly PodWithStatus[] {
  const nameOf = ({pod}: PodWithStatus): string => pod.metadata.name ?? '';
  return pods.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
