import {pid} from 'node:process';
import type {Clock} from '../../base/clock.js';
import type {Connection} from '../../cri/index.js';
import {FileSource, Kubelet, preparePods, type DescribedNode, type PodSource} from '../../kubelet/index.js';
import type {OutputStream} from '../context.js';
import {Klog} from './klog.js';

/** What a kubelet is started with. */
export interface RunKubeletOptions {
  readonly node: DescribedNode;
  readonly connection: Connection;
  readonly manifestPath: string | undefined;
  readonly fileCheckFrequencyMs: number;
  readonly syncFrequencyMs: number;
  readonly admission: boolean;
  readonly eventedPleg: boolean;
  readonly stopPodsOnExit: boolean;
  readonly verbosity: number;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mask: (text: string) => string;
  readonly hide: (texts: readonly string[]) => void;
}

/** Runs a kubelet until the signal aborts. */
export async function runKubelet(options: RunKubeletOptions): Promise<void> {
  const {node, connection, manifestPath, clock, signal, stderr, verbosity, mask} = options;
  const logger = new Klog({stream: stderr, clock, pid, verbosity, mask});
  const {nodeName} = node.node;
  const sources: PodSource[] = [];
  if (manifestPath !== undefined)
    sources.push(
      new FileSource({
        path: manifestPath,
        checkFrequencyMs: options.fileCheckFrequencyMs,
        clock,
        prepare: (document, objects) => {
          const seenAtMs = clock.now();
          const prepared = preparePods([document], {
            static: true,
            keeper: 'daemon',
            nodeName,
            seenAtMs,
            objects,
          });
          return (prepared[0] as (typeof prepared)[0]).pod;
        },
      }),
    );
  const kubelet = new Kubelet({
    node,
    runtime: connection.runtime,
    sources,
    places: manifestPath === undefined ? [] : [manifestPath],
    logger,
    clock,
    syncFrequencyMs: options.syncFrequencyMs,
    admission: options.admission,
    eventedPleg: options.eventedPleg,
    stopPodsOnExit: options.stopPodsOnExit,
    hide: options.hide,
  });
  try {
    await kubelet.run(signal);
  } finally {
    await logger.flush();
  }
}
