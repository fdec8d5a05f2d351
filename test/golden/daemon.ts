import {quantityValue} from '../../src/api/quantity.js';
import type {KubeletOptions} from '../../src/kubelet/kubelet.js';
import {DEFAULT_LOG_ROTATION} from '../../src/kubelet/logs/log-rotator.js';
import {readGoldenCase} from './cases.js';
import {DaemonKeeper} from './daemon-keeper.js';
import type {PlayOptions} from './play.js';

/** What the runtime is like that a case is played on. */
export interface DaemonRuntime {
  /** Whether it tells of what happens in it (GetContainerEvents), as containerd does from 1.7 on. */
  readonly hasEvents: boolean;
}

/** Nobody streams there. */
const STREAMING_URL = 'http://127.0.0.1:9';
const SMALL_STEP_MS = 10;

/** A case with `kcri kubelet`, on a runtime that takes its time as the recordings' did. */
export function withDaemon(name: string, {hasEvents}: DaemonRuntime): PlayOptions {
  const {containerLogMonitorInterval} = readGoldenCase(name).kubelet;
  const usesApi = readGoldenCase(name).manifest.includes('$API');
  const overrides = {logRotation: logRotationOf(name)};
  return {
    keeper: (options) => new DaemonKeeper(options, overrides, usesApi ? '127.0.0.1' : undefined),
    runtime: {
      unimplemented: hasEvents ? [] : ['GetContainerEvents'],
      streamingUrl: STREAMING_URL,
    },
    // Logs are compressed in threads that the clock doesn't see.
    stepMs: containerLogMonitorInterval === undefined ? undefined : SMALL_STEP_MS,
    pace: {runPodSandboxMs: 900, startContainerMs: 600},
  };
}

function logRotationOf(name: string): KubeletOptions['logRotation'] {
  const {containerLogMaxSize, containerLogMaxFiles, containerLogMonitorInterval} =
    readGoldenCase(name).kubelet;
  return {
    ...DEFAULT_LOG_ROTATION,
    ...(containerLogMaxSize && {maxSizeBytes: Number(quantityValue(containerLogMaxSize))}),
    ...(containerLogMaxFiles && {maxFiles: containerLogMaxFiles}),
    ...(containerLogMonitorInterval && {
      monitorIntervalMs: Number.parseInt(containerLogMonitorInterval) * 1000,
    }),
  };
}
