import {isServerAnnotation} from '../../api/exported/server-metadata.js';
import type {ObjectMeta} from '../../api/types/v1-meta.js';
import {checkDnsSubdomain, checkLabelValue, checkQualifiedName} from '../../api/validation/validate-names.js';
import type {PodSandboxConfig} from '../../cri/index.js';
import {toDnsLabel} from './generate-volumes.js';
import {omitUnset} from './omit-unset.js';

const KUBELET_PREFIX = 'io.kubernetes.';

type Entries = readonly (readonly [key: string, value: string])[];

/**
 * Returns the metadata of a manifest: without what a kubelet added, and with names that are valid in a Pod. A label
 * with a value that is invalid in a Pod becomes an annotation. `note` receives changes.
 */
export function generateMetadata(
  {metadata, labels, annotations}: PodSandboxConfig,
  note: (text: string) => void,
): ObjectMeta {
  const ownLabels = ownEntries(labels);
  const invalid = ownLabels.filter(([, value]) => checkLabelValue(value).length > 0);
  for (const [key] of invalid)
    note(`label "${key}" is an annotation, since its value is not valid for a label`);
  const valid = ownLabels.filter((entry) => !invalid.includes(entry));
  return omitUnset<ObjectMeta>({
    name: podName(metadata?.name ?? '', note),
    namespace: toDnsLabel(metadata?.namespace ?? ''),
    labels: withValidKeys('label', valid, note),
    annotations: withValidKeys('annotation', [...invalid, ...ownEntries(annotations)], note),
  });
}

function ownEntries(entries: Readonly<Record<string, string>>): Entries {
  return Object.entries(entries).filter(
    ([key]) => !key.startsWith(KUBELET_PREFIX) && !isServerAnnotation(key),
  );
}

function withValidKeys(
  noun: string,
  entries: Entries,
  note: (text: string) => void,
): Readonly<Record<string, string>> {
  const invalid = entries.filter(([key]) => checkQualifiedName(key.toLowerCase()).length > 0);
  for (const [key] of invalid) note(`${noun} "${key}" is left out, since its name is not valid`);
  return Object.fromEntries(entries.filter((entry) => !invalid.includes(entry)));
}

function podName(given: string, note: (text: string) => void): string {
  if (checkDnsSubdomain(given).length === 0) return given;
  const label = toDnsLabel(given);
  const name = label === '' ? 'pod' : label;
  note(`pod "${given}" is named "${name}", since names must be DNS names`);
  return name;
}
