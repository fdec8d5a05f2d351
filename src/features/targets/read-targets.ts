import {EmptyValueError, UsageError} from '../../base/errors.js';
import {NotFoundError} from '../../operations/resolve/target.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import {PodReader} from '../pods/pod-reader.js';
import {findTargets, type LifecycleTarget} from './find-targets.js';

/** Values of the flags that select pods and containers. */
export interface TargetFlagValues extends PodSelectionFlagValues {
  readonly pod?: string | undefined;
  readonly container?: string | undefined;
}

/** Options of readTargets. */
export interface ReadTargetsOptions {
  /** Receives the errors of words that name nothing. */
  readonly onMissing: (error: NotFoundError) => void;
  /** True if all pods are selected without words and flags. Default false. */
  readonly acceptsAll?: boolean;
}

/** Targets and the reader that found them. */
export interface ReadTargets {
  readonly reader: PodReader;
  readonly targets: readonly LifecycleTarget[];
}

/**
 * Returns the pods and containers that words and flags select, whichever program manages them. Rejects with UsageError
 * if nothing is named, with AmbiguousError, and with the runtime's error if a word may name an object of a runtime
 * that is unavailable.
 */
export async function readTargets(
  services: RuntimeContext,
  words: readonly string[],
  flags: TargetFlagValues,
  {onMissing, acceptsAll = false}: ReadTargetsOptions,
): Promise<ReadTargets> {
  checkWords(words, flags, acceptsAll);
  const {namespace, selector, manager, pod, container} = flags;
  const reader = new PodReader(services);
  const listed = await reader.select([], {namespace, selector, manager}, () => undefined);
  const {targets, missing} = findTargets(listed, words, {pod, container});
  if (missing.length > 0) {
    // Without a runtime, the reason why nothing is found is more useful than the word.
    const {runtime} = await services.connections.default();
    if (reader.runtimeFailure !== undefined) throw reader.runtimeFailure;
    await runtime.version({}, {signal: services.signal});
  }
  if (words.length === 0 && targets.length === 0 && !acceptsAll)
    onMissing(new NotFoundError('no pod matches the flags', {hint: 'run "kcri get pods" to list pods'}));
  for (const error of missing) onMissing(error);
  return {reader, targets};
}

/** Throws UsageError for words and flags that select nothing, or contradict each other. */
function checkWords(words: readonly string[], flags: TargetFlagValues, acceptsAll: boolean): void {
  const {namespace, selector, manager, pod, container} = flags;
  if (words.includes('')) throw new EmptyValueError('the name of a pod or container');
  const isFiltered = [namespace, selector, manager, pod].some((value) => value !== undefined);
  if (words.length === 0 && !acceptsAll && !isFiltered) throw new UsageError('no pod or container specified');
  if (container === undefined) return;
  if (pod !== undefined)
    throw new UsageError('--container cannot be combined with --pod', {
      hint: 'name the pod, as in "POD --container NAME", or the container, as in "--pod POD NAME"',
    });
  if (words.length === 0)
    throw new UsageError('--container requires a pod', {hint: 'name the pod, as in "POD --container NAME"'});
}
