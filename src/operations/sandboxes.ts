import {podSandboxId, type PodSandbox, type PodSandboxState, type RuntimeService} from '../cri/index.js';
import {matches, newestFirst} from './filters.js';

/** Which sandboxes are wanted; what is left out does not matter. */
export interface SandboxQuery {
  /** An id or the beginning of one. */
  readonly id?: string | undefined;
  readonly state?: PodSandboxState | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: RegExp | undefined;
  readonly namespace?: RegExp | undefined;
  /** Only the newest so many. */
  readonly limit?: number | undefined;
}

/** The sandboxes that match, newest first. One ListPodSandbox. */
export async function listSandboxes(
  runtime: RuntimeService,
  query: SandboxQuery,
  signal: AbortSignal,
): Promise<readonly PodSandbox[]> {
  const filter = {
    ...(query.id === undefined ? {} : {id: podSandboxId(query.id)}),
    ...(query.state === undefined ? {} : {state: {state: query.state}}),
    ...(query.labels === undefined ? {} : {labelSelector: query.labels}),
  };
  const {items} = await runtime.listPodSandbox({filter}, {signal});
  const wanted = items.filter(
    ({metadata}) =>
      metadata !== undefined &&
      matches(query.name, metadata.name) &&
      matches(query.namespace, metadata.namespace),
  );
  return newestFirst(wanted, query.limit);
}
