import {workloadsOfPod} from '../../api/workloads/workload-of-pod.js';
import {PodStore} from '../../kubelet/index.js';
import type {Suggestion} from './suggest.js';

/** Lists the workloads of kcri's pods, such as `deployment/web`. Rejects with SystemError. */
export async function listWorkloadSuggestions(rootDir: string): Promise<readonly Suggestion[]> {
  const {records} = await new PodStore(rootDir).list();
  const found = new Map<string, Suggestion>();
  for (const {pod} of records)
    for (const {kind, namespace, name} of workloadsOfPod(pod)) {
      const word = `${kind.toLowerCase()}/${name}`;
      found.set(`${namespace} ${word}`, {word, description: `${kind} in ${namespace}`});
    }
  return [...found.values()];
}
