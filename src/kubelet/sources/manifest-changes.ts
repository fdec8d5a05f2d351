import type {Pod} from '../../api/types/v1-pod.js';
import {computeFieldChanges, type FieldChange} from './field-changes.js';
import type {Json} from '../../format/json.js';

/** Returns the changed labels, annotations and spec fields of the manifest of a pod, without the annotations that kcri adds. */
export function computeManifestChanges(before: Pod, after: Pod): readonly FieldChange[] {
  return computeFieldChanges(manifestOf(before), manifestOf(after));
}

function manifestOf({metadata, spec}: Pod): Json {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => !key.startsWith('kubernetes.io/config.'),
  );
  const own = {labels: metadata.labels ?? {}, annotations: Object.fromEntries(annotations)};
  return JSON.parse(JSON.stringify({metadata: own, spec})) as Json;
}
