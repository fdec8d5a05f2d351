import {podSandboxId} from '../../cri/ids.js';
import type {
  FieldMask,
  Init,
  PodSandbox,
  PodSandboxFilter,
  PodSandboxState,
  RuntimeService,
} from '../../cri/index.js';
import type {TextPattern} from '../filters/go-regexp.js';
import {isFullId} from '../filters/full-id.js';
import {hasLabels, matchesPattern, sortNewestFirst} from '../filters/list-filters.js';
import {listAllSandboxes} from '../../cri/list-all.js';

/** Conditions for sandboxes. Omitted conditions match all. */
export interface SandboxQuery {
  /** ID or ID prefix of the sandbox. */
  readonly id?: string | undefined;
  readonly state?: PodSandboxState | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: TextPattern | undefined;
  readonly namespace?: TextPattern | undefined;
  /** Maximum number of sandboxes; the newest are returned. */
  readonly limit?: number | undefined;
  /** Fields needed of each sandbox, besides those of the query; default all. */
  readonly fields?: FieldMask<PodSandbox> | undefined;
}

/** Returns the sandboxes that match, newest first. Calls ListPodSandbox and checks all conditions again. */
export async function listSandboxes(
  runtime: RuntimeService,
  query: SandboxQuery,
  signal: AbortSignal,
): Promise<readonly PodSandbox[]> {
  const all = await listAllSandboxes(runtime, filterOf(query), signal, fieldsOf(query));
  return sortNewestFirst(
    all.filter((sandbox) => matchesQuery(sandbox, query)),
    query.limit,
  );
}

/** Returns the runtime's filter. It accepts an ID prefix only if it is unique. */
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
    matchesPattern(query.name, metadata.name) &&
    matchesPattern(query.namespace, metadata.namespace)
  );
}
