import type {ContainerStatus, RuntimeService} from '../../cri/index.js';
import type {FollowOptions} from '../../operations/logs/follow/follow-options.js';
import {hasExited} from '../../operations/logs/follow/container-state.js';
import type {EnvironmentContext, SignalContext} from '../../cli/command/contexts.js';

/** Container whose log is followed. */
export interface FollowedContainer {
  readonly status: ContainerStatus;
  /** Unique name among the followed containers. */
  readonly name: string;
}

/** Returns how kcri follows containers: until they exit or, with `restarts`, over their restarts. */
export async function followContainers(
  {context: {clock}, signal}: EnvironmentContext & SignalContext,
  runtime: RuntimeService,
  containers: readonly FollowedContainer[],
  {restarts}: {readonly restarts: boolean},
): Promise<readonly FollowOptions[]> {
  if (!restarts)
    return containers.map(({status: {id}}) => ({
      clock,
      progress: async () => ({kind: (await hasExited(runtime, id, signal)) ? 'ended' : 'running'}),
    }));
  const {RestartFollower} = await import('../../operations/logs/follow/follow-restarts.js');
  return containers.map(({status, name}) => {
    const follower = new RestartFollower(status, {runtime, clock, name, signal});
    return {clock, progress: () => follower.progress()};
  });
}
