import {getBun} from '../../../base/bun.js';
import {messageOf} from '../../../base/errors.js';
import {startCpuProfile, startHeapProfile, type RunningProfile} from '../../../base/host/v8-profiler.js';
import type {Clock} from '../../../base/clock.js';
import {
  convertCpuProfile,
  convertHeapProfile,
  countNames,
  type HeapSampleType,
  type RecordedTime,
} from './convert-v8-profile.js';
import type {PprofProfile} from './pprof-profile.js';

/** A profile that cannot be taken; the message says why. */
export class ProfilingError extends Error {}

/** Recording of a profile: its length, what ends it early, and the time. */
export interface Recording {
  readonly seconds: number;
  /** Aborts when the client disconnects; the recording ends then. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
}

const ON_BUN = 'the standalone executable cannot do it; run kcri on Node.js';

/** Time between two samples, in microseconds: 100 Hz, as in Go. */
const CPU_INTERVAL_MICROS = 10_000;
/** Bytes between two samples: Go's MemProfileRate. */
const HEAP_INTERVAL_BYTES = 512 * 1024;

/** Records a CPU profile. Rejects with ProfilingError while another is recorded, or with the signal's reason. */
export async function recordCpuProfile(recording: Recording): Promise<PprofProfile> {
  const {profile, time} = await record('CPU', recording, () =>
    startCpuProfile({intervalMicros: CPU_INTERVAL_MICROS}),
  );
  return convertCpuProfile(profile, time);
}

/**
 * Records the allocations during the recording: all, or those that are live at its end, after a garbage collection if
 * `collectGarbage`. Rejects with ProfilingError while another is recorded and on Bun, or with the signal's reason.
 */
export async function recordHeapProfile(
  type: HeapSampleType,
  {collectGarbage, ...recording}: Recording & {readonly collectGarbage: boolean},
): Promise<PprofProfile> {
  if (getBun() !== undefined) throw new ProfilingError(`Could not enable heap profiling: ${ON_BUN}`);
  const includeCollected = type === 'alloc_space';
  const {profile, time} = await record('heap', recording, () =>
    startHeapProfile({intervalBytes: HEAP_INTERVAL_BYTES, includeCollected, collectGarbage}),
  );
  const {heapUsed, heapTotal, rss} = process.memoryUsage();
  return {
    ...convertHeapProfile(profile, type, {...time, intervalBytes: HEAP_INTERVAL_BYTES}),
    comment: `only allocations during the recording; process: heap used ${heapUsed}, heap total ${heapTotal}, rss ${rss} bytes`,
  };
}

/**
 * Counts what the event loop waits for, such as timers and sockets, by its kind. Throws ProfilingError on Bun, which does not
 * know it.
 */
export function countActiveResources(timeMs: number): PprofProfile {
  if (getBun() !== undefined)
    throw new ProfilingError(`Could not read what the event loop waits for: ${ON_BUN}`);
  return countNames('goroutine', process.getActiveResourcesInfo(), timeMs);
}

/** Kinds of profiles that this process is recording; its profilers record for one client at a time, as those of Go. */
const recorded = new Set<string>();

async function record<T>(
  kind: 'CPU' | 'heap',
  {seconds, signal, clock}: Recording,
  start: () => Promise<RunningProfile<T>>,
): Promise<{readonly profile: T; readonly time: RecordedTime}> {
  const problem = `Could not enable ${kind} profiling`;
  if (recorded.has(kind))
    throw new ProfilingError(`${problem}: ${kind.toLowerCase()} profiling already in use`);
  recorded.add(kind);
  try {
    const running = await start().catch((error: unknown) => {
      throw new ProfilingError(`${problem}: ${messageOf(error)}`, {cause: error});
    });
    const timeMs = clock.now();
    const startedAt = clock.monotonic();
    let profile: T;
    try {
      await clock.sleep(seconds * 1000, signal);
    } finally {
      profile = await running.stop();
    }
    return {profile, time: {timeMs, durationMs: clock.monotonic() - startedAt}};
  } finally {
    recorded.delete(kind);
  }
}
