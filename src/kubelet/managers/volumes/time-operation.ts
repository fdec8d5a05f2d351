import type {Clock} from '../../../base/clock.js';
import type {VolumeOperation} from '../../contract/kubelet-metrics.js';

/** Does the work of an operation on a volume, and reports it (OperationCompleteHook). Rejects like the work. */
export async function timeOperation<T>(
  operation: Pick<VolumeOperation, 'plugin' | 'operation' | 'isMigrated'>,
  {
    clock,
    report,
  }: {readonly clock: Pick<Clock, 'monotonic'>; readonly report: (operation: VolumeOperation) => void},
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.monotonic();
  let isSuccessful = false;
  try {
    const result = await work();
    isSuccessful = true;
    return result;
  } finally {
    report({...operation, isSuccessful, durationMs: clock.monotonic() - startedAt});
  }
}
