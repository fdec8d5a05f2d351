import type {RuntimeContext} from '../../../cli/command/contexts.js';
import type {PodReader} from '../../pods/pod-reader.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import {answersText} from '../../why/answer-text.js';
import {answerWhy, commandPrefix} from '../../why/answer.js';
import {collectPod} from '../../why/snapshot/collect-pod.js';
import {NodeReader} from '../../why/snapshot/node-reader.js';

/** Returns the answer of `kcri why` about a pod, or about one of its containers. Rejects with KcriError. */
export async function readWhy(
  services: RuntimeContext,
  reader: PodReader,
  {shown, container}: {readonly shown: ShownPod; readonly container: string | undefined},
): Promise<string> {
  const snapshot = await collectPod(
    {services, reader, node: new NodeReader(services), report: undefined},
    shown,
  );
  const pods = answerWhy(snapshot, container);
  return answersText({node: undefined, pods: [pods].flat(), count: 1}, commandPrefix(services));
}
