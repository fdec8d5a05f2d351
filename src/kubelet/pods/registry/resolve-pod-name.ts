import type {Pod} from '../../../api/types/v1-pod.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {PodRecord} from './pod-store.js';

/** Resource prefix of a pod's name, as in kubectl and `get pods -o name`. */
const KIND = /^(?:pods?|po)\//;

type NamedPod = Pick<PodRecord, 'uid' | 'namespace' | 'name'>;

/** Returns the records that match `name`, `namespace/name` or a UID, or `pod/name` if no namespace matches. */
export function findRecordsByName<T extends NamedPod>(records: readonly T[], text: string): readonly T[] {
  const named = recordsCalled(records, text);
  return named.length === 0 && KIND.test(text) ? recordsCalled(records, text.replace(KIND, '')) : named;
}

function recordsCalled<T extends NamedPod>(records: readonly T[], text: string): readonly T[] {
  const slash = text.indexOf('/');
  if (slash > 0)
    return records.filter(
      ({namespace, name}) => namespace === text.slice(0, slash) && name === text.slice(slash + 1),
    );
  return records.filter(({name, uid}) => name === text || uid === text);
}

/** Returns the records of pods created from the manifest, including its static pods, even if it has changed since. */
export function findRecordsOfManifest(records: readonly PodRecord[], {metadata}: Pod): readonly PodRecord[] {
  const {namespace = 'default', name = ''} = metadata;
  return records.filter((record) => {
    if (record.namespace !== namespace) return false;
    const suffix = isStaticPod(record.pod) ? `-${record.pod.spec.nodeName ?? ''}` : '';
    return record.name === name || record.name === `${name}${suffix}`;
  });
}
