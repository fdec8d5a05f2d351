import type {Pod} from '../../../api/types/v1-pod.js';
import {abortable} from '../../../base/async/abortable.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {Reflector, type ListerWatcher} from '../../../kube-api/index.js';
import {podRef} from '../../contract/pod-ref.js';
import {createSourceReport, type PodSource, type SourceSink} from '../../sources/pod-source.js';

/** Options of {@link createApiSource}. */
export interface ApiSourceOptions {
  /** Pods that are bound to this node. */
  readonly pods: ListerWatcher<Pod>;
  /** Origin of the pods, for messages. */
  readonly origin: string;
  /** Resolves when pods may be read: their admission needs the Node object, if there is one. */
  readonly ready: Promise<void>;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Creates the source of the pods that the API server has for this node (config/apiserver.go). */
export function createApiSource({pods, origin, ready, clock, random}: ApiSourceOptions): PodSource {
  return {
    name: 'api',
    // The watch reports all changes.
    reread: () => undefined,
    run: async (sink, signal) => {
      try {
        await abortable(ready, signal);
        await new Reflector<Pod>({
          collection: pods,
          onChange: (listed) => {
            emit(sink, listed, origin);
          },
          onFailure: (error) => {
            const fields = {type: '*v1.Pod'};
            sink.report(createSourceReport('api', 'Failed to watch', {error: messageOf(error), fields}));
          },
          clock,
          random,
        }).run(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

function emit(sink: SourceSink, pods: readonly Pod[], origin: string): void {
  sink.set({pods: pods.map((pod) => ({uid: podRef(pod).uid, pod, origin})), objects: []});
}
