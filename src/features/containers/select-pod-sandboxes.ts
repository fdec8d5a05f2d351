import type {PodSandboxId, RuntimeService} from '../../cri/index.js';
import {resolveSandboxesAmong} from '../../operations/resolve/resolve-by-lists.js';
import {resolveSandboxes} from '../../operations/resolve/resolve-names.js';
import type {ResolveOptions} from '../../operations/resolve/resolve-options.js';
import {nothingFoundError, type Target} from '../../operations/resolve/target.js';
import {listSandboxes, type SandboxQuery} from '../../operations/pods/list-sandboxes.js';
import {withContext} from '../../operations/with-context.js';

/** Pods that a command line selects. */
export interface PodSandboxSelection {
  /** Words that name pods. */
  readonly refs: readonly string[];
  /** Query of the filter flags; undefined if there are words and no filter. */
  readonly query: SandboxQuery | undefined;
  /** Filter flags as on the command line. */
  readonly filters: string;
}

/**
 * Returns the pods that a command acts on, as targets of `forEachTarget`: the named pods that match the filters, or all
 * pods that match. Rejects with AmbiguousError, and with NoSuchError if no pod matches the filters.
 */
export async function selectPodSandboxes(
  runtime: RuntimeService,
  {refs, query, filters}: PodSandboxSelection,
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  if (query === undefined) return await resolveSandboxes(runtime, refs, options);
  const listing = listSandboxes(runtime, query, options.signal);
  const chosen = await withContext('listing pod sandboxes', listing);
  if (refs.length > 0) return await resolveSandboxesAmong(runtime, refs, chosen, options);
  if (chosen.length === 0)
    throw nothingFoundError('kcri pods', filters === '' ? 'there are no pods' : `no pod matches ${filters}`);
  return chosen.map(({id}) => ({kind: 'found', ref: id, id}));
}
