import {ambiguousError} from '../../operations/resolve/find-by-name.js';
import {nothingFoundError, NotFoundError} from '../../operations/resolve/target.js';
import type {ReportContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';
import {formatPodTitle} from '../pods/pod-title.js';
import type {NamedPod} from './choose-pod-container.js';
import {findWorkloadPods, sortForUse} from '../pods/workload-pods.js';

/** Options of choosePod. */
export interface ChoosePodOptions {
  /** True to omit the note about the chosen pod. */
  readonly quiet: boolean;
}

/**
 * Returns one pod of each workload that the words name, by word, as kubectl chooses it for exec, logs and port-forward,
 * and prints kubectl's note if there were several. Words that name no workload with pods are absent. Rejects with
 * KcriError.
 */
export async function chooseWorkloadPods(
  services: RuntimeContext,
  words: readonly string[],
  options: ChoosePodOptions,
): Promise<ReadonlyMap<string, NamedPod>> {
  const pods = await readPods(services);
  return new Map(
    words.flatMap((word) => {
      const found = findWorkloadPods(pods, word);
      return found.length === 0 ? [] : [[word, choose(services, word, found, options)] as const];
    }),
  );
}

/** Returns one of the pods that match a label selector, chosen in the same way. Rejects with KcriError. */
export async function chooseSelectedPod(
  services: RuntimeContext,
  selector: string,
  options: ChoosePodOptions,
): Promise<NamedPod> {
  const found = await readPods(services, selector);
  if (found.length === 0) throw nothingFoundError('kcri get pods');
  return choose(services, selector, found, options);
}

/** Returns all pods that match a label selector and have a sandbox, by namespace and name. Rejects with KcriError. */
export async function selectPods(services: RuntimeContext, selector: string): Promise<readonly NamedPod[]> {
  const found = (await readPods(services, selector)).flatMap((listed) => toNamedPod(listed) ?? []);
  if (found.length === 0) throw nothingFoundError('kcri get pods');
  return found;
}

async function readPods(services: RuntimeContext, selector?: string): Promise<readonly ListedPod[]> {
  const reader = new PodReader(services);
  const pods = await reader.select([], {selector});
  if (reader.runtimeFailure !== undefined) throw reader.runtimeFailure;
  return pods;
}

function choose(
  {report}: ReportContext,
  word: string,
  found: readonly ListedPod[],
  {quiet}: ChoosePodOptions,
): NamedPod {
  const namespaces = new Set(found.map(({namespace}) => namespace));
  if (namespaces.size > 1)
    throw ambiguousError(word, `pods in ${namespaces.size} namespaces`, found.map(formatPodTitle));
  const [best] = sortForUse(found);
  const chosen = best === undefined ? undefined : toNamedPod(best);
  if (chosen === undefined || best === undefined)
    throw new NotFoundError(`no pod of "${word}" has been started`, {
      hint: `run "kcri describe ${formatPodTitle(found[0] ?? {namespace: '', name: word})}" for the reason`,
    });
  if (found.length > 1 && !quiet) report.info(`Found ${found.length} pods, using pod/${best.name}`);
  return chosen;
}

function toNamedPod(listed: ListedPod): NamedPod | undefined {
  const [sandbox] = listed.inRuntime?.sandboxes ?? [];
  return sandbox === undefined ? undefined : {ref: formatPodTitle(listed), id: sandbox.id};
}
