import type {AnySchema} from '../../api/schema/object-schema.js';
import {configMap, runtimeClass, secret, serviceAccount} from '../../api/types/v1-objects.js';
import {persistentVolume, persistentVolumeClaim} from '../../api/types/v1-persistent-volumes.js';
import {pod} from '../../api/types/v1-pod.js';
import {service} from '../../api/types/v1-services.js';
import {
  cronJob,
  daemonSet,
  deployment,
  job,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
} from '../../api/types/v1-workloads.js';
import {parseWorkloadKind} from '../../api/workloads/workload-of-pod.js';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError} from '../../base/errors.js';

const SCHEMAS: readonly AnySchema[] = [
  ...[pod, podTemplate, configMap, secret, service, serviceAccount, persistentVolume, persistentVolumeClaim],
  ...[runtimeClass, cronJob, daemonSet, deployment, job, replicaSet, replicationController, statefulSet],
];

/** Short names of kubectl. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  cm: 'configmap',
  po: 'pod',
  pv: 'persistentvolume',
  pvc: 'persistentvolumeclaim',
  sa: 'serviceaccount',
  svc: 'service',
};

const BY_NAME = new Map(SCHEMAS.map((schema) => [schema.name.toLowerCase(), schema]));

/** Returns the schema of the kind that a word names: kubectl's singular, plural or short name. Throws ConfigError. */
export function findSchema(word: string): AnySchema {
  const lower = word.toLowerCase();
  const name = parseWorkloadKind(lower)?.toLowerCase() ?? SHORT_NAMES[lower] ?? lower;
  const found = [name, name.replace(/s$/, ''), name.replace(/es$/, '')].flatMap(
    (each) => BY_NAME.get(each) ?? [],
  )[0];
  if (found !== undefined) return found;
  const closest = findClosestMatch(lower, [...BY_NAME.keys()]);
  throw new ConfigError(`kcri has no schema of "${word}"`, {
    hint:
      closest === undefined
        ? `these are known: ${[...BY_NAME.keys()].toSorted().join(', ')}`
        : `did you mean "${closest}"?`,
  });
}
