import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {PodRef} from '../../kubelet/index.js';
import {PodReader} from '../pods/pod-reader.js';
import {answersText} from './answer-text.js';
import {answerWhy, commandPrefix, isWrong} from './answer.js';
import {collectPod} from './snapshot/collect-pod.js';
import {NodeReader} from './snapshot/node-reader.js';

/**
 * Prints the answers of `kcri why` about pods that the ending process ran, to standard error, unless nothing is wrong. `mask` hides the secrets that
 * it knows. Rejects with KcriError.
 */
export async function explainPods(
  services: RuntimeContext,
  pods: readonly PodRef[],
  mask: (text: string) => string,
): Promise<void> {
  const reader = new PodReader(services);
  const uids = new Set(pods.map(({uid}) => uid));
  const listed = (await reader.select([], {})).filter(({uid}) => uids.has(uid));
  const sources = {services, reader, node: new NodeReader(services), report: undefined};
  const answers = await Promise.all(
    (await reader.observe(listed)).map(async (shown) =>
      answerWhy(await collectPod(sources, {...shown, isUnattended: true})),
    ),
  );
  // A pod that only has not met the wait condition yet, such as a job that still runs, needs no explanation.
  const wrong = answers.filter(isWrong);
  if (wrong.length === 0) return;
  const text = answersText({node: undefined, pods: wrong, count: answers.length}, commandPrefix(services));
  services.report.info(mask(text).trimEnd());
}
