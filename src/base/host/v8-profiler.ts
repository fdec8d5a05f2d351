import {Session, type HeapProfiler, type Profiler} from 'node:inspector/promises';

/** Profile that is being recorded in this process. */
export interface RunningProfile<T> {
  /** Ends the recording and resolves with the profile. Call it once. */
  stop(): Promise<T>;
}

/** Options of {@link startCpuProfile}. */
export interface CpuProfileOptions {
  /** Time between two samples, in microseconds; the default of V8 if undefined. */
  readonly intervalMicros?: number;
}

/** Starts V8's CPU profiler, or JavaScriptCore's on Bun. Rejects if it cannot start. */
export async function startCpuProfile({intervalMicros: interval}: CpuProfileOptions = {}): Promise<
  RunningProfile<Profiler.Profile>
> {
  return await record(
    async (session) => {
      await session.post('Profiler.enable');
      if (interval !== undefined) await session.post('Profiler.setSamplingInterval', {interval});
      await session.post('Profiler.start');
    },
    async (session) => (await session.post('Profiler.stop')).profile,
  );
}

/** Options of {@link startHeapProfile}. */
export interface HeapProfileOptions {
  /** Mean number of allocated bytes between two samples; the default of V8 if undefined. */
  readonly intervalBytes?: number;
  /** True for all allocations; by default only those that are still live at the end. */
  readonly includeCollected?: boolean;
  /** True to collect garbage before the profile is taken. */
  readonly collectGarbage?: boolean;
}

/** Starts V8's sampling heap profiler, of which a process has one. Rejects if it cannot start, always on Bun. */
export async function startHeapProfile({
  intervalBytes,
  includeCollected = false,
  collectGarbage = false,
}: HeapProfileOptions = {}): Promise<RunningProfile<HeapProfiler.SamplingHeapProfile>> {
  return await record(
    async (session) => {
      await session.post('HeapProfiler.startSampling', {
        ...(intervalBytes !== undefined && {samplingInterval: intervalBytes}),
        includeObjectsCollectedByMajorGC: includeCollected,
        includeObjectsCollectedByMinorGC: includeCollected,
      });
    },
    async (session) => {
      if (collectGarbage) await session.post('HeapProfiler.collectGarbage');
      return (await session.post('HeapProfiler.stopSampling')).profile;
    },
  );
}

async function record<T>(
  start: (session: Session) => Promise<void>,
  stop: (session: Session) => Promise<T>,
): Promise<RunningProfile<T>> {
  const session = new Session();
  session.connect();
  try {
    await start(session);
  } catch (error) {
    session.disconnect();
    throw error;
  }
  return {
    stop: async () => {
      try {
        return await stop(session);
      } finally {
        session.disconnect();
      }
    },
  };
}
