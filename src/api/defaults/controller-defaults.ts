import type {RollingUpdate, Workload} from '../types/v1-workloads.js';

/** Returns an object with defaults for the fields that it does not have; undefined counts as absent. */
function withDefaults<T extends object>(defaults: Partial<T>, object: T | undefined): T {
  const written = Object.entries(object ?? {}).filter(([, value]) => value !== undefined);
  // The fields are those of T.
  return {...defaults, ...Object.fromEntries(written)} as T;
}

function rolling<T extends {readonly type?: string; readonly rollingUpdate?: RollingUpdate}>(
  strategy: T | undefined,
  limits: RollingUpdate,
): T {
  const complete = withDefaults({type: 'RollingUpdate'} as Partial<T>, strategy);
  if (complete.type !== 'RollingUpdate') return complete;
  return {...complete, rollingUpdate: withDefaults(limits, complete.rollingUpdate)};
}

/**
 * Returns the workload with the defaults of the fields that only its controller reads (apps/v1 and core/v1 SetDefaults
 * functions), for validation. Names and the progress of Jobs are computed without them, so that they stay the same when
 * a default is added. Those of Jobs are in validateJobSpec.
 */
export function applyControllerDefaults(workload: Workload): Workload {
  switch (workload.kind) {
    case 'Deployment': {
      const strategy = rolling(workload.spec.strategy, {maxUnavailable: '25%', maxSurge: '25%'});
      return {
        ...workload,
        spec: withDefaults({progressDeadlineSeconds: 600}, {...workload.spec, strategy}),
      };
    }
    case 'DaemonSet': {
      const updateStrategy = rolling(workload.spec.updateStrategy, {maxUnavailable: 1, maxSurge: 0});
      return {...workload, spec: {...workload.spec, updateStrategy}};
    }
    case 'ReplicationController': {
      const {selector = {}, template} = workload.spec;
      const labels = template.metadata?.labels ?? {};
      const isWritten = Object.keys(selector).length > 0;
      return {...workload, spec: {...workload.spec, selector: isWritten ? selector : labels}};
    }
    default:
      return workload;
  }
}
