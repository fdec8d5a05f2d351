import type {Clock} from '../../src/base/clock.js';
import type {Connection} from '../../src/cri/index.js';
import type {NodeFacts} from '../../src/kubelet/container/node.js';
import type {PodEvent} from '../../src/kubelet/index.js';
import type {ShownPod} from './canon-pod.js';

/** What keeps the pods of a case in the place of the kubelet that it was recorded from. */
export interface Keeper {
  readonly events: readonly PodEvent[];
  /** All pods that there were, in the order in which they came. */
  readonly pods: readonly Pick<ShownPod, 'pod'>[];
  /** The pods just before their manifests went, by name. */
  readonly left: readonly ShownPod[];
  /** What it refused to keep, and why; and that it was told of something too late. */
  readonly refusals: readonly string[];
  /** By which variables shell commands find it; undefined when there is nothing to be found. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Asks the kubelet's HTTP server, as a curl command says. */
  readonly curl?: (command: string) => Promise<unknown>;
  /** Begins, or begins again, with the manifests that there are. */
  start(): Promise<void>;
  /** Ends; what runs runs on. */
  stop(): Promise<void>;
  /** A manifest comes or is changed. */
  put(file: string, text: string): Promise<void>;
  /** All manifests go; resolves when nothing is left of their pods. */
  deleteAll(): Promise<void>;
}

/** What a keeper keeps pods with. */
export interface KeeperOptions {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
}

/** Makes a keeper; what it holds ends with its `stop`. */
export type MakeKeeper = (options: KeeperOptions) => Keeper;

/** The pods by name. */
export function byName(pods: readonly ShownPod[]): readonly ShownPod[] {
  const nameOf = ({pod}: ShownPod): string => pod.metadata.name ?? '';
  return pods.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
