import type {CommandContext} from '../../cli/command/contexts.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {NotFoundError, type Target} from '../../operations/resolve/target.js';
import {explainPod, presentExplanations, type ExplainedPod} from '../describe/explain-pods.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';

/** Output formats of explanations. */
export const EXPLAIN_FORMATS = ['table', 'json', 'yaml'] as const;

/**
 * Prints the configs that the runtime received for sandboxes and containers, with where each value comes from. One that cannot be
 * explained is reported and does not hide the others. Rejects with KcriError.
 */
export async function explainObjects(
  services: CommandContext,
  form: OutputFormat<(typeof EXPLAIN_FORMATS)[number]>,
  targets: readonly Target<string>[],
): Promise<void> {
  const reader = new PodReader(services);
  const podOf = podsByObject(await reader.select([], {}));
  reader.requireRuntime();
  const pods: ExplainedPod[] = [];
  await forEachTarget(services, targets, async (id, ref) => {
    const pod = podOf.get(id);
    if (pod === undefined) throw new NotFoundError(`the pod of "${ref}" is not known to the runtime`);
    pods.push(await explainPod(services, pod, id));
  });
  if (pods.length === 0) return;
  const explained = presentExplanations(services, pods);
  if (form.kind === 'table') services.out.stdout.write(explained.text());
  else services.out.printData(await explained.data(form.kind));
}

/** Returns the pods by the IDs of their sandboxes and containers. */
function podsByObject(listed: readonly ListedPod[]): ReadonlyMap<string, ListedPod> {
  return new Map(
    listed.flatMap((pod) => {
      const {sandboxes = [], containers = []} = pod.inRuntime ?? {};
      return [...sandboxes, ...containers].map(({id}): [string, ListedPod] => [id, pod]);
    }),
  );
}
