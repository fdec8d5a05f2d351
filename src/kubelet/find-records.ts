import type {Pod} from '../api/v1.js';
import {isStaticPod} from './config/static-pod.js';
import type {PodRecord} from './pod/pod-store.js';

/** What kubectl, and `get pods -o name`, put before a pod's name. */
const KIND = /^(?:pods?|po)\//;

/** The pods that a person may mean by `name`, `namespace/name`, a UID or, where no such namespace has it, `pod/name`. */
export function recordsNamed(records: readonly PodRecord[], text: string): readonly PodRecord[] {
  const named = recordsCalled(records, text);
  return named.length === 0 && KIND.test(text) ? recordsCalled(records, text.replace(KIND, '')) : named;
}

function recordsCalled(records: readonly PodRecord[], text: string): readonly PodRecord[] {
  const slash = text.indexOf('/');
  if (slash > 0)
    return records.filter(
      ({namespace, name}) => namespace === text.slice(0, slash) && name === text.slice(slash + 1),
    );
  return records.filter(({name, uid}) => name === text || uid === text);
}

/** The pods that were made from a manifest, whatever has changed in it since, static pods of it included. */
export function recordsOfManifest(records: readonly PodRecord[], {metadata}: Pod): readonly PodRecord[] {
  const {namespace = 'default', name = ''} = metadata;
  return records.filter((record) => {
    if (record.namespace !== namespace) return false;
    const suffix = isStaticPod(record.pod) ? `-${record.pod.spec.nodeName ?? ''}` : '';
    return record.name === name || record.name === `${name}${suffix}`;
  });
}
