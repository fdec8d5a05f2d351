import {quantityValue} from '../../../src/api/quantity.js';
import type {KubeletOptions} from '../../../src/kubelet/daemon/kubelet-options.js';
import {DEFAULT_LOG_ROTATION} from '../../../src/kubelet/managers/logs/log-rotator.js';
import {readGoldenCase} from '../golden-cases.js';
import type {DriverName} from '../parity.js';
import type {PlayOptions} from '../play-case.js';
import {DaemonDriver} from './daemon-driver.js';
import {ForegroundDriver} from './foreground-driver.js';
import {JITTER, type CreatePodDriver} from './pod-driver.js';

/** Properties of the runtime that a case is played on. */
export interface GoldenRuntime {
  /** True if it supports events (GetContainerEvents), as containerd does since 1.7. */
  readonly hasEvents: boolean;
}

/** A streaming address without a listener. */
const STREAMING_URL = 'http://127.0.0.1:9';
const SMALL_STEP_MS = 10;

/** Returns the options to play a case with a driver, on a runtime with the latencies of the recordings. */
export function goldenPlayOptions(driver: DriverName, name: string, {hasEvents}: GoldenRuntime): PlayOptions {
  const {containerLogMonitorInterval} = readGoldenCase(name).kubelet;
  return {
    createDriver: createDriver(driver, name),
    runtime: {
      unimplemented: hasEvents ? [] : ['GetContainerEvents'],
      streamingUrl: STREAMING_URL,
    },
    // Logs are compressed in threads that the clock does not see, and a foreground sync makes several calls under a lock.
    stepMs: containerLogMonitorInterval === undefined && driver === 'daemon' ? undefined : SMALL_STEP_MS,
    latencies: {runPodSandboxMs: 900, startContainerMs: 600},
  };
}

function createDriver(driver: DriverName, name: string): CreatePodDriver {
  if (driver === 'foreground') return (options) => new ForegroundDriver(options);
  const usesApi = readGoldenCase(name).manifest.includes('$API');
  const overrides = goldenKubeletOptions(name);
  return (options) => new DaemonDriver(options, overrides, usesApi ? '127.0.0.1' : undefined);
}

/** Returns the options of the kubelet of a case. */
export function goldenKubeletOptions(name: string): Pick<KubeletOptions, 'random' | 'logRotation'> {
  return {random: () => JITTER, logRotation: logRotationOf(name)};
}

function logRotationOf(name: string): KubeletOptions['logRotation'] {
  const {containerLogMaxSize, containerLogMaxFiles, containerLogMonitorInterval} =
    readGoldenCase(name).kubelet;
  const current = {
    ...DEFAULT_LOG_ROTATION,
    ...(containerLogMaxSize && {maxSizeBytes: Number(quantityValue(containerLogMaxSize))}),
    ...(containerLogMaxFiles && {maxFiles: containerLogMaxFiles}),
    ...(containerLogMonitorInterval && {
      monitorIntervalMs: Number.parseInt(containerLogMonitorInterval) * 1000,
    }),
  };
  return {current};
}
