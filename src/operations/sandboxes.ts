import {podSandboxId} from '../cri/ids.js';
import type {
  FieldMask,
  Init,
  PodSandbox,
  PodSandboxFilter,
  PodSandboxState,
  RuntimeService,
} from '../cri/index.js';
import {hasLabels, isFullId, matches, newestFirst} from './filters.js';
import {listAllSandboxes} from '../cri/list-all.js';

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
  /** What is wanted of each, besides what the query itself looks at; all unless given. */
  readonly fields?: FieldMask<PodSandbox> | undefined;
}

/** The sandboxes that match, newest first. One ListPodSandbox, whose answer is checked here as well. */
export async function listSandboxes(
  runtime: RuntimeService,
  query: SandboxQuery,
  signal: AbortSignal,
): Promise<readonly PodSandbox[]> {
  const all = await listAllSandboxes(runtime, filterOf(query), signal, fieldsOf(query));
  return newestFirst(
    all.filter((sandbox) => matchesQuery(sandbox, query)),
    query.limit,
  );
}

/** What the runtime is asked for: it takes the beginning of an id only when that is unique. */
function filterOf({id, state, labels}: SandboxQuery): Init<PodSandboxFilter> {
  return {
    ...(id !== undefined && isFullId(id) ? {id: podSandboxId(id)} : {}),
    ...(state === undefined ? {} : {state: {state}}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
}

function fieldsOf({fields, labels}: SandboxQuery): FieldMask<PodSandbox> | undefined {
  if (fields === undefined) return undefined;
  const always = {...fields, id: true, metadata: true, state: true, createdAt: true} as const;
  return labels === undefined ? always : {...always, labels: true};
}

function matchesQuery({id, metadata, state, labels}: PodSandbox, query: SandboxQuery): boolean {
  return (
    metadata !== undefined &&
    id.startsWith(query.id ?? '') &&
    (query.state === undefined || state === query.state) &&
    hasLabels(labels, query.labels) &&
    matches(query.name, metadata.name) &&
    matches(query.namespace, metadata.namespace)
  );
}
