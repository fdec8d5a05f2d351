import {SystemError} from '../../../base/errors.js';
import type {ContainerdConnection} from '../../../containerd/connect-containerd.js';
import {withContainerd} from '../../../containerd/containerd-only.js';
import type {Connection} from '../../../cri/index.js';
import type {Clock} from '../../../base/clock.js';

/** A runtime whose images are changed through more than the CRI. */
export interface ImageRuntime {
  readonly cri: Connection;
  /** Connects to containerd's own services on the image endpoint. */
  readonly containerd: () => Promise<ContainerdConnection>;
  readonly clock: Clock;
  /** True if the runtime is on another node, where no programs can be run. */
  readonly isRemote: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Implementations of a command by runtime. */
export interface ByRuntime<T> {
  readonly containerd: (containerd: ContainerdConnection) => Promise<T>;
  readonly crio: () => Promise<T>;
}

/** Replacement for a command on Docker Engine, whose images cri-dockerd shows. */
const DOCKER_HINT: Readonly<Record<string, string>> = {
  'image save': 'run "docker save"',
  'image load': 'run "docker load"',
  'image tag': 'run "docker tag"',
  'image untag': 'run "docker rmi" with the name',
};

/**
 * Runs the implementation of a command for the runtime. Rejects with SystemError on a runtime that can do it neither
 * through containerd's API nor through CRI-O's storage.
 */
export async function onImageRuntime<T>(
  command: string,
  {cri, containerd, signal}: ImageRuntime,
  by: ByRuntime<T>,
): Promise<T> {
  const {runtimeName, runtimeVersion} = await cri.runtime.version({}, {signal});
  const runtime = `${runtimeName} ${runtimeVersion}`.trim();
  if (runtimeName === 'cri-o') return await by.crio();
  const instead =
    runtimeName === 'docker'
      ? (DOCKER_HINT[command] ?? 'use the docker command')
      : 'use the image tools of the runtime';
  if (runtimeName === 'docker')
    throw new SystemError(`"kcri ${command}" needs containerd or CRI-O, and the runtime is ${runtime}`, {
      hint: instead,
    });
  return await withContainerd({command, runtime, instead}, async () => by.containerd(await containerd()));
}
