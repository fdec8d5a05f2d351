import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {ProbeCommands} from '../../../src/recording/canonical/probe-calls.js';

/** Returns the commands of the pods' probes. */
export function collectProbeCommands(pods: readonly Pod[]): ProbeCommands {
  const containers = pods.flatMap(({spec}) => [...(spec.initContainers ?? []), ...spec.containers]);
  return new Map(
    containers.map(({name, livenessProbe, readinessProbe, startupProbe}) => [
      name,
      [livenessProbe, readinessProbe, startupProbe]
        .map((probe) => probe?.exec?.command)
        .filter((command) => command !== undefined),
    ]),
  );
}
