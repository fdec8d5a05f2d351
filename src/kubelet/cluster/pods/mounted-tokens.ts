import type {Pod} from '../../../api/types/v1-pod.js';
import type {ServiceAccountTokenProjection, Volume} from '../../../api/types/v1-volumes.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {readCurrentFile} from '../../managers/volumes/atomic-writer.js';
import {projected} from '../../managers/volumes/plugins/projected.js';
import type {ServiceAccountTokens} from './service-account-tokens.js';

/** Text in place of a token that a pod does not have yet. */
const PLACEHOLDER = 'a token that the API server issues when the pod starts';
const MAX_TOKEN_BYTES = 64 * 1024;

/** Tokens that are in the volumes of pods already, so that nothing is requested. */
export class MountedTokens implements Pick<ServiceAccountTokens, 'get' | 'load' | 'retain'> {
  readonly #node: Pick<NodeFacts, 'rootDir'>;
  readonly #tokens = new Map<string, string>();

  constructor(node: Pick<NodeFacts, 'rootDir'>) {
    this.#node = node;
  }

  get(pod: Pod, projection: ServiceAccountTokenProjection): string {
    return this.#tokens.get(keyOf(pod, projection)) ?? PLACEHOLDER;
  }

  /** Reads the token of a projection. Rejects with SystemError. */
  async load(pod: Pod, projection: ServiceAccountTokenProjection): Promise<void> {
    const volume = (pod.spec.volumes ?? []).find((each) => hasProjection(each, projection));
    if (volume?.projected === undefined) return;
    const directory = projected.path(this.#node, {pod, name: volume.name, source: volume.projected});
    const token = await readCurrentFile(directory, projection.path, MAX_TOKEN_BYTES);
    if (token !== undefined) this.#tokens.set(keyOf(pod, projection), token.toString());
  }

  retain(): void {
    // A plan ends before it needs to forget anything.
  }
}

function hasProjection({projected: source}: Volume, projection: ServiceAccountTokenProjection): boolean {
  return source?.sources.some(({serviceAccountToken}) => serviceAccountToken === projection) === true;
}

function keyOf(pod: Pod, projection: ServiceAccountTokenProjection): string {
  return `${podRef(pod).uid} ${JSON.stringify(projection)}`;
}
