import type {PodSandboxId, RuntimeService} from '../cri/index.js';
import {
  nothingFound,
  resolveAmongSandboxes,
  resolveSandboxes,
  type ResolveOptions,
  type Target,
} from '../operations/resolve.js';
import {listSandboxes, type SandboxQuery} from '../operations/sandboxes.js';
import {withContext} from '../operations/with-context.js';

/** What a command line says about which pods are meant. */
export interface PodChoice {
  /** Words that name pods. */
  readonly refs: readonly string[];
  /** What filter flags say; undefined when there are words and no filter. */
  readonly query: SandboxQuery | undefined;
}

/**
 * The pods that a command is to act on, as targets for `forEachTarget`: what the words name, of those that the
 * filters let through, or all of these. Throws AmbiguousError, and NoSuchError when filters let nothing through.
 */
export async function choosePods(
  runtime: RuntimeService,
  {refs, query}: PodChoice,
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  if (query === undefined) return await resolveSandboxes(runtime, refs, options);
  const listing = listSandboxes(runtime, query, options.signal);
  const chosen = await withContext('listing pod sandboxes', listing);
  if (refs.length > 0) return resolveAmongSandboxes(refs, chosen, options);
  if (chosen.length === 0) throw nothingFound('kcri pods');
  return chosen.map(({id}) => ({kind: 'found', ref: id, id}));
}
